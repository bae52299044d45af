/**
 * The properties of a domain that the service itself reads, and what each may be: a value of another shape
 * would leave its default in force without a word, or bend every figure that rests on it. A school may keep
 * any other property for its scripts.
 */
import { didYouMean } from '../../did-you-mean.js';
import { ServiceError } from '../../errors.js';
import { isExactNumber, isJsonObject, type JsonValue } from '../../json.js';
import { instantFrom } from '../../model/calendar.js';

export interface KnownProperty {
  readonly name: string;
  /** What it may be, in the words of an error. */
  readonly expected: string;
  readonly isValid: (value: JsonValue) => boolean;
}

/** `SU` is every Sunday, `2SA` the second Saturday of a month, as BYDAY of RFC 5545 writes it. */
export const WEEKLY_OFF = /^[1-5]?(MO|TU|WE|TH|FR|SA|SU)$/;
export const CURRENCY = /^[A-Z]{3}$/;
export const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;
/**
 * What stands before the number of a receipt: it does not end in a digit, so that series and number can be
 * told apart.
 */
export const RECEIPT_SERIES = /^[A-Za-z0-9/_-]{0,19}[A-Za-z/_-]$/;
export const RECEIPT_SERIES_WORDS = 'at most 20 letters, digits, /, _ and -, the last of them no digit';
/** The property that says for how long a domain keeps the values that changes replaced. */
export const KEEP_HISTORY_DAYS = 'KEEP_HISTORY_DAYS';
/** What is set for one template of mail: the name of the template follows. */
const MAIL_TEMPLATE = 'mailTemplate.';

export const KNOWN_PROPERTIES: readonly KnownProperty[] = [
  { name: 'schoolName', expected: 'a text', isValid: isText },
  { name: 'timezone', expected: 'the IANA name of a time zone, e.g. Asia/Kolkata', isValid: isTimeZone },
  { name: 'udiseCode', expected: 'the 11 digits of the school in UDISE+', isValid: matches(/^\d{11}$/) },
  { name: 'tallyCompany', expected: 'a text', isValid: isText },
  { name: 'currency', expected: 'an ISO 4217 code, e.g. INR', isValid: matches(CURRENCY) },
  { name: 'sessionFirstMonth', expected: 'a whole number from 1 to 12', isValid: isWhole(1, 12) },
  {
    name: 'weeklyOffs',
    expected:
      'a list of days such as ["SU", "2SA"]: MO TU WE TH FR SA SU, 1 to 5 before it for one week of ' +
      'the month',
    isValid: isListOf((day) => typeof day === 'string' && WEEKLY_OFF.test(day)),
  },
  { name: 'leaveCountsPresent', expected: 'true or false', isValid: (value) => typeof value === 'boolean' },
  {
    name: 'grades',
    expected:
      'a list such as [{"from": 91, "grade": "A1"}, {"from": 0, "grade": "E"}], each from once, 0 to 100',
    isValid: isGrades,
  },
  { name: 'passPercent', expected: 'a whole number from 0 to 100', isValid: isWhole(0, 100) },
  { name: 'rankMethod', expected: 'competition or dense', isValid: matches(/^(?:competition|dense)$/) },
  { name: 'schoolStartsAt', expected: 'a time of day HH:MM', isValid: matches(TIME_OF_DAY) },
  {
    name: 'receiptSeries',
    expected: `a text such as "R-": ${RECEIPT_SERIES_WORDS}`,
    isValid: matches(RECEIPT_SERIES),
  },
  {
    name: 'topicRoles',
    expected:
      'an object of topics and lists of roles, e.g. {"notices": ["teacher"], "fees.*": ["accountant"]}',
    isValid: (value) => isJsonObject(value) && Object.values(value).every(isListOf(isText)),
  },
  { name: 'smtpUrl', expected: 'an address smtp://… or smtps://…', isValid: matches(/^smtps?:\/\/./) },
  {
    name: 'mailFrom',
    expected: 'a text: a sender such as "School <office@school.example>"',
    isValid: isText,
  },
  {
    name: 'smsUrl',
    expected: 'an address smpp://…, smpps://…, http://… or https://…',
    isValid: matches(/^(?:smpps?|https?):\/\/./),
  },
  { name: 'smsSender', expected: 'a text', isValid: isText },
  {
    name: KEEP_HISTORY_DAYS,
    expected: 'a whole number of days from 1 to 36500',
    isValid: isWhole(1, 36_500),
  },
];

/**
 * The value itself is not said again: it may hold a password. @throws INVALID_VALUE (400) for what a property
 * of ours cannot be
 */
export function assertPropertyValue(name: string, value: JsonValue): void {
  const known = KNOWN_PROPERTIES.find((property) => property.name === name) ?? templateOf(name);
  if (known === undefined || known.isValid(value)) return;
  const { expected } = known;
  throw new ServiceError('INVALID_VALUE', `the property ${name}: ${expected} is expected`, {
    errors: [{ parameter: 'value', detail: `not what ${name} may be`, expected }],
  });
}

/**
 * A hint for a name that the service does not read and that is close to one it does; `undefined` for any
 * other.
 */
export function hintAtPropertyName(name: string): string | undefined {
  const names = KNOWN_PROPERTIES.map((property) => property.name);
  if (names.includes(name) || templateOf(name) !== undefined) return undefined;
  const suggestion = didYouMean(name, [...names, `${MAIL_TEMPLATE}${name.split('.')[1] ?? ''}`]);
  return suggestion === '' ? undefined : `The service reads no property "${name}".${suggestion}`;
}

function templateOf(name: string): KnownProperty | undefined {
  if (!name.startsWith(MAIL_TEMPLATE)) return undefined;
  return {
    name,
    expected: 'an object of the texts subject, text and html, as far as the template has them',
    isValid: (value) => {
      if (!isJsonObject(value)) return false;
      const members = Object.entries(value);
      return (
        members.length > 0 &&
        members.every(([part, text]) => ['subject', 'text', 'html'].includes(part) && isText(text))
      );
    },
  };
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string' && value !== '';
}

function matches(pattern: RegExp): (value: JsonValue) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value);
}

function isWhole(least: number, greatest: number): (value: JsonValue) => boolean {
  return (value) =>
    isNumber(value) && Number.isInteger(Number(value)) && Number(value) >= least && Number(value) <= greatest;
}

function isListOf(isElement: (value: JsonValue) => boolean): (value: JsonValue) => boolean {
  return (value) => Array.isArray(value) && value.every(isElement);
}

function isGrades(value: JsonValue): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  const bounds = value.map((bound: JsonValue) => {
    if (!isJsonObject(bound) || !isText(bound.grade ?? null) || !isNumber(bound.from ?? null)) return -1;
    return Number(bound.from);
  });
  return bounds.every((from) => from >= 0 && from <= 100) && new Set(bounds).size === bounds.length;
}

/** Numbers of JSON, exact ones too. */
function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' || isExactNumber(value);
}

/**
 * An offset such as +05:30 is none: PostgreSQL takes its sign the other way round, and it has no summer time.
 */
function isTimeZone(value: JsonValue): boolean {
  if (typeof value !== 'string' || /^[+-]/.test(value)) return false;
  try {
    return instantFrom('2000-01-01', value) !== undefined;
  } catch {
    return false;
  }
}
