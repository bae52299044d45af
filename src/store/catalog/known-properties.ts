/**
 * The domain properties that the service itself reads, with their allowed values. An unvalidated value could
 * silently leave the default in force, or distort every figure that depends on it. A school may set any other
 * property for its scripts.
 */

import { invalidAt, tryTo } from '../../base/errors.js';
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
const WEEKLY_OFF = /^[1-5]?(MO|TU|WE|TH|FR|SA|SU)$/;
/** The prefix of receipt numbers. It must not end in a digit, so that prefix and number can be separated. */
export const RECEIPT_SERIES = /^[A-Za-z0-9/_-]{0,19}[A-Za-z/_-]$/;
export const RECEIPT_SERIES_WORDS = 'at most 20 letters, digits, /, _ and -, not ending in a digit';
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
  rankMethod: 'competition' as 'competition' | 'dense',
  schoolStartsAt: '08:00',
};
/** The property that closes the books. */
export const BOOKS_CLOSED_UNTIL = 'books_closed_until';
/** The property that limits how long a domain keeps replaced values. */
export const KEEP_HISTORY_DAYS = 'KEEP_HISTORY_DAYS';
/** The prefix of properties with mail templates; the name of the template follows. */
const MAIL_TEMPLATE = 'mailTemplate.';

type Kind = Omit<KnownProperty, 'name' | 'description' | 'byDefault'>;

const A_TEXT: Kind = { type: 'text', expected: 'a text', isValid: isText };
const kind = (type: Kind['type'], expected: string, isValid: Kind['isValid']): Kind => ({
  type,
  expected,
  isValid,
});
const written = (pattern: RegExp, expected: string) =>
  kind('text', expected, (value) => typeof value === 'string' && pattern.test(value));
const whole = (least: number, greatest: number, from = 'a whole number from ') =>
  kind('number', `${from}${least} to ${greatest}`, isWhole(least, greatest));

const PROPERTIES: Readonly<
  Record<string, readonly [description: string, kind: Kind, byDefault?: JsonValue]>
> = {
  schoolName: ['The name of the school in files for other programs and in mail templates.', A_TEXT],
  schoolAddress: ['The address of the school at the head of receipts and other documents.', A_TEXT],
  schoolLogo: [
    'The picture at the head of documents: a file that is shared with everybody who prints.',
    kind('text', 'the id of a PNG or JPEG file', isText),
  ],
  timezone: [
    'Days and months are those of this time zone.',
    kind('text', 'the IANA name of a time zone, e.g. Asia/Kolkata', isTimeZone),
    DEFAULT_TIME_ZONE,
  ],
  language: [
    'Scripts write days, times, amounts and numbers in this language.',
    kind('text', 'a language tag that is known here, e.g. en-IN or hi-IN', isLanguage),
    DEFAULT_LANGUAGE,
  ],
  callingCode: [
    'The calling code of telephone numbers that are written without one.',
    written(/^[1-9]\d{0,3}$/, 'a calling code without +, e.g. 91'),
    DEFAULT_CALLING_CODE,
  ],
  udiseCode: [
    'The code of the school in files for UDISE+.',
    written(/^\d{11}$/, 'the 11 digits of the school in UDISE+'),
  ],
  tallyCompany: ['The company of the vouchers for Tally.', A_TEXT],
  currency: [
    'The currency of amounts in reports and receipts.',
    written(/^[A-Z]{3}$/, 'an ISO 4217 code, e.g. INR'),
    REPORT_DEFAULTS.currency,
  ],
  sessionFirstMonth: [
    'The month in which a session begins, 4 for April.',
    whole(1, 12),
    REPORT_DEFAULTS.sessionFirstMonth,
  ],
  weeklyOffs: [
    'The days of the week without school: every Sunday is SU, the second Saturday of a month 2SA.',
    kind(
      'json',
      'a list of days such as ["SU", "2SA"]: MO TU WE TH FR SA SU, 1 to 5 before it for one week of ' +
        'the month',
      isListOf((day) => typeof day === 'string' && WEEKLY_OFF.test(day)),
    ),
    REPORT_DEFAULTS.weeklyOffs,
  ],
  leaveCountsPresent: [
    'Whether a day of leave counts as a day present.',
    kind('boolean', 'true or false', (value) => typeof value === 'boolean'),
    REPORT_DEFAULTS.leaveCountsPresent,
  ],
  grades: [
    'The lowest percentage of each grade.',
    kind(
      'json',
      'a list such as [{"from": 91, "grade": "A1"}, {"from": 0, "grade": "E"}], each from once, 0 to 100',
      isGrades,
    ),
    REPORT_DEFAULTS.grades,
  ],
  passPercent: ['Below this percentage a subject is not passed.', whole(0, 100), REPORT_DEFAULTS.passPercent],
  rankMethod: [
    'The rank after two first ranks: the third (competition) or the second (dense).',
    {
      ...written(/^(?:competition|dense)$/, 'competition or dense'),
      choices: ['competition', 'dense'],
    },
    REPORT_DEFAULTS.rankMethod,
  ],
  schoolStartsAt: [
    'A member of staff who comes later than this is late.',
    written(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day HH:MM'),
    REPORT_DEFAULTS.schoolStartsAt,
  ],
  receiptSeries: [
    'The prefix of receipt numbers, unless the user gives another one.',
    written(RECEIPT_SERIES, `a text such as "R-": ${RECEIPT_SERIES_WORDS}`),
    DEFAULT_SERIES,
  ],
  [BOOKS_CLOSED_UNTIL]: [
    'The last day of closed books: receipts and dues up to it cannot be created, changed or removed.',
    kind('text', 'a day YYYY-MM-DD', (value) => typeof value === 'string' && isDay(value)),
  ],
  topicRoles: [
    'The roles that may listen to a topic of live messages; admins may listen to all.',
    kind(
      'json',
      'an object of topics and lists of roles, e.g. {"notices": ["teacher"], "fees.*": ["accountant"]}',
      (value) => isJsonObject(value) && Object.values(value).every(isListOf(isText)),
    ),
  ],
  smtpUrl: [
    'The mail server of the school, in place of that of the gateway.',
    { ...written(/^smtps?:\/\/./, 'an address smtp://… or smtps://…'), isOperators: true },
  ],
  mailFrom: [
    'The sender of emails.',
    kind('text', 'a text: a sender such as "School <office@school.example>"', isText),
  ],
  smsUrl: [
    'The provider of text messages of the school, in place of that of the gateway.',
    {
      ...written(/^(?:smpps?|https?):\/\/./, 'an address smpp://…, smpps://…, http://… or https://…'),
      isOperators: true,
    },
  ],
  smsSender: ['The sender of text messages.', A_TEXT],
  [KEEP_HISTORY_DAYS]: [
    'How many days former values are kept before they are deleted permanently. Not set: forever.',
    whole(1, 36_500, 'a whole number of days from '),
  ],
};

export const KNOWN_PROPERTIES: readonly KnownProperty[] = Object.entries(PROPERTIES).map(
  ([name, [description, of, byDefault]]) => ({
    ...{ name, description, ...of },
    ...(byDefault !== undefined && { byDefault }),
  }),
);

/**
 * The error does not repeat the value, which may contain a password. @throws INVALID_VALUE (400) for an
 * invalid value of a known property
 */
export function assertPropertyValue(name: string, value: JsonValue): void {
  const known = findKnownProperty(name);
  if (known === undefined || known.isValid(value)) return;
  const { expected } = known;
  throw invalidAt(`the property ${name}: ${expected} is expected`, {
    parameter: 'value',
    detail: `not what ${name} may be`,
    expected,
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
  if (typeof value !== 'string') return false;
  return (tryTo(() => Intl.NumberFormat.supportedLocalesOf(value)) ?? []).length > 0;
}

function isTimeZone(value: JsonValue): boolean {
  if (typeof value !== 'string' || /^[+-]/.test(value)) return false;
  return tryTo(() => instantFrom('2000-01-01', value)) !== undefined;
}
