import { GatewayProblem } from '../session/gateway-problem.js';

/** The answer is handed to the browser in parts of this size, which are stored outside the page's memory. */
const PART_BYTES = 4 * 1024 * 1024;

/**
 * Reads an answer of any length as a file, and reports the number of bytes read so far.
 *
 * @throws GatewayProblem if the answer breaks off
 */
export async function readInParts(response: Response, onRead: (bytes: number) => void): Promise<Blob> {
  const parts: Blob[] = [];
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let bytes = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read().catch(toBrokenOff)) ?? {};
    if (done || !value) break;
    held.push(value);
    heldBytes += value.length;
    bytes += value.length;
    onRead(bytes);
    if (heldBytes < PART_BYTES) continue;
    parts.push(new Blob(held));
    held = [];
    heldBytes = 0;
  }
  return new Blob([...parts, ...held], { type: response.headers.get('content-type') ?? '' });
}

/** A cancelled request is an `AbortError`, which is passed on unchanged. */
function toBrokenOff(fault: unknown): never {
  if (!(fault instanceof TypeError)) throw fault;
  throw new GatewayProblem('The answer broke off before its end.', { kind: 'refused', code: 'BROKEN_OFF' });
}
