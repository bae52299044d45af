/** A part of the portal that did not load, most often because a newer version has others. */
import { GatewayProblem } from '../gateway/gateway-problem';

export type CauseOfMissing = 'replaced' | 'unreachable' | 'unknown';

/** Whether the error says that a script could not be loaded; each browser has other words for it. */
export function isMissingPart({ message }: Error): boolean {
  return /dynamically imported module|Importing a module script failed/.test(message);
}

/** Asks the gateway why a part did not load: it has no such file any more, or does not answer. */
export async function causeOfMissing({ message }: Error): Promise<CauseOfMissing> {
  const script = document.querySelector<HTMLScriptElement>('script[type=module]')?.src;
  const address = /https?:\/\/\S+/.exec(message)?.[0] ?? script ?? '/';
  const answer = await fetch(address, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
  if (!answer) return 'unreachable';
  return answer.status === 404 ? 'replaced' : 'unknown';
}

export function unreachable(): GatewayProblem {
  return new GatewayProblem('You are offline.', { kind: 'unreachable', code: 'UNREACHABLE' });
}
