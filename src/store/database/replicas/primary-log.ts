/**
 * Records how far the log of the primary was at which second, to compute the lag of a replica in time.
 *
 * A log position (LSN) is the number of a byte. Whoever has replayed the log up to the primary's position
 * after a commit can see that commit.
 */

/** PostgreSQL's notation, e.g. `16/B374D848`. */
const PRINTED = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/;

/** `undefined` for a malformed position. */
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
  /** When the primary was asked (`performance.now()`). */
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
