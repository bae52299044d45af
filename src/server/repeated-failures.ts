import { ServiceError } from '../errors.js';
import { translateDatabaseError } from '../store/database/database-errors.js';

/** A failure of the environment is told again after this time, where no outage is known of. */
const TOLD_AGAIN_AFTER_MS = 60_000;
/** Figures of one request, by which otherwise like failures differ: milliseconds, bytes, connections. */
const FIGURES = /\d[\d,.]*/g;

/**
 * Keeps an outage from filling the log: of the failures that the environment causes, which are alike for
 * every request it meets, the first is told in full and the others are counted. What may be a fault of ours
 * is never left out.
 */
export class RepeatedFailures {
  readonly #now: () => number;
  readonly #told = new Map<string, { at: number; omitted: number }>();
  #isOutage = false;
  #omittedInOutage = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** How many were left out since one like it was told; `undefined`: this one is to be left out as well. */
  admit(error: unknown): number | undefined {
    const known = translateDatabaseError(error);
    if (!(known instanceof ServiceError) || known.code !== 'UNAVAILABLE') return 0;
    if (this.#isOutage) {
      // What began it is told; the words in which each request, connection or queue meets it say no more.
      this.#omittedInOutage += 1;
      return undefined;
    }
    const kind = known.message.replaceAll(FIGURES, '#');
    const told = this.#told.get(kind);
    const now = this.#now();
    if (told && now - told.at < TOLD_AGAIN_AFTER_MS) {
      told.omitted += 1;
      return undefined;
    }
    this.#told.set(kind, { at: now, omitted: 0 });
    return told?.omitted ?? 0;
  }

  /** No failure of the environment is told until the outage ends. */
  beginOutage(): void {
    this.#isOutage = true;
  }

  /** How many were left out in the outage, and since what made it known. */
  endOutage(): number {
    this.#isOutage = false;
    const counts = [...this.#told.values()].map((told) => told.omitted);
    const omitted = counts.reduce((total, count) => total + count, this.#omittedInOutage);
    this.#told.clear();
    this.#omittedInOutage = 0;
    return omitted;
  }
}
