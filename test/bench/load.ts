/** Puts load on a server and reads what it did: requests a second, latencies, memory. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { toUsage, type Usage, usageQuestion } from './usage.js';

export interface Target {
  readonly url: string;
  readonly process: ChildProcess;
}

export interface Workload {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Measured {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the server process, its database apart. */
  readonly cpuMicrosecondsPerRequest: number;
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

/**
 * Sends the same request over and over on every connection. @throws when any answer is not 2xx: a figure for
 * errors means nothing.
 */
export async function measure(
  target: Target,
  workload: Workload,
  options: { readonly connections: number; readonly seconds: number },
): Promise<Measured> {
  const before = await usageOf(target);
  const result = await autocannon({
    url: target.url + workload.path,
    method: workload.method ?? 'GET',
    headers: { ...workload.headers },
    ...(workload.body === undefined ? {} : { body: workload.body }),
    connections: options.connections,
    duration: options.seconds,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${workload.path}: ${result.non2xx} answers were not 2xx, ${result.errors} failed`);
  }
  const after = await usageOf(target);
  return {
    cpuMicrosecondsPerRequest: (after.cpuMicroseconds - before.cpuMicroseconds) / result.requests.total,
    requestsPerSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}

export interface StreamMeasured {
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** How far the server's resident memory rose above where it stood before, at its highest. */
  readonly growthBytes: number;
}

/** Reads one long answer to its end, as fast as it comes. */
export async function measureStream(target: Target, workload: Workload): Promise<StreamMeasured> {
  const before = (await usageOf(target)).rssBytes;
  let highest = before;
  const watch = setInterval(() => {
    void usageOf(target).then(({ rssBytes }) => {
      highest = Math.max(highest, rssBytes);
    });
  }, 50);
  try {
    const startedAt = performance.now();
    const read = await new Promise<{ bytes: number; firstByteMs: number }>((resolve, reject) => {
      const call = request(
        target.url + workload.path,
        { method: 'GET', headers: { ...workload.headers } },
        (response) => {
          let bytes = 0;
          let firstByteMs = Number.NaN;
          response.on('data', (chunk: Buffer) => {
            if (bytes === 0) firstByteMs = performance.now() - startedAt;
            bytes += chunk.length;
          });
          response.on('end', () => resolve({ bytes, firstByteMs }));
          response.on('error', reject);
        },
      );
      call.on('error', reject);
      call.end();
    });
    return { ...read, totalMs: performance.now() - startedAt, growthBytes: highest - before };
  } finally {
    clearInterval(watch);
  }
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
