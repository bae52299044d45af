/** Numbers, money, days and instants as the reader writes them, in the zone of the school. */
import { useMemo, useSyncExternalStore } from 'react';
import { useViewer } from '../shell/viewer';
import { currentLanguage } from './languages';

export interface Formats {
  number(value: number | string): string;
  /** With the sign of the currency and always its paise, so that a column of amounts lines up. */
  money(value: number | string, currency?: string): string;
  /** Short, for axes and tiles: 12 L, 3.4 Cr. */
  shortNumber(value: number): string;
  shortMoney(value: number, currency?: string): string;
  percent(value: number | string): string;
  /** Of a file, in the unit that suits: 640 byte, 12.4 MB. */
  bytes(value: number): string;
  /** Of `YYYY-MM-DD` or an instant. */
  day(value: string): string;
  month(value: string): string;
  instant(value: string): string;
  readonly today: string;
  readonly timeZone: string;
  readonly locale: string;
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
const LOCALES = { en: 'en-IN', hi: 'hi-IN' } as const;

export function useFormats(): Formats {
  const language = useSyncExternalStore(currentLanguage.subscribe, currentLanguage.get);
  const { timeZone } = useViewer().domain;
  return useMemo(() => createFormats(LOCALES[language], timeZone), [language, timeZone]);
}

const SHORT = { notation: 'compact', maximumFractionDigits: 1 } as const;

function createFormats(locale: string, timeZone: string): Formats {
  const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const byCurrency = new Map<string, Intl.NumberFormat>();
  const short = new Intl.NumberFormat(locale, SHORT);
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const months = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone: 'UTC' });
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const dayOfInstant = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  return {
    number: (value) => plain.format(Number(value)),
    money(value, currency = 'INR') {
      const known = byCurrency.get(currency);
      const amounts = known ?? new Intl.NumberFormat(locale, { style: 'currency', currency });
      if (!known) byCurrency.set(currency, amounts);
      return amounts.format(Number(value));
    },
    shortNumber: (value) => short.format(value),
    shortMoney: (value, currency = 'INR') =>
      new Intl.NumberFormat(locale, { ...SHORT, style: 'currency', currency }).format(value),
    percent: (value) => `${plain.format(Number(value))} %`,
    bytes(value) {
      const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), BYTE_UNITS.length - 1);
      const unit = { style: 'unit', unit: BYTE_UNITS[power], maximumFractionDigits: power === 0 ? 0 : 1 };
      return new Intl.NumberFormat(locale, unit as Intl.NumberFormatOptions).format(value / 1000 ** power);
    },
    day: (value) =>
      days.format(Date.parse(value.length > 10 ? dayOfInstant.format(Date.parse(value)) : value)),
    month: (value) => months.format(Date.parse(`${value}-01`)),
    instant: (value) => instants.format(Date.parse(value)),
    today: dayOfInstant.format(new Date()),
    timeZone,
    locale,
  };
}
