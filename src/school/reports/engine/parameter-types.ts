/**
 * The types of report parameters; their values are always valid. GraphQL arguments, REST parameters and
 * command line options are all parsed from text by the same `parse`.
 *
 * @see reports "Terms used by all"
 */
import type { GraphQLScalarType } from 'graphql';
import * as calendar from '../../../base/model/calendar.js';
import { toFlag } from '../../../base/model/field-types/boolean.js';
import { toNormalText } from '../../../base/model/normal-text.js';
import { DecimalScalar } from '../../../base/scalars/decimal-scalar.js';
import { enumType } from '../../../base/scalars/declared-type.js';
import { LocalDate, MonthScalar } from '../../../base/scalars/local-date.js';

declare const kind: unique symbol;
type Text<Kind extends string> = string & { readonly [kind]: Kind };

/** A calendar month, `YYYY-MM`. */
export type Month = Text<'month'>;
/** A day of the domain's time zone, `YYYY-MM-DD`. */
export type Day = Text<'day'>;
/** A school year, `YYYY-YY`: its second year is the one after the first. */
export type Session = Text<'session'>;
/** A day, or a month that stands for all its days. */
export type DayOrMonth = Day | Month;
/** An exact amount in the school's currency, as its digits. */
export type Amount = Text<'amount'>;
/** A number of percent, 0–100, as its digits. */
export type Percent = Text<'percent'>;

/** How one parameter is read and described. */
export interface ParameterType<Value> {
  /** Name of the type for people and `openapi.json`, e.g. `Month`. */
  readonly name: string;
  /** The allowed values in words, for errors. */
  readonly expected: string;
  /** The allowed words, for a type with a fixed list. */
  readonly allowed: readonly string[] | undefined;
  readonly example: string;
  /** JSON Schema of its text, for `openapi.json`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The GraphQL type of the argument: a scalar, or an enum object registered with TypeGraphQL. */
  readonly graphql: GraphQLScalarType | object;
  /** `undefined` if the text is not of this type. */
  parse(text: string): Value | undefined;
}

// Years outside this range are typos, and some are not valid dates in Postgres.
const YEAR = '(?:19|20|21)\\d{2}';
const MONTH_PATTERN = `^${YEAR}-(?:0[1-9]|1[0-2])$`;
const DAY_PATTERN = `^${YEAR}-\\d{2}-\\d{2}$`;
const SESSION_PATTERN = `^${YEAR}-\\d{2}$`;
const AMOUNT_PATTERN = '^\\d{1,12}(\\.\\d{1,2})?$';

export function isReportMonth(text: string): text is Month {
  return new RegExp(MONTH_PATTERN).test(text);
}

/** The first and last month that can be requested. */
export const EVERY_MONTH = { first: '1900-01' as Month, last: '2199-12' as Month };

export function isReportDay(text: string): text is Day {
  return new RegExp(DAY_PATTERN).test(text) && calendar.isDay(text);
}

/** `2026-27` is a session; `2026-28` is not. `1999-00` is. */
export function isSession(text: string): text is Session {
  return (
    new RegExp(SESSION_PATTERN).test(text) && (Number(text.slice(0, 4)) + 1) % 100 === Number(text.slice(5))
  );
}

function textual<Value extends string>(
  name: string,
  expected: string,
  rest: Pick<ParameterType<Value>, 'example' | 'schema' | 'graphql'>,
  is: (text: string) => boolean,
): ParameterType<Value> {
  const parse = (text: string) => (is(text) ? (text as Value) : undefined);
  return { name, expected, allowed: undefined, ...rest, parse };
}

export const monthType = textual<Month>(
  'Month',
  'a month as YYYY-MM',
  { example: '2026-07', schema: { type: 'string', pattern: MONTH_PATTERN }, graphql: MonthScalar },
  isReportMonth,
);

export const dayType = textual<Day>(
  'Day',
  'a day as YYYY-MM-DD',
  { example: '2026-07-06', schema: { type: 'string', format: 'date' }, graphql: LocalDate },
  isReportDay,
);

export const dayOrMonthType = textual<DayOrMonth>(
  'DayOrMonth',
  'a day as YYYY-MM-DD, or a month as YYYY-MM',
  {
    example: '2026-07-01',
    schema: { type: 'string', pattern: `${DAY_PATTERN}|${MONTH_PATTERN}` },
    graphql: String,
  },
  (text) => isReportDay(text) || isReportMonth(text),
);

export const sessionType = textual<Session>(
  'Session',
  'a school year as YYYY-YY, its second year the one after the first',
  { example: '2026-27', schema: { type: 'string', pattern: SESSION_PATTERN }, graphql: String },
  isSession,
);

export const amountType = textual<Amount>(
  'Amount',
  'an amount of at most two decimal places, not negative',
  {
    example: '500.00',
    schema: { type: 'string', pattern: AMOUNT_PATTERN },
    graphql: DecimalScalar,
  },
  (text) => new RegExp(AMOUNT_PATTERN).test(text),
);

export const percentType = textual<Percent>(
  'Percent',
  'a number from 0 to 100 of at most two decimal places',
  { example: '75', schema: { type: 'number', minimum: 0, maximum: 100 }, graphql: DecimalScalar },
  (text) => /^\d{1,3}(\.\d{1,2})?$/.test(text) && Number(text) <= 100,
);

const MAX_TEXT = 200;

/** A name or a number as the records hold it: class, section, fee head, admission number, `_id`. */
export const textType: ParameterType<string> = {
  name: 'Text',
  expected: 'a text of 1 to 200 characters',
  allowed: undefined,
  example: '5',
  schema: { type: 'string', minLength: 1, maxLength: MAX_TEXT },
  graphql: String,
  parse(sent) {
    const text = toNormalText(sent.slice(0, MAX_TEXT + 1));
    // Postgres texts cannot contain NUL.
    return sent.length <= MAX_TEXT && text !== '' && !text.includes('\0') ? text : undefined;
  },
};

export const flagType: ParameterType<boolean> = {
  name: 'Flag',
  expected: 'true or false',
  allowed: ['true', 'false'],
  example: 'true',
  schema: { type: 'boolean' },
  graphql: Boolean,
  parse: toFlag,
};

interface WordsType<Word extends string> extends ParameterType<Word> {
  readonly graphql: { readonly [W in Word as Uppercase<W>]: W };
}

/** A type with a list of words; its GraphQL enum has the words in upper case. */
function words<const Word extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<Word, string>>,
): WordsType<Word> {
  const allowed = Object.keys(meanings).filter((word): word is Word => word in meanings);
  return {
    name,
    expected: `one of ${allowed.join(', ')}`,
    allowed,
    example: allowed[0] ?? '',
    schema: { type: 'string', enum: allowed },
    graphql: enumType(name, description, meanings),
    parse: (sent) => allowed.find((word) => word === sent),
  };
}

export const paymentChoice = words('PaymentChoice', 'The payment type of the receipts to count.', {
  cash: 'Paid in cash.',
  cheque: 'Paid by cheque.',
  card: 'Paid by card.',
  neft: 'Paid by bank transfer.',
  all: 'However paid.',
});

export const collectionBasis = words('CollectionBasis', 'Which day a rolled-back receipt changes.', {
  RECEIPT: 'A rolled-back receipt is gone from its own day.',
  DAY_BOOK: 'The day of the receipt stays as it was; the day of the rollback has it as a negative.',
});

export const rollbackBasis = words('RollbackBasis', 'Which day of a rolled-back receipt counts.', {
  ROLLBACK: 'The day it was rolled back.',
  RECEIPT: 'The day it was written.',
});

export const summaryType = words('FeeSummaryType', 'The subject of a row of the fee summary.', {
  month: 'A month of the session.',
  head: 'A fee head.',
});

export const term = words('Term', 'A term that ends in a grade book.', {
  halfyear: 'The first half of the session.',
  finalyear: 'The end of the session.',
});

export const interval = words('TrendInterval', 'The period of a row of a trend.', {
  day: 'A day.',
  week: 'A week, Monday to Sunday.',
  month: 'A calendar month.',
});

export const paymentType = words('PaymentType', 'The payment type of a receipt.', {
  cash: 'In cash.',
  cheque: 'By cheque.',
  card: 'By card.',
  neft: 'By bank transfer.',
});

export const rollbackType = words('RollbackType', 'Why a receipt was rolled back.', {
  entry_error: 'It was entered wrongly.',
  bounce: 'The cheque was returned.',
  refund: 'The money was given back.',
  duplicate: 'It was entered twice.',
});
