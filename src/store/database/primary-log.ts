/**
 * How far the log of the primary was when, to the second: from it the lag of a replica is told in time.
 *
 * A position in the log (an LSN) is the number of its byte. Whoever has replayed the log up to the position
 * that the primary had after a commit sees that commit.
 */

/** As PostgreSQL prints it, e.g. `16/B374D848`. */
const PRINTED = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/;

/** `undefined` for a text that is no position. */
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
  /** The time of `performance.now()` when the primary was asked. */
  readonly at: number;
  readonly position: bigint;
}

/** Lag beyond this is not told exactly. */
const MAX_SAMPLES = 600;

export class PrimaryLog {
  #samples: Sample[] = [];

  get latest(): Sample | undefined {
    return this.#samples.at(-1);
  }

  /** False where the log has been set back: another primary writes it, and what is known of it is void. */
  note(position: bigint, at: number): boolean {
    const isContinued = (this.latest?.position ?? 0n) <= position;
    if (!isContinued) this.#samples = [];
    this.#samples.push({ at, position });
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
    return isContinued;
  }

  /** Forgets what it knows: the log goes on on another server. */
  clear(): void {
    this.#samples = [];
  }

  /**
   * How long ago the primary was where a server is that has replayed so far, at most, in milliseconds. One
   * that has all of the log is as late as what is known of the log.
   */
  lagOf(replayed: bigint, now: number): number {
    const missed = this.#samples.findIndex(({ position }) => position > replayed);
    const known = missed === -1 ? this.latest : this.#samples[missed - 1];
    return known === undefined ? Number.POSITIVE_INFINITY : now - known.at;
  }

  /** What every server has replayed that lags no more than this. */
  positionBefore(lagMs: number, now: number): bigint {
    return this.#samples.findLast(({ at }) => now - at >= lagMs)?.position ?? 0n;
  }
}
