/** Puts load on a server from a process of its own: wrk where it is installed, else own-load.ts. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isNativeError } from 'node:util/types';
import { type HttpRequest, printRequest } from './http-request.js';
import type { OwnLoad } from './own-load.js';

const run = promisify(execFile);

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx or 3xx, and requests without an answer. */
  readonly failed: number;
}

export interface Load {
  readonly url: string;
  /** Where the bytes of the requests are, written by `writeRequests`. */
  readonly requests: string;
  readonly connections: number;
  readonly seconds: number;
  /** The first day of the marks to create, where requests create marks. */
  readonly marks?: string | undefined;
  /** The cores on which the load is made, as `taskset` takes them. */
  readonly cores?: string | undefined;
}

/** Writes requests as the load generators read them. */
export async function writeRequests(
  file: string,
  requests: readonly HttpRequest[],
  host: string,
): Promise<void> {
  const parts = requests.flatMap((request) => {
    const bytes = printRequest(request, host);
    return [Buffer.from(`${bytes.length}\n`), bytes];
  });
  await writeFile(file, Buffer.concat(parts));
}

/** Load some of which may be refused. */
export async function floodWith(load: Load): Promise<LoadResult> {
  return (await hasWrk()) ? await runWrk(load) : await runOwn(load);
}

/** @throws Error when an answer failed: a figure for errors means nothing */
export async function putLoad(load: Load): Promise<LoadResult> {
  const result = await floodWith(load);
  if (result.failed > 0)
    throw new Error(`${load.url}: ${result.failed} of ${result.requests} requests failed`);
  return result;
}

let wrkIsThere: Promise<boolean> | undefined;

export function hasWrk(): Promise<boolean> {
  wrkIsThere ??= run('wrk', ['--version']).then(
    () => true,
    // wrk tells its version with exit code 1.
    (fault: unknown) => !(isNativeError(fault) && 'code' in fault && fault.code === 'ENOENT'),
  );
  return wrkIsThere;
}

async function runWrk({ url, requests, connections, seconds, marks, cores }: Load): Promise<LoadResult> {
  const script = fileURLToPath(new URL('./wrk.lua', import.meta.url));
  const asked = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '60s', '-s', script, url];
  const { stdout } = await run(...onCores(cores, 'wrk', asked), {
    env: {
      ...process.env,
      REQUESTS: requests,
      ...(marks !== undefined && { MARKS: String(Date.parse(marks) / 1000) }),
    },
  });
  return readResult(stdout);
}

async function runOwn({ url, requests, connections, seconds, marks, cores }: Load): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const load: OwnLoad = {
    host: hostname,
    port: Number(port),
    connections,
    seconds,
    requests,
    ...(marks !== undefined && { marks }),
  };
  const script = fileURLToPath(new URL('./own-load.ts', import.meta.url));
  const asked = [...process.execArgv, script, JSON.stringify(load)];
  const { stdout } = await run(...onCores(cores, process.execPath, asked));
  return readResult(stdout);
}

function onCores(
  cores: string | undefined,
  program: string,
  args: readonly string[],
): [program: string, args: readonly string[]] {
  return cores === undefined ? [program, args] : ['taskset', ['-c', cores, program, ...args]];
}

function readResult(output: string): LoadResult {
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`the load generator said: ${output}`);
  return JSON.parse(line) as LoadResult;
}
