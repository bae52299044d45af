/**
 * How far a replica must be for each caller to read its own writes: the position in the primary's log after
 * the caller's last write, which gateways announce to each other.
 */

import { createHash } from 'node:crypto';
import type pg from 'pg';

/** PostgreSQL's notation, e.g. `16/B374D848`. */
const PRINTED = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/;

/**
 * A log position (LSN) is the number of a byte. Whoever has replayed the log up to the primary's position
 * after a commit can see that commit. `undefined` for a malformed position.
 */
export function parsePosition(text: string): bigint | undefined {
  const [, high, low] = PRINTED.exec(text) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function printPosition(position: bigint): string {
  const half = (value: bigint) => value.toString(16).toUpperCase();
  return `${half(position >> 32n)}/${half(position & 0xffff_ffffn)}`;
}

interface Sample {
  /** When the primary was queried (`performance.now()`). */
  readonly at: number;
  readonly position: bigint;
}

/** A larger lag is not measured exactly. */
const MAX_SAMPLES = 600;

export class PrimaryLog {
  #samples: Sample[] = [];

  get latest(): Sample | undefined {
    return this.#samples.at(-1);
  }

  /** Returns false if the log was reset: another primary writes it, and earlier samples are void. */
  note(position: bigint, at: number): boolean {
    const isContinued = (this.latest?.position ?? 0n) <= position;
    if (!isContinued) this.#samples = [];
    this.#samples.push({ at, position });
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
    return isContinued;
  }

  /** Forgets all samples, because the log continues on another server. */
  clear(): void {
    this.#samples = [];
  }

  /**
   * How long ago, at most, the primary was at the position that a server has replayed, in milliseconds. A
   * server that has replayed everything is as late as the last sample.
   */
  lagOf(replayed: bigint, now: number): number {
    const missed = this.#samples.findIndex(({ position }) => position > replayed);
    const known = missed === -1 ? this.latest : this.#samples[missed - 1];
    return known === undefined ? Number.POSITIVE_INFINITY : now - known.at;
  }

  /** The position that every server with at most this lag has replayed. */
  positionBefore(lagMs: number, now: number): bigint {
    return this.#samples.findLast(({ at }) => now - at >= lagMs)?.position ?? 0n;
  }
}

export interface WritePositionsOptions {
  /** One connection to the primary is enough. Its commits may be asynchronous: it writes nothing. */
  readonly pool: pg.Pool;
  readonly log: PrimaryLog;
  /** False while announcements of other gateways may be missed. */
  readonly isHearing: () => boolean;
  /** A replica that lags more is not read from. */
  readonly maxLagMs: number;
}

/** The channel of the announcements. */
export const WRITTEN_CHANNEL = 'campus_written';
/** A notification has at most 8,000 bytes. */
const NAMES_A_NOTICE = 400;
const NAME_LENGTH = 16;
const MAX_KNOWN = 50_000;

export class WritePositions {
  readonly #options: WritePositionsOptions;
  /** Positions of callers by name; the latest writers come last. */
  readonly #known = new Map<string, bigint>();
  /** The position all callers need. `undefined`: writes may have been missed, so only the primary will do. */
  #floor: bigint | undefined;
  #unknownSince = performance.now();
  readonly #waiting = new Set<string>();
  #turn: Promise<bigint | undefined> | undefined;
  #announcing: Promise<unknown> = Promise.resolve();

  constructor(options: WritePositionsOptions) {
    this.#options = options;
  }

  /** The position a replica must have replayed for this credential; `undefined`: only the primary will do. */
  requiredOf(credential: string): bigint | undefined {
    if (this.#floor === undefined || !this.#options.isHearing()) return undefined;
    const known = this.#known.get(nameOf(credential)) ?? 0n;
    return known > this.#floor ? known : this.#floor;
  }

  /**
   * Notes that the credential has written, here and at the other gateways, before the write is answered.
   * Those who write at the same time share one statement. Never fails: while the position is unknown,
   * everybody reads from the primary.
   */
  async note(credential: string): Promise<bigint | undefined> {
    this.#waiting.add(nameOf(credential));
    this.#turn ??= this.#announcing.then(() => {
      this.#turn = undefined;
      const names = [...this.#waiting];
      this.#waiting.clear();
      const announced = this.#announce(names);
      this.#announcing = announced;
      return announced;
    });
    return await this.#turn;
  }

  /** The position a client sends back. One in the future counts as the current one. */
  async learn(credential: string, position: bigint): Promise<void> {
    const isPast = position <= (this.#options.log.latest?.position ?? 0n);
    const current = isPast ? position : await this.#current().catch(() => undefined);
    if (current === undefined) this.doubt();
    else this.#remember(nameOf(credential), position < current ? position : current);
  }

  /** Everybody knows of the writes up to there. */
  require(position: bigint): void {
    if (this.#floor !== undefined && position > this.#floor) this.#floor = position;
  }

  /** Reads what another gateway announced. */
  hear(notice: string): void {
    const [printed = '', names = ''] = notice.split(' ');
    const position = parsePosition(printed);
    if (position === undefined) this.doubt();
    else for (const name of names.split(',')) this.#remember(name, position);
  }

  /** Something may have been missed, or what is known is void. */
  doubt(): void {
    this.#floor = undefined;
    this.#unknownSince = performance.now();
  }

  /** The primary reported its position: all that was missed is before it. Forgets what all replicas have. */
  settle(): void {
    const { log, isHearing, maxLagMs } = this.#options;
    const { latest } = log;
    if (this.#floor === undefined && latest !== undefined && latest.at > this.#unknownSince && isHearing()) {
      this.#floor = latest.position;
      this.#known.clear();
    }
    const replayed = log.positionBefore(maxLagMs, performance.now());
    for (const [name, position] of this.#known) {
      if (position > replayed) break;
      this.#known.delete(name);
    }
  }

  async #announce(names: readonly string[]): Promise<bigint | undefined> {
    try {
      let position = 0n;
      for (let start = 0; start < names.length; start += NAMES_A_NOTICE) {
        const { rows } = await this.#options.pool.query<{ position: string }>(ANNOUNCE, [
          WRITTEN_CHANNEL,
          names.slice(start, start + NAMES_A_NOTICE).join(','),
        ]);
        position = parsePosition(rows[0]?.position ?? '') ?? position;
      }
      for (const name of names) this.#remember(name, position);
      return position;
    } catch {
      // `ConnectionWatch` reports the outage.
      this.doubt();
      return undefined;
    }
  }

  async #current(): Promise<bigint | undefined> {
    const { rows } = await this.#options.pool.query<{ position: string }>(
      'select pg_current_wal_insert_lsn()::text as position',
    );
    return parsePosition(rows[0]?.position ?? '');
  }

  #remember(name: string, position: bigint): void {
    const known = this.#known.get(name);
    this.#known.delete(name);
    this.#known.set(name, known !== undefined && known > position ? known : position);
    if (this.#known.size <= MAX_KNOWN) return;
    const [oldest] = this.#known;
    if (oldest === undefined) return;
    this.#known.delete(oldest[0]);
    this.require(oldest[1]);
  }
}

/** The position is read after the commits that it is to cover, and announced in the same round trip. */
const ANNOUNCE = `
with log as (select pg_current_wal_insert_lsn()::text as position)
select position, pg_notify(campus_channel($1), position || ' ' || $2) from log`;

/** Announcements contain a hash of the credential, not the credential. */
function nameOf(credential: string): string {
  return createHash('sha256').update(credential).digest('base64url').slice(0, NAME_LENGTH);
}
