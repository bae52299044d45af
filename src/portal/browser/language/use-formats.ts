/** Formats numbers, money, days and instants for the language, in the time zone of the school. */
import { useSyncExternalStore } from 'react';
import { useViewer } from '../shell/viewer';
import { isTime } from './days';
import { currentLanguage, LOCALES } from './languages';

export interface Formats {
  number(value: number | string): string;
  /** With the sign of the currency and always two decimals, so that a column of amounts lines up. */
  money(value: number | string, currency?: string): string;
  /** Short, for axes and tiles: 12 L, 3.4 Cr. */
  shortNumber(value: number): string;
  shortMoney(value: number, currency?: string): string;
  percent(value: number | string): string;
  /** The size of a file in a suitable unit: 640 bytes, 12.4 MB. */
  bytes(value: number): string;
  /** Accepts `YYYY-MM-DD` or an instant. */
  day(value: string): string;
  month(value: string): string;
  /** Without its year, beside months with a year. */
  shortMonth(value: string): string;
  instant(value: string): string;
  /** The current day, as `YYYY-MM-DD`. */
  readonly today: string;
  readonly timeZone: string;
  readonly locale: string;
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

export function useFormats(): Formats {
  const language = useSyncExternalStore(currentLanguage.subscribe, currentLanguage.get);
  const { timeZone } = useViewer().domain;
  return formatsOf({ locale: LOCALES[language], timeZone });
}

const SHORT = { notation: 'compact', maximumFractionDigits: 1 } as const;

/** Every cell of a table needs formats, and creating some takes a phone milliseconds. */
const formatsOf = keptByKey(createFormats);

function createFormats({
  locale,
  timeZone,
}: {
  readonly locale: string;
  readonly timeZone: string;
}): Formats {
  const numbersBy = keptByKey((options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options));
  const daysBy = keptByKey(
    ({ locale: asked = locale, ...options }: Intl.DateTimeFormatOptions & { readonly locale?: string }) =>
      new Intl.DateTimeFormat(asked, options),
  );
  const number = (value: number) => numbersBy({ maximumFractionDigits: 2 }).format(value);
  const dayOfInstant = (at: number) => daysBy({ locale: 'sv-SE', timeZone, dateStyle: 'short' }).format(at);
  return {
    number: (value) => number(Number(value)),
    money: (value, currency = 'INR') => numbersBy({ style: 'currency', currency }).format(Number(value)),
    shortNumber: (value) => numbersBy(SHORT).format(value),
    shortMoney: (value, currency = 'INR') =>
      numbersBy({ ...SHORT, style: 'currency', currency }).format(value),
    percent: (value) => `${number(Number(value))}%`,
    bytes(value) {
      const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), BYTE_UNITS.length - 1);
      const unit = { style: 'unit', unit: BYTE_UNITS[power] } as const;
      // The short form of bytes has no plural.
      const form =
        power === 0
          ? ({ unitDisplay: 'long', maximumFractionDigits: 0 } as const)
          : { maximumFractionDigits: 1 };
      return numbersBy({ ...unit, ...form }).format(value / 1000 ** power);
    },
    day(value) {
      const isInstant = value.length > 10 && isTime(value);
      const day = isInstant ? dayOfInstant(Date.parse(value)) : value;
      return sayTime(day, day, daysBy({ dateStyle: 'medium', timeZone: 'UTC' }));
    },
    month: (value) =>
      sayTime(value, `${value}-01`, daysBy({ month: 'short', year: 'numeric', timeZone: 'UTC' })),
    shortMonth: (value) => sayTime(value, `${value}-01`, daysBy({ month: 'short', timeZone: 'UTC' })),
    instant: (value) => sayTime(value, value, daysBy({ dateStyle: 'medium', timeStyle: 'short', timeZone })),
    get today() {
      return dayOfInstant(Date.now());
    },
    timeZone,
    locale,
  };
}

/** A text that is no time, such as a thirteenth month in an address, is returned unchanged. */
function sayTime(value: string, time: string, format: Intl.DateTimeFormat): string {
  return isTime(time) ? format.format(Date.parse(time)) : value;
}

/** Creates a value when it is first needed, and returns the same one for the same options. */
function keptByKey<Options, Made>(make: (options: Options) => Made): (options: Options) => Made {
  const madeByKey = new Map<string, Made>();
  return (options) => {
    const key = JSON.stringify(options);
    const known = madeByKey.get(key);
    if (known !== undefined) return known;
    const made = make(options);
    madeByKey.set(key, made);
    return made;
  };
}
