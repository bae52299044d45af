/**
 * The words of the campaigns: long generative trials that run by the clock, each round of which can be
 * repeated alone.
 */
import { expect, it } from '@jest/globals';
import { Random } from '../../src/school/demo/random.js';

/**
 * Set by `npm run test:campaign`, or by hand: the seed of the first round, and how long each campaign goes
 * on.
 */
const SEED = Number(process.env.CAMPAIGN_SEED ?? 1);
const MINUTES = Number(process.env.CAMPAIGN_MINUTES ?? 1);
/** What a campaign may take beyond its time to end its last round and to clean up. */
const GRACE_MS = 10 * 60_000;

export interface CampaignRound {
  /** Repeats this round; for libraries with a generator of their own, such as fast-check. */
  readonly seed: number;
  /** Decides everything else that is random in this round: the same seed gives the same round. */
  readonly random: Random;
  /** 0 for the first. */
  readonly index: number;
  /**
   * When the campaign's time is over, in milliseconds since 1970; a round that takes long ends by itself
   * then.
   */
  readonly until: number;
  /** Adds to a figure that is printed at the end, e.g. `count('acknowledged writes', 20)`. */
  count(figure: string, by?: number): void;
}

/**
 * Declares a campaign: rounds of `run`, the seed counted up from round to round, until its time is over; at
 * least one. The first round that throws ends it, and the message tells the command that repeats this very
 * round.
 *
 * `promise` is the sentence that the campaign holds the service to, e.g. 'loses no acknowledged write'.
 */
export function campaign(promise: string, run: (round: CampaignRound) => Promise<void>): void {
  it(
    promise,
    async () => {
      const until = Date.now() + MINUTES * 60_000;
      const figures = new Map<string, number>();
      const count = (figure: string, by = 1) => figures.set(figure, (figures.get(figure) ?? 0) + by);
      let index = 0;
      do {
        const seed = SEED + index;
        try {
          await run({ seed, random: new Random(seed), index, until, count });
        } catch (error) {
          throw new Error(`Round ${index} failed; to repeat it alone: ${repeatCommand(seed)}`, {
            cause: error,
          });
        }
        index += 1;
      } while (Date.now() < until);
      const told = [...figures].map(([figure, value]) => `${value} ${figure}`);
      process.stderr.write(`${promise}: ${[`${index} rounds`, ...told].join(', ')}\n`);
    },
    MINUTES * 60_000 + GRACE_MS,
  );
}

function repeatCommand(seed: number): string {
  const name = /([^/]+)\.campaign\.ts$/.exec(expect.getState().testPath ?? '')?.[1] ?? '';
  return `npm run test:campaign -- ${name} --seed ${seed} --minutes 0`;
}
