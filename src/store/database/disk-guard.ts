/**
 * Keeps a nearly full disk from ending the embedded PostgreSQL. PostgreSQL stops when it cannot write its
 * log, and then nobody can even read. While little is left, the database accepts no changes, and reads
 * continue.
 */
import { open, statfs } from 'node:fs/promises';
import { unavailable } from '../../base/errors.js';
import { RepeatedWork } from './repeated-work.js';

const MIB = 1024 ** 2;
/** With less left, changes are refused: room for two segments of the log, a checkpoint and a stop. */
const RESERVE_BYTES = 64 * MIB;
/** Changes are accepted again with so much more: the state must not alternate. */
const MARGIN_BYTES = 32 * MIB;
/** An empty database takes some 60 MiB. */
const FIRST_START_BYTES = 192 * MIB;
const LOOK_MS = 1_000;

const SWITCH = /^(default_transaction_read_only|campus\.disk_full) = '(?:on|off)' ?$/gm;

export interface DiskGuardOptions {
  readonly directory: string;
  /** The settings of the server, which contain `DISK_SETTINGS`. */
  readonly settingsFile: string;
  /** Has the server read its settings again. */
  readonly reload: () => Promise<unknown>;
  readonly log: (line: string) => void;
  /** Default: 64 MiB. */
  readonly reserveBytes?: number | undefined;
}

/** The settings that the guard switches: sessions may read the second to know why they are read-only. */
export const DISK_SETTINGS: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'off',
  'campus.disk_full': 'off',
};

/** The bytes of the file system that contains the directory. */
export async function diskSizeOf(directory: string): Promise<number> {
  const { blocks, bsize } = await statfs(directory);
  return blocks * bsize;
}

/** @throws UNAVAILABLE if too little room is left to start */
export async function assertRoomToStart(directory: string, isFirstStart: boolean): Promise<void> {
  const free = await freeBytes(directory);
  const needed = isFirstStart ? FIRST_START_BYTES : RESERVE_BYTES;
  if (free < needed) {
    throw unavailable(
      `The disk of DATA_DIRECTORY, ${directory}, is full: ${toMib(free)} are left, and a ` +
        `${isFirstStart ? 'first start' : 'start'} needs ${toMib(needed)}; free space and start again.`,
    );
  }
}

export class DiskGuard {
  readonly #options: DiskGuardOptions;
  readonly #looks: RepeatedWork;
  #isFull = false;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
    // Whatever prevents a look, such as a server that is just being restarted, it is tried again.
    this.#looks = new RepeatedWork({ work: () => this.#look(), everyMs: LOOK_MS, onFault: () => {} });
  }

  async close(): Promise<void> {
    await this.#looks.close();
  }

  async #look(): Promise<void> {
    const { directory, log, reload, settingsFile, reserveBytes = RESERVE_BYTES } = this.#options;
    const free = await freeBytes(directory);
    const isFull = free < reserveBytes + (this.#isFull ? MARGIN_BYTES : 0);
    if (isFull === this.#isFull) return;
    await switchSettings(settingsFile, isFull);
    await reload();
    this.#isFull = isFull;
    log(
      isFull
        ? `The disk of ${directory} is full (${toMib(free)} left): the database accepts no changes until ` +
            `${toMib(reserveBytes + MARGIN_BYTES)} are free; reads continue`
        : `The disk of ${directory} has room again: the database accepts changes`,
    );
  }
}

/** Overwrites the file in place and keeps its length, because a full disk has no room for more. */
async function switchSettings(settingsFile: string, isFull: boolean): Promise<void> {
  await using file = await open(settingsFile, 'r+');
  const text = await file.readFile('utf8');
  const value = isFull ? 'on' : 'off';
  await file.write(text.replace(SWITCH, `$1 = '${value}'${isFull ? ' ' : ''}`), 0);
}

/** The space left on the file system that contains the directory. Unit: bytes. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

function toMib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}
