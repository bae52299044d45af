/**
 * How long generative tests are: `npm test` tries a small part that is the same every time, so that it is
 * quick and whoever sees a failure can repeat it; `npm run test:campaign -- generative` tries all, from
 * another seed every time.
 */
const SEED = process.env.CAMPAIGN_SEED;
const SMALL_PART = 0.05;
/** Less than this says little. */
const LEAST_RUNS = 10;

/** The tests run as a campaign does: nothing is left out. */
export const IS_FULL_LENGTH = SEED !== undefined;

/** What `fc.assert` is told: how many runs, and from which seed. `full`: how many a campaign makes. */
export function runsOf(full: number): { readonly numRuns: number; readonly seed: number } {
  if (SEED !== undefined) return { numRuns: full, seed: Number(SEED) };
  return { numRuns: Math.min(full, Math.max(LEAST_RUNS, Math.ceil(SMALL_PART * full))), seed: 1 };
}

/** The first `count` of these cases, which tell most; all of them in a campaign. */
export function firstOf<Case>(cases: readonly Case[], count: number): readonly Case[] {
  return IS_FULL_LENGTH ? cases : cases.slice(0, count);
}
