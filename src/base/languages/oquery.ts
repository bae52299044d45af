/**
 * oquery, the filter language of the REST interface.
 *
 *   filter    : [ condition ( "," condition )* ]         blanks before a condition are ignored
 *   condition : field operator value
 *   field     : segment ( "." segment )*
 *   segment   : one or more of A-Z a-z 0-9 _ $ -
 *   operator  : "=" | "==" | "=!=" | "=*" | "=!*"          text
 *             | "===" | "=>" | "=<"                        number; the last two also before an ISO date
 *             | "=#in" | "=on"                             before YYYY-MM, YYYY-MM-DD, to the value's end
 *             | "=today" | "=yesterday" | "=daybeforeyesterday"     as the whole value
 *   value     : ( "\" any character | any character but "," and "\" )*
 *
 * The operator is the longest that fits at the first `=`. Escaped characters are always text: `name=\*x` is
 * "equals *x", `name=\today` is "equals today".
 *
 * @see interface 4.3, decisions 3
 */
import { ExactNumber } from '../json/json.js';
import { isDay, isMonth } from '../model/calendar.js';
import { DATE_WORDS, NEAR_DATE_WORD } from '../model/field-types/operand-errors.js';
import { SCALAR_TYPES } from '../model/field-types/scalar-types.js';
import { type CompareCondition, type DayWord, EVERYTHING, type Filter } from '../model/filter.js';
import { malformed, type OqueryCondition, readConditions } from './oquery-conditions.js';

/** A summary of the language, for the descriptions of parameters. */
export const OQUERY_SYNTAX =
  'conditions separated by commas, all of which hold. `=` equals, `==` starts with, `=*` contains, ' +
  '`=!=` and `=!*` their negations, `===` `=>` `=<` for numbers, `=today`, `=yesterday`, ' +
  '`=on2026-04-01`, `=#in2026-04`.';

export interface OqueryOptions {
  /** REST's `ci=true`: the text operators ignore case. */
  readonly isInsensitive?: boolean;
}

/**
 * Parses an oquery string to a `Filter`: conditions separated by commas, all of which must hold. A single
 * condition is returned as such; the empty string is the filter that matches every record.
 *
 * `amount=>100` is { kind: 'greaterThan', path: ['amount'], value: 100 }. At most 4 KiB and 32 conditions.
 *
 * @throws MALFORMED_FILTER (400) with the position, what was expected there, and the condition's text.
 * @throws LIMIT_EXCEEDED (400)
 * @see interface 4.3, decisions 3
 */
export function parseOquery(text: string, options: OqueryOptions = {}): Filter {
  if (text === '') return EVERYTHING;
  const ignoringCase: OqueryOptions = options.isInsensitive === true ? { isInsensitive: true } : {};
  const conditions = readConditions(text).map((condition) => toFilter(condition, ignoringCase));
  const [only] = conditions;
  return only !== undefined && conditions.length === 1 ? only : { kind: 'all', filters: conditions };
}

/** A number as JSON writes it. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function toFilter(condition: OqueryCondition, ignoringCase: OqueryOptions): Filter {
  const { path, operator, value } = condition;
  switch (operator) {
    case '=':
      return { kind: 'looseEquals', path, text: value, ...ignoringCase };
    case '==':
      return { kind: 'startsWith', path, text: someText(condition), ...ignoringCase };
    case '=*':
      return { kind: 'contains', path, text: someText(condition), ...ignoringCase };
    case '=!=':
      return {
        kind: 'not',
        filter: { kind: 'startsWith', path, text: someText(condition), ...ignoringCase },
      };
    case '=!*':
      return { kind: 'not', filter: { kind: 'contains', path, text: someText(condition), ...ignoringCase } };
    case '===':
      return { kind: 'equals', path, value: numberOperand(condition) };
    case '=>':
      return { kind: 'greaterThan', path, value: numberOrDateOperand(condition) };
    case '=<':
      return { kind: 'lessThan', path, value: numberOrDateOperand(condition) };
    case '=today':
    case '=yesterday':
    case '=daybeforeyesterday':
      return { kind: 'on', path, day: { word: operator.slice(1) as DayWord }, ...ignoringCase };
    // A value that looks like a date but is not one is a text.
    case '=on':
      return isDay(value)
        ? { kind: 'on', path, day: value, ...ignoringCase }
        : { kind: 'looseEquals', path, text: `on${value}`, ...ignoringCase };
    case '=#in':
      return isMonth(value)
        ? { kind: 'within', path, month: value, ...ignoringCase }
        : { kind: 'looseEquals', path, text: `#in${value}`, ...ignoringCase };
  }
}

/** Refuses the empty text, which every text contains: a variable left empty must not mean "all records". */
function someText({ source, value, position }: OqueryCondition): string {
  if (value !== '') return value;
  throw malformed(source, position, 'a text to look for');
}

function numberOperand({ source, value, position }: OqueryCondition): ExactNumber {
  if (NUMBER.test(value)) return new ExactNumber(value);
  throw malformed(source, position, 'a number such as 5, -3 or 12.50');
}

function numberOrDateOperand({ source, value, position }: OqueryCondition): CompareCondition['value'] {
  if (NUMBER.test(value)) return new ExactNumber(value);
  if (ORDERED_TEXTS.some(({ toMeasured }) => toMeasured(value, 'UTC') !== undefined)) return value;
  throw malformed(
    source,
    position,
    'a number, or a date such as 2026-04-01 or 2026-04-01T09:30:00+05:30',
    NEAR_DATE_WORD.test(value) ? DATE_WORDS : '',
  );
}

/** The text types with an order: days, instants, months. */
const ORDERED_TEXTS = Object.values(SCALAR_TYPES).filter(
  ({ json, isOrdered }) => json === 'string' && isOrdered,
);
