import { ServiceError } from '../../base/errors.js';
import { translateDatabaseError } from '../../store/database/database-errors.js';

/** Without a known outage, a failure of the environment is reported again after this time. */
const TOLD_AGAIN_AFTER_MS = 60_000;
/** The numbers in a message (milliseconds, bytes, connections), by which otherwise equal failures differ. */
const FIGURES = /\d[\d,.]*/g;

/**
 * Keeps an outage from flooding the log. Environment failures are the same for every request they hit: the
 * first is reported in full, the others are counted. Possible faults of our own are never suppressed.
 */
export class RepeatedFailures {
  readonly #now: () => number;
  readonly #told = new Map<string, { at: number; omitted: number }>();
  #isOutage = false;
  #omittedInOutage = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many were suppressed since one like it was reported; `undefined`: suppress this one too. */
  admit(error: unknown): number | undefined {
    const known = translateDatabaseError(error);
    if (!(known instanceof ServiceError) || known.code !== 'UNAVAILABLE') return 0;
    if (this.#isOutage) {
      // The first failure is logged; those of later requests, connections or queues add nothing.
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
