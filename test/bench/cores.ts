/**
 * Keeps what measures, what is measured and what puts load on it from taking each other's cores. It needs
 * `taskset` and four cores; without, everything runs wherever the system puts it.
 */
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { listTree } from './process-usage.js';

const run = promisify(execFile);

const LEAST_CORES = 4;

export interface Cores {
  /** As `taskset` takes them. */
  readonly measured: string;
  readonly load: string;
  readonly measuring: string;
}

/** Two for the gateway and PostgreSQL, one for each of the others; `undefined`: there is no such choice. */
export async function findCores(): Promise<Cores | undefined> {
  if (availableParallelism() < LEAST_CORES) return undefined;
  const hasTaskset = await run('taskset', ['--version']).then(
    () => true,
    () => false,
  );
  return hasTaskset ? { measured: '0,1', load: '2', measuring: '3' } : undefined;
}

/** Puts the processes and all that they start from now on, with their threads, on these cores. */
export async function keepOnCores(cores: string, ...pids: readonly number[]): Promise<void> {
  for (const root of pids)
    for (const pid of (await listTree(root)).keys()) await keepThreadsOnCores(cores, pid);
}

/** Puts this process alone there, and what it starts from now on. */
export async function keepThreadsOnCores(cores: string, pid: number): Promise<void> {
  await run('taskset', ['-acp', cores, String(pid)]);
}
