/**
 * What a request is about to do, as far as its path and parameters tell, in the order in which those of one
 * school that wait are let in: short reads and writes, then what gives many records or counts over many, then
 * scripts.
 */
export const URGENCIES = ['short', 'stream', 'script'] as const;

export type Urgency = (typeof URGENCIES)[number];
