/** The types of settings: how the text of an environment variable is read. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';

/** The limit of timers and of PostgreSQL's integers: a timer of more milliseconds would end at once. */
const MOST = 2_147_483_647;
/** A hundred years: what the calendar of PostgreSQL can go back from any day of ours. */
const MOST_DAYS = 36_500;
const MOST_WORKERS = 64;

/** A setting: how its text is read, its meaning for `.env.example`, its default as a text. */
export interface Setting<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly meaning: string;
  /** Absent: there is none. */
  readonly default: string | undefined;
}

/** The values of a list of settings, by their names. */
export type SettingValues<Settings extends Readonly<Record<string, Setting>>> = {
  readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']>;
};

export function setting<Schema extends z.ZodType>(
  schema: Schema,
  meaning: string,
  defaultText?: string,
): Setting<Schema> {
  return { schema, meaning, default: defaultText };
}

/** The environment variable of a setting: that of `smtpUrl` is `SMTP_URL`. */
export function variableOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}

/** A whole number within bounds, written only in decimal digits. */
export function wholeNumberSetting(min: number, max: number) {
  return z.string().transform((text, context) => {
    const digits = text.trim();
    const number = Number(digits);
    if (/^\d+$/.test(digits) && number >= min && number <= max) return number;
    context.addIssue({ code: 'custom', message: `expected a whole number from ${min} to ${max}` });
    return z.NEVER;
  });
}

export const countSetting = wholeNumberSetting(0, MOST);
export const positiveSetting = wholeNumberSetting(1, MOST);
export const bytesSetting = wholeNumberSetting(1, Number.MAX_SAFE_INTEGER);
export const daysSetting = wholeNumberSetting(1, MOST_DAYS);
export const portSetting = wholeNumberSetting(0, 65_535);

/** A number of processes; `auto`: as many as there are cores for us. */
export const workersSetting = z.string().transform((text, context) => {
  if (text.trim() === 'auto') return availableParallelism();
  const { success, data } = wholeNumberSetting(1, MOST_WORKERS).safeParse(text);
  if (success) return data;
  context.addIssue({
    code: 'custom',
    message: `expected auto, or a whole number from 1 to ${MOST_WORKERS}`,
  });
  return z.NEVER;
});

/** One of some words. */
export function wordSetting<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `expected ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` });
}

export const flagSetting = wordSetting(['true', 'false']).transform((text) => text === 'true');

/** A text that must be hard to guess. */
export function secretSetting(minLength: number) {
  return z.string().min(minLength, `expected at least ${minLength} characters`);
}

/** An HTTP address; the error shows `example`. */
export function httpAddressSetting(example: string) {
  return z.url({ protocol: /^https?$/, error: `expected an address like ${example}` });
}

/** Words separated by commas; empty: none. */
export const listSetting = z.string().transform(splitList);

/** Names of roles separated by commas; empty: none. `roleSettings` finds the settings by this type. */
export const rolesSetting = z.string().transform(splitList);

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
