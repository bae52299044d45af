/**
 * A server under measure: a child process that says where it listens, and what it has used when it is asked.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { toUsage, type Usage, usageQuestion } from './usage.js';

export interface Target {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts a server as a child process that sends `{ url }` once it listens. */
export async function startTarget(
  script: URL,
  environment: Readonly<Record<string, string>>,
): Promise<Target> {
  const child = fork(fileURLToPath(script), {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const url = await Promise.race([
    messageOf(child, (message) =>
      isRecord(message) && typeof message.url === 'string' ? message.url : undefined,
    ),
    once(child, 'exit').then(() => {
      throw new Error(`${script.pathname} ended before it listened`);
    }),
  ]);
  return { url, process: child };
}

export async function stopTarget(target: Target): Promise<void> {
  if (target.process.exitCode !== null) return;
  const ended = once(target.process, 'exit');
  target.process.kill('SIGTERM');
  await ended;
}

/** What the server process has used so far. */
export async function usageOf(target: Target): Promise<Usage> {
  const answer = messageOf(target.process, toUsage);
  target.process.send(usageQuestion);
  return await answer;
}

function messageOf<T>(child: ChildProcess, pick: (message: unknown) => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => {
      const picked = pick(message);
      if (picked === undefined) return;
      child.off('message', onMessage);
      resolve(picked);
    };
    child.on('message', onMessage);
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
