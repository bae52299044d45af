/**
 * What a request is about to do, as far as its path, parameters and operation tell, in the order in which those of one
 * school that wait are let in: short reads and writes, then what gives many records or counts over many, then
 * scripts.
 */
export const URGENCIES = ['short', 'stream', 'script'] as const;

export type Urgency = (typeof URGENCIES)[number];

/** The kind of the one that is let in last; of none, short. */
export function leastUrgent(kinds: readonly Urgency[]): Urgency {
  return URGENCIES.findLast((kind) => kinds.includes(kind)) ?? 'short';
}
