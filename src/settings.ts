/** The types of settings: how the text of an environment variable is parsed. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';

export const countSetting = z.coerce.number().int().min(0);
export const positiveSetting = z.coerce.number().int().min(1);
/** A number of processes; `auto` is the number of available cores. */
export const workersSetting = z
  .literal('auto')
  .transform(() => availableParallelism())
  .or(positiveSetting.max(64));
export const flagSetting = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Words separated by commas; empty: none. */
export const listSetting = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
