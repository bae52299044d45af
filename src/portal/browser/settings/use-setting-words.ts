import type { ShownPropertyFragment } from '../../../generated/portal/settings/settings';
import { parseExactly, printExactly } from '../gateway/exact-number';
import { phrase, type Texts, useFormats, useReportWords, useTexts } from '../language/use-texts';
import { SETTING_TITLES } from './setting-groups';

export interface SettingWords {
  /** The title of a setting. Settings of the school's own scripts keep their names. */
  titleOf(name: string): string;
  /** Translates a description, or the description of the allowed values. */
  say(text: string): string;
  /** The value in force, as text: `["SU"]` is Sunday. */
  sayValue(property: ShownPropertyFragment): string;
}

const MAIL_TEMPLATE = /^mailTemplate\.(.+)$/;

export function useSettingWords(): SettingWords {
  const t = useTexts();
  const say = useReportWords();
  const { locale } = useFormats();
  return {
    titleOf(name) {
      const template = MAIL_TEMPLATE.exec(name)?.[1];
      if (template !== undefined) return t('Mail template {name}', { name: template });
      return say(SETTING_TITLES[name] ?? name);
    },
    say,
    sayValue(property) {
      const value: unknown = property.isSet ? property.value : property.defaultValue;
      return WORDS[property.name]?.(value, { t, locale }) ?? sayBoolean(value, t) ?? valueInForce(property);
    },
  };
}

interface Language {
  readonly t: Texts;
  readonly locale: string;
}

/** By the settings whose values are codes. `undefined` for an invalid value. */
const WORDS: Readonly<Record<string, (value: unknown, language: Language) => string | undefined>> = {
  sessionFirstMonth: sayMonth,
  weeklyOffs: (value, language) => sayList(value, (one) => sayDayOff(one, language)),
  grades: (value, { t }) => sayList(value, (one) => sayGrade(one, t)),
};

function sayBoolean(value: unknown, t: Texts): string | undefined {
  if (typeof value !== 'boolean') return undefined;
  return value ? t('Yes') : t('No');
}

function sayMonth(value: unknown, { locale }: Language): string | undefined {
  if (typeof value !== 'number') return undefined;
  return new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2024, value - 1),
  );
}

/** `undefined` if one of the members is invalid. */
function sayList(value: unknown, sayOne: (one: unknown) => string | undefined): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const said = value.map(sayOne);
  return said.includes(undefined) ? undefined : said.join(', ');
}

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
/** 7 January 2024 was a Sunday. */
const FIRST_SUNDAY = 7;

const NTH = [
  phrase('the first {day} of a month'),
  phrase('the second {day} of a month'),
  phrase('the third {day} of a month'),
  phrase('the fourth {day} of a month'),
  phrase('the fifth {day} of a month'),
];

/** `SU`, or `2SA`. */
function sayDayOff(value: unknown, { t, locale }: Language): string | undefined {
  const [, nth, code = ''] = /^([1-5]?)(\w\w)$/.exec(String(value)) ?? [];
  const index = DAYS.indexOf(code);
  if (index === -1) return undefined;
  const day = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2024, 0, FIRST_SUNDAY + index),
  );
  const ofMonth = NTH[Number(nth) - 1];
  return ofMonth === undefined ? day : t(ofMonth, { day });
}

function sayGrade(value: unknown, t: Texts): string | undefined {
  const { from, grade } = (value ?? {}) as { readonly from?: unknown; readonly grade?: unknown };
  if (typeof from !== 'number' || typeof grade !== 'string') return undefined;
  return t('{grade} from {from} %', { grade, from });
}

type PropertyForm = Pick<ShownPropertyFragment, 'kind'>;

/** The value of a setting as it is shown and edited: texts unchanged, other values as JSON. */
export function printProperty({ kind }: PropertyForm, value: unknown): string {
  if (value === null || value === undefined) return '';
  return kind === 'TEXT' && typeof value === 'string' ? value : printExactly(value);
}

/** The set value, otherwise the default, as `printProperty` shows it. */
export function valueInForce(property: ShownPropertyFragment): string {
  return printProperty(property, property.isSet ? property.value : property.defaultValue);
}

/** Parses the input to the value to send. `undefined` for invalid JSON. */
export function parseProperty({ kind }: PropertyForm, text: string): unknown {
  if (kind === 'TEXT') return text;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
