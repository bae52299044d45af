/**
 * The urgency of a request, derived from its path, parameters and operation. It is the order in which waiting
 * requests of one school are let in: first short reads and writes, then answers with many records or counts
 * over many, then scripts.
 */
export const URGENCIES = ['short', 'stream', 'script'] as const;

export type Urgency = (typeof URGENCIES)[number];

/** The least urgent of the kinds; `short` if there is none. */
export function leastUrgent(kinds: readonly Urgency[]): Urgency {
  return URGENCIES.findLast((kind) => kinds.includes(kind)) ?? 'short';
}
