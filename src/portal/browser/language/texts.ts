import { i18n } from '@lingui/core';
import { useSyncExternalStore } from 'react';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { ObservableValue } from '../session/login-session';
import { isTime } from './days';
import { type Language, rememberLanguage } from './preferred-language';

/**
 * A text in the current language. A message is an English literal, in ICU MessageFormat if it has parts
 * (`{name}`, `{count, plural, one {# day} other {# days}}`). The build collects the messages and requires
 * their translations.
 *
 * When the language changes, `useLanguage` draws the page anew, so no component with texts may be a `memo`.
 */
export function t(message: string, values?: Readonly<Record<string, unknown>>): string {
  // The catalog leaves out English texts without parts, which are their own translations.
  return Object.hasOwn(i18n.messages, message) ? i18n._(message, { ...values }) : message;
}

/** Marks a text that is shown elsewhere by `t(label)`, e.g. in a table of pages. */
export function phrase(message: string): string {
  return message;
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
const SHORT = { notation: 'compact', maximumFractionDigits: 2 } as const;

/** Every cell of a table needs formatters, and creating some takes a phone milliseconds. */
const numbersBy = keptByKey(
  ({ locale, ...options }: Intl.NumberFormatOptions & { readonly locale: string }) =>
    new Intl.NumberFormat(locale, options),
);
const daysBy = keptByKey(
  ({ locale, ...options }: Intl.DateTimeFormatOptions & { readonly locale: string }) =>
    new Intl.DateTimeFormat(locale, options),
);

/** The time zone of the school of the page. */
const schoolZone = new ObservableValue('UTC');

/** Called with the viewer, before any time is shown. */
export function showTimesIn(timeZone: string): void {
  schoolZone.set(timeZone);
}

/** Prints numbers and times in the language of the page and the time zone of the school. */
export const formats = {
  number: (value: number | string): string => printNumber(value, { maximumFractionDigits: 2 }),
  /** With the sign of the currency and always two decimals, so that a column of amounts lines up. */
  money: (value: number | string, currency = 'INR'): string =>
    printNumber(value, { style: 'currency', currency }),
  /** Short, for axes and tiles: 12 L, 3.4 Cr. */
  shortNumber: (value: number): string => printNumber(value, SHORT),
  shortMoney: (value: number, currency = 'INR'): string =>
    printNumber(value, { ...SHORT, style: 'currency', currency }),
  percent: (value: number | string): string => `${formats.number(value)}%`,
  /** The size of a file in a suitable unit: 640 bytes, 12.4 MB. */
  bytes(value: number): string {
    const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), BYTE_UNITS.length - 1);
    const unit = { style: 'unit', unit: BYTE_UNITS[power] } as const;
    // The short form of bytes has no plural.
    const form =
      power === 0
        ? ({ unitDisplay: 'long', maximumFractionDigits: 0 } as const)
        : { maximumFractionDigits: 1 };
    return printNumber(value / 1000 ** power, { ...unit, ...form });
  },
  /** Accepts `YYYY-MM-DD` or an instant. */
  day(value: string): string {
    const isInstant = value.length > 10 && isTime(value);
    const day = isInstant ? dayOfInstant(Date.parse(value)) : value;
    return sayTime(day, day, { dateStyle: 'medium', timeZone: 'UTC' });
  },
  month: (value: string): string =>
    sayTime(value, `${value}-01`, { month: 'short', year: 'numeric', timeZone: 'UTC' }),
  /** The month without its year, for a list that shows the year once. */
  shortMonth: (value: string): string => sayTime(value, `${value}-01`, { month: 'short', timeZone: 'UTC' }),
  instant: (value: string): string =>
    sayTime(value, value, { dateStyle: 'medium', timeStyle: 'short', timeZone: formats.timeZone }),
  /** The current day, as `YYYY-MM-DD`. */
  get today(): string {
    return dayOfInstant(Date.now());
  },
  get timeZone(): string {
    return schoolZone.get();
  },
  get locale(): string {
    return LOCALES[shown.get().language];
  },
};

function printNumber(value: number | string, options: Intl.NumberFormatOptions): string {
  return numbersBy({ locale: formats.locale, ...options }).format(Number(value));
}

function dayOfInstant(at: number): string {
  return daysBy({ locale: 'sv-SE', timeZone: formats.timeZone, dateStyle: 'short' }).format(at);
}

/** A text that is not a time, such as a thirteenth month in an address, is returned unchanged. */
function sayTime(value: string, time: string, options: Intl.DateTimeFormatOptions): string {
  return isTime(time) ? daysBy({ locale: formats.locale, ...options }).format(Date.parse(time)) : value;
}

/** Creates a value when it is first needed, and returns the same one for the same options. */
function keptByKey<Options, Made>(make: (options: Options) => Made): (options: Options) => Made {
  const madeByKey = new Map<string, Made>();
  return (options) => getOrMake(madeByKey, JSON.stringify(options), () => make(options));
}

/**
 * Translates the names of reports, their parameters and columns, of operations of the library, and of
 * bundled collections and their fields. They are texts of the schema, not of the portal, and some of their
 * words have another meaning on a button. Unknown names stay in English, and all of them until their words
 * are there.
 */
export function say(text: string): string {
  return shown.get().words[text] ?? text;
}

/** Sorts by title in the alphabet of the language, and numbers by their value. */
export function inOrderOfTitle<Titled extends { readonly title: string }>(list: readonly Titled[]): Titled[] {
  const { compare } = new Intl.Collator(formats.locale, { numeric: true });
  return list.toSorted((one, other) => compare(one.title, other.title));
}

const LOOK_EVERY_MS = 10_000;

/** The current day at the school, `YYYY-MM-DD`. It changes at midnight while a page is open. */
export function useToday(): string {
  return useSyncExternalStore(lookNowAndThen, () => formats.today);
}

function lookNowAndThen(onLook: () => void): () => void {
  const timer = setInterval(onLook, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

/** The locale of each language, for numbers, days and money. */
const LOCALES: Readonly<Record<Language, string>> = { en: 'en-IN', hi: 'hi-IN' };

const CATALOGS = { en: () => import('catalog:en'), hi: () => import('catalog:hi') } as const;

type Words = Readonly<Record<string, string>>;

/** The words of `say` by language, loaded after its texts. */
const WORDS: Readonly<Partial<Record<Language, () => Promise<Words>>>> = {
  hi: async () => (await import('./hindi-words.json')).default,
};

interface ShownLanguage {
  readonly language: Language;
  readonly words: Words;
}

const shown = new ObservableValue<ShownLanguage>({ language: 'en', words: {} });

/**
 * The language of the page, and its words once they are there. A component that calls this is drawn anew when
 * they change, with all within.
 */
export function useLanguage(): ShownLanguage {
  return useSyncExternalStore(shown.subscribe, shown.get);
}

/** Loads the texts of a language, switches to it, and remembers it in this browser. */
export async function switchLanguage(language: Language): Promise<void> {
  if (i18n.locale === language) return;
  const { messages } = await CATALOGS[language]();
  i18n.load(language, messages);
  // Numbers within a text are grouped like other numbers: 1,00,000.
  i18n.activate(language, LOCALES[language]);
  document.documentElement.lang = language;
  rememberLanguage(language);
  shown.set({ language, words: {} });
  void showWords(language);
}

/** The page does not wait for them. Without an answer, they stay in English. */
async function showWords(language: Language): Promise<void> {
  const words = await WORDS[language]?.().catch(() => undefined);
  if (words && shown.get().language === language) shown.set({ language, words });
}
