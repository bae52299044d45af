import { open, readFile, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type pg from 'pg';
import { RepeatedWork } from '../repeated-work.js';

/** A connection to the embedded server that remembers when it has ended. */
export class Presence {
  readonly lost: Promise<void>;

  constructor(readonly client: pg.Client) {
    this.lost = new Promise((resolve) => client.once('end', () => resolve()));
  }
}

export interface KeptPresenceOptions {
  readonly presence: Presence;
  /** Restarts the server, or finds it restarted by another gateway, and connects to it. */
  readonly revive: () => Promise<Presence>;
  readonly log: (line: string) => void;
}

/**
 * The connection by which a gateway declares that it uses the embedded server. It is re-established when it
 * is lost, with or without the server, for as long as necessary: nobody else would restart a server that has
 * died.
 */
export class KeptPresence {
  readonly #revival: RepeatedWork;
  #presence: Presence;

  constructor({ presence, revive, log }: KeptPresenceOptions) {
    this.#revival = new RepeatedWork({
      work: async () => {
        this.#keep(await revive());
        log('The embedded PostgreSQL was lost, and runs again');
      },
      onFault: (error) =>
        log(`The embedded PostgreSQL was lost: ${error instanceof Error ? error.message : String(error)}`),
    });
    this.#presence = presence;
    this.#keep(presence);
  }

  /** Returns the present connection, which is no longer maintained. */
  async end(): Promise<Presence> {
    await this.#revival.close();
    return this.#presence;
  }

  #keep(presence: Presence): void {
    this.#presence = presence;
    void presence.lost.then(() => this.#revival.wake());
  }
}

const RETRY_MS = 25;
/** No start takes this long: an older lock is left over, even if a process has its id now. */
const STALE_AFTER_MS = 120_000;

/**
 * Runs `work` while no other process of this machine runs its own under the same lock file.
 * A lock whose process is gone is taken over, so a `kill -9` blocks nobody. The signal ends the wait.
 */
export async function withStartLock<T>(
  lockFile: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  while (!(await tryTake(lockFile))) {
    signal?.throwIfAborted();
    if (await isStale(lockFile)) await rm(lockFile, { force: true });
    else await sleep(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lockFile, { force: true });
  }
}

/**
 * Does the same as `withStartLock` for a stop, which must also succeed where no file can be created: on a
 * full disk nobody else can start, either.
 */
export async function withStopLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return work();
  };
  try {
    return await withStartLock(lockFile, begin);
  } catch (error) {
    if (hasBegun) throw error;
    return await work();
  }
}

/** Whether a process with this id exists, whoever it belongs to. */
export function isProcessAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return isNativeError(error) && 'code' in error && error.code === 'EPERM';
  }
}

async function tryTake(lockFile: string): Promise<boolean> {
  try {
    await using file = await open(lockFile, 'wx');
    // On a full disk the file can be created, but not written.
    await file.writeFile(String(process.pid)).catch(async (error: unknown) => {
      await rm(lockFile, { force: true });
      throw error;
    });
    return true;
  } catch (error) {
    if (isNativeError(error) && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(lockFile: string): Promise<boolean> {
  const [text, age] = await Promise.all([
    readFile(lockFile, 'utf8').catch(() => undefined),
    stat(lockFile).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    ),
  ]);
  if (text === undefined) return false;
  if (age > STALE_AFTER_MS) return true;
  // Empty: its owner is between creating and writing it, or died there.
  if (text === '') return age > 1_000;
  return !isProcessAlive(Number(text));
}
