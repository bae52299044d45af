/**
 * The domain properties that the service itself reads, with their allowed values. An unvalidated value could
 * silently leave the default in force, or distort every figure that depends on it. A school may set any other
 * property for its scripts.
 */

import { ServiceError } from '../../base/errors.js';
import { isExactNumber, isJsonObject, type JsonValue } from '../../base/json/json.js';
import { instantFrom, isDay } from '../../base/model/calendar.js';
import { DEFAULT_CALLING_CODE } from '../../base/model/phone-number.js';
import { didYouMean } from '../../base/text/did-you-mean.js';

export interface KnownProperty {
  readonly name: string;
  /** Its effect, in a sentence for the admin of a school. */
  readonly description: string;
  /** The JSON type of its value. */
  readonly type: 'text' | 'number' | 'boolean' | 'json';
  /** The allowed texts. */
  readonly choices?: readonly string[];
  /** The value if nothing is set. */
  readonly byDefault?: JsonValue;
  /**
   * An address for the gateway to connect to, often with a password: only the operator may set it. By it an
   * admin of a school could make the gateway connect to hosts in its own network, and nobody should read it.
   */
  readonly isOperators?: true;
  /** The allowed values, for error messages. */
  readonly expected: string;
  readonly isValid: (value: JsonValue) => boolean;
}

/** `SU` is every Sunday, `2SA` the second Saturday of a month, as in BYDAY of RFC 5545. */
export const WEEKLY_OFF = /^[1-5]?(MO|TU|WE|TH|FR|SA|SU)$/;
export const CURRENCY = /^[A-Z]{3}$/;
export const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;
/** The prefix of receipt numbers. It must not end in a digit, so that prefix and number can be separated. */
export const RECEIPT_SERIES = /^[A-Za-z0-9/_-]{0,19}[A-Za-z/_-]$/;
export const RECEIPT_SERIES_WORDS = 'at most 20 letters, digits, /, _ and -, the last of them no digit';
export const DEFAULT_SERIES = 'R-';
export const DEFAULT_TIME_ZONE = 'Asia/Kolkata';
export const DEFAULT_LANGUAGE = 'en-IN';
/** The defaults of reports, unless a school sets its own. */
export const REPORT_DEFAULTS = {
  currency: 'INR',
  sessionFirstMonth: 4,
  weeklyOffs: ['SU'],
  leaveCountsPresent: false,
  grades: [
    { from: 91, grade: 'A1' },
    { from: 81, grade: 'A2' },
    { from: 71, grade: 'B1' },
    { from: 61, grade: 'B2' },
    { from: 51, grade: 'C1' },
    { from: 41, grade: 'C2' },
    { from: 33, grade: 'D' },
    { from: 0, grade: 'E' },
  ],
  passPercent: 33,
  rankMethod: 'competition',
  schoolStartsAt: '08:00',
} as const;
/** The property that closes the books. */
export const BOOKS_CLOSED_UNTIL = 'books_closed_until';
/** The property that limits how long a domain keeps replaced values. */
export const KEEP_HISTORY_DAYS = 'KEEP_HISTORY_DAYS';
/** The prefix of properties with mail templates; the name of the template follows. */
const MAIL_TEMPLATE = 'mailTemplate.';

export const KNOWN_PROPERTIES: readonly KnownProperty[] = [
  {
    name: 'schoolName',
    description: 'The name of the school in files for other programs and in mail templates.',
    type: 'text',
    expected: 'a text',
    isValid: isText,
  },
  {
    name: 'schoolAddress',
    description: 'The address of the school at the head of receipts and other documents.',
    type: 'text',
    expected: 'a text',
    isValid: isText,
  },
  {
    name: 'schoolLogo',
    description: 'The picture at the head of documents: a file that is shared with everybody who prints.',
    type: 'text',
    expected: 'the id of a PNG or JPEG file',
    isValid: isText,
  },
  {
    name: 'timezone',
    description: 'Days and months are those of this time zone.',
    type: 'text',
    byDefault: DEFAULT_TIME_ZONE,
    expected: 'the IANA name of a time zone, e.g. Asia/Kolkata',
    isValid: isTimeZone,
  },
  {
    name: 'language',
    description: 'Scripts write days, times, amounts and numbers in this language.',
    type: 'text',
    byDefault: DEFAULT_LANGUAGE,
    expected: 'a language tag that is known here, e.g. en-IN or hi-IN',
    isValid: isLanguage,
  },
  {
    name: 'callingCode',
    description: 'Telephone numbers that are written without a country are of this one.',
    type: 'text',
    byDefault: DEFAULT_CALLING_CODE,
    expected: 'a calling code without +, e.g. 91',
    isValid: matches(/^[1-9]\d{0,3}$/),
  },
  {
    name: 'udiseCode',
    description: 'The code of the school in files for UDISE+.',
    type: 'text',
    expected: 'the 11 digits of the school in UDISE+',
    isValid: matches(/^\d{11}$/),
  },
  {
    name: 'tallyCompany',
    description: 'The company that vouchers for Tally are of.',
    type: 'text',
    expected: 'a text',
    isValid: isText,
  },
  {
    name: 'currency',
    description: 'The currency of amounts in reports and receipts.',
    type: 'text',
    byDefault: REPORT_DEFAULTS.currency,
    expected: 'an ISO 4217 code, e.g. INR',
    isValid: matches(CURRENCY),
  },
  {
    name: 'sessionFirstMonth',
    description: 'The month in which a session begins, 4 for April.',
    type: 'number',
    byDefault: REPORT_DEFAULTS.sessionFirstMonth,
    expected: 'a whole number from 1 to 12',
    isValid: isWhole(1, 12),
  },
  {
    name: 'weeklyOffs',
    description:
      'The days of the week without school: every Sunday is SU, the second Saturday of a month 2SA.',
    type: 'json',
    byDefault: REPORT_DEFAULTS.weeklyOffs,
    expected:
      'a list of days such as ["SU", "2SA"]: MO TU WE TH FR SA SU, 1 to 5 before it for one week of ' +
      'the month',
    isValid: isListOf((day) => typeof day === 'string' && WEEKLY_OFF.test(day)),
  },
  {
    name: 'leaveCountsPresent',
    description: 'Whether a day of leave counts as a day present.',
    type: 'boolean',
    byDefault: REPORT_DEFAULTS.leaveCountsPresent,
    expected: 'true or false',
    isValid: (value) => typeof value === 'boolean',
  },
  {
    name: 'grades',
    description: 'From which percentage on there is which grade.',
    type: 'json',
    byDefault: REPORT_DEFAULTS.grades,
    expected:
      'a list such as [{"from": 91, "grade": "A1"}, {"from": 0, "grade": "E"}], each from once, 0 to 100',
    isValid: isGrades,
  },
  {
    name: 'passPercent',
    description: 'Below this percentage a subject is not passed.',
    type: 'number',
    byDefault: REPORT_DEFAULTS.passPercent,
    expected: 'a whole number from 0 to 100',
    isValid: isWhole(0, 100),
  },
  {
    name: 'rankMethod',
    description: 'Whether after two first ranks comes the third (competition) or the second (dense).',
    type: 'text',
    choices: ['competition', 'dense'],
    byDefault: REPORT_DEFAULTS.rankMethod,
    expected: 'competition or dense',
    isValid: matches(/^(?:competition|dense)$/),
  },
  {
    name: 'schoolStartsAt',
    description: 'A member of staff who comes later than this is late.',
    type: 'text',
    byDefault: REPORT_DEFAULTS.schoolStartsAt,
    expected: 'a time of day HH:MM',
    isValid: matches(TIME_OF_DAY),
  },
  {
    name: 'receiptSeries',
    description: 'What stands before the number of a receipt, where who writes it says no other.',
    type: 'text',
    byDefault: DEFAULT_SERIES,
    expected: `a text such as "R-": ${RECEIPT_SERIES_WORDS}`,
    isValid: matches(RECEIPT_SERIES),
  },
  {
    name: BOOKS_CLOSED_UNTIL,
    description:
      'The last day of closed books: receipts and dues up to it are neither made nor changed nor removed.',
    type: 'text',
    expected: 'a day YYYY-MM-DD',
    isValid: (value) => typeof value === 'string' && isDay(value),
  },
  {
    name: 'topicRoles',
    description: 'The roles that may listen to a topic of live messages; admins may listen to all.',
    type: 'json',
    expected:
      'an object of topics and lists of roles, e.g. {"notices": ["teacher"], "fees.*": ["accountant"]}',
    isValid: (value) => isJsonObject(value) && Object.values(value).every(isListOf(isText)),
  },
  {
    name: 'smtpUrl',
    description: 'The mail server of the school, in place of that of the gateway.',
    type: 'text',
    isOperators: true,
    expected: 'an address smtp://… or smtps://…',
    isValid: matches(/^smtps?:\/\/./),
  },
  {
    name: 'mailFrom',
    description: 'The sender of emails.',
    type: 'text',
    expected: 'a text: a sender such as "School <office@school.example>"',
    isValid: isText,
  },
  {
    name: 'smsUrl',
    description: 'The provider of text messages of the school, in place of that of the gateway.',
    type: 'text',
    isOperators: true,
    expected: 'an address smpp://…, smpps://…, http://… or https://…',
    isValid: matches(/^(?:smpps?|https?):\/\/./),
  },
  {
    name: 'smsSender',
    description: 'The sender of text messages.',
    type: 'text',
    expected: 'a text',
    isValid: isText,
  },
  {
    name: KEEP_HISTORY_DAYS,
    description:
      'For how many days values that were changed are kept, then forgotten for good. Not set: always.',
    type: 'number',
    expected: 'a whole number of days from 1 to 36500',
    isValid: isWhole(1, 36_500),
  },
];

/**
 * The error does not repeat the value, which may contain a password. @throws INVALID_VALUE (400) for an
 * invalid value of a known property
 */
export function assertPropertyValue(name: string, value: JsonValue): void {
  const known = findKnownProperty(name);
  if (known === undefined || known.isValid(value)) return;
  const { expected } = known;
  throw new ServiceError('INVALID_VALUE', `the property ${name}: ${expected} is expected`, {
    errors: [{ parameter: 'value', detail: `not what ${name} may be`, expected }],
  });
}

/** The known property of this name, including mail templates; `undefined` for a name of the school's own. */
export function findKnownProperty(name: string): KnownProperty | undefined {
  return KNOWN_PROPERTIES.find((property) => property.name === name) ?? templateOf(name);
}

/** A hint for an unknown name that is close to a known one; `undefined` for any other. */
export function hintAtPropertyName(name: string): string | undefined {
  const names = KNOWN_PROPERTIES.map((property) => property.name);
  if (names.includes(name) || templateOf(name) !== undefined) return undefined;
  const suggestion = didYouMean(name, [...names, `${MAIL_TEMPLATE}${name.split('.')[1] ?? ''}`]);
  return suggestion === '' ? undefined : `The service reads no property "${name}".${suggestion}`;
}

function templateOf(name: string): KnownProperty | undefined {
  if (!name.startsWith(MAIL_TEMPLATE) || name === MAIL_TEMPLATE) return undefined;
  return {
    name,
    description: 'The texts of mails by this template.',
    type: 'json',
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

/** Includes exact numbers. */
function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' || isExactNumber(value);
}

/**
 * Refuses offsets such as +05:30: PostgreSQL interprets their sign the other way round, and they have no
 * daylight saving time.
 */
function isLanguage(value: JsonValue): boolean {
  try {
    return typeof value === 'string' && Intl.NumberFormat.supportedLocalesOf(value).length > 0;
  } catch {
    return false;
  }
}

function isTimeZone(value: JsonValue): boolean {
  if (typeof value !== 'string' || /^[+-]/.test(value)) return false;
  try {
    return instantFrom('2000-01-01', value) !== undefined;
  } catch {
    return false;
  }
}
