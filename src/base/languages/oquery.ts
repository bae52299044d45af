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
 * The operator is the longest that fits at the first `=`. What is escaped is text and nothing else:
 * `name=\*x` is "equals *x", `name=\today` is "equals today".
 *
 * @see interface 4.3, decisions 3
 */
import { ServiceError } from '../errors.js';
import { ExactNumber } from '../json/json.js';
import { isDay, isMonth } from '../model/calendar.js';
import { DATE_WORDS, NEAR_DATE_WORD } from '../model/field-types/operand-errors.js';
import { SCALAR_TYPES } from '../model/field-types/scalar-types.js';
import {
  type CompareCondition,
  type Condition,
  type DayWord,
  EVERYTHING,
  type Filter,
} from '../model/filter.js';
import type { Path } from '../model/path.js';
import { findUnstorableText } from '../model/unstorable-text.js';

/** A summary of the language, for the descriptions of parameters. */
export const OQUERY_SYNTAX =
  'conditions separated by commas, all of which hold. `=` equals, `==` starts with, `=*` contains, ' +
  '`=!=` and `=!*` their negations, `===` `=>` `=<` for numbers, `=today`, `=yesterday`, ' +
  '`=on2026-04-01`, `=#in2026-04`.';

/** Limits of one oquery. */
export const OQUERY_LIMITS = { maxBytes: 4096, maxConditions: 32 } as const;

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
  assertSize(text);
  const isInsensitive = options.isInsensitive === true;
  const conditions: Filter[] = [];
  for (let start = 0; start <= text.length; ) {
    const end = endOfCondition(text, start);
    while (start < end && text[start] === ' ') start += 1;
    if (conditions.length === OQUERY_LIMITS.maxConditions) throw tooManyConditions(start);
    conditions.push(parseCondition({ text, start, end, isInsensitive }));
    start = end + 1;
  }
  const [only] = conditions;
  return only !== undefined && conditions.length === 1 ? only : { kind: 'all', filters: conditions };
}

/** A condition within the text; `end` is the position of the comma after it, or of the end. */
interface Source {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isInsensitive: boolean;
}

/** A value as written, and with its escapes resolved. */
interface Value {
  readonly raw: string;
  readonly text: string;
  readonly position: number;
}

type Operator = '=' | '==' | '=!=' | '=*' | '=!*' | '===' | '=>' | '=<';

/** Longest first, so that the first that fits is the longest. */
const OPERATORS: readonly Operator[] = ['===', '=!=', '=!*', '==', '=*', '=>', '=<', '='];

const SEGMENT = /^[A-Za-z0-9_$-]+$/;
/** A number as JSON writes it. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function parseCondition(source: Source): Filter {
  const { text, start, end } = source;
  const equalsSign = text.indexOf('=', start);
  const endOfField = equalsSign === -1 || equalsSign >= end ? end : equalsSign;
  const path = parseField(source, endOfField);
  if (endOfField === end) throw malformed(source, end, 'an operator that begins with "="');
  const operator = OPERATORS.find((candidate) => text.startsWith(candidate, endOfField)) ?? '=';
  const value = parseValue(source, endOfField + operator.length);
  return withValue(source, { path, operator, value });
}

function parseField(source: Source, end: number): Path {
  const segments = source.text.slice(source.start, end).split('.');
  let position = source.start;
  for (const segment of segments) {
    if (!SEGMENT.test(segment)) {
      const wrong = position + segment.search(/[^A-Za-z0-9_$-]|$/);
      throw malformed(
        source,
        wrong,
        'a field: letters, digits, "_", "$", "-", with "." between the steps of a path',
      );
    }
    position += segment.length + 1;
  }
  return segments;
}

function parseValue(source: Source, position: number): Value {
  const raw = source.text.slice(position, source.end);
  if (endsInBackslash(raw)) throw malformed(source, source.end, 'a character after "\\"');
  return { raw, text: raw.replace(/\\([\s\S])/g, '$1'), position };
}

/** Whether the last backslash escapes nothing. */
function endsInBackslash(raw: string): boolean {
  let backslashes = 0;
  while (raw[raw.length - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

function withValue(
  source: Source,
  { path, operator, value }: { path: Path; operator: Operator; value: Value },
): Filter {
  const ignoringCase: OqueryOptions = source.isInsensitive ? { isInsensitive: true } : {};
  switch (operator) {
    case '=':
      return parseEquals(path, value, ignoringCase);
    case '==':
      return { kind: 'startsWith', path, text: someText(source, value), ...ignoringCase };
    case '=*':
      return { kind: 'contains', path, text: someText(source, value), ...ignoringCase };
    case '=!=':
      return {
        kind: 'not',
        filter: { kind: 'startsWith', path, text: someText(source, value), ...ignoringCase },
      };
    case '=!*':
      return {
        kind: 'not',
        filter: { kind: 'contains', path, text: someText(source, value), ...ignoringCase },
      };
    case '===':
      return { kind: 'equals', path, value: numberOperand(source, value) };
    case '=>':
      return { kind: 'greaterThan', path, value: numberOrDateOperand(source, value) };
    case '=<':
      return { kind: 'lessThan', path, value: numberOrDateOperand(source, value) };
  }
}

/**
 * `=` followed by a date word, `on` and a day, or `#in` and a month is a condition on dates; otherwise it
 * compares the value itself.
 */
function parseEquals(path: Path, value: Value, ignoringCase: OqueryOptions): Condition {
  const { raw } = value;
  if (isDayWord(raw)) return { kind: 'on', path, day: { word: raw }, ...ignoringCase };
  if (raw.startsWith('on') && isDay(raw.slice(2))) {
    return { kind: 'on', path, day: raw.slice(2), ...ignoringCase };
  }
  if (raw.startsWith('#in') && isMonth(raw.slice(3))) {
    return { kind: 'within', path, month: raw.slice(3), ...ignoringCase };
  }
  return { kind: 'looseEquals', path, text: value.text, ...ignoringCase };
}

function isDayWord(text: string): text is DayWord {
  return text === 'today' || text === 'yesterday' || text === 'daybeforeyesterday';
}

/** Refuses the empty text, which every text contains: a variable left empty must not mean "all records". */
function someText(source: Source, value: Value): string {
  if (value.text !== '') return value.text;
  throw malformed(source, value.position, 'a text to look for');
}

function numberOperand(source: Source, value: Value): ExactNumber {
  if (NUMBER.test(value.text)) return new ExactNumber(value.text);
  throw malformed(source, value.position, 'a number such as 5, -3 or 12.50');
}

function numberOrDateOperand(source: Source, value: Value): CompareCondition['value'] {
  const { text } = value;
  if (NUMBER.test(text)) return new ExactNumber(text);
  if (ORDERED_TEXTS.some(({ toMeasured }) => toMeasured(text, 'UTC') !== undefined)) return text;
  throw malformed(
    source,
    value.position,
    'a number, or a date such as 2026-04-01 or 2026-04-01T09:30:00+05:30',
    NEAR_DATE_WORD.test(text) ? DATE_WORDS : '',
  );
}

/** The text types with an order: days, instants, months. */
const ORDERED_TEXTS = Object.values(SCALAR_TYPES).filter(
  ({ json, isOrdered }) => json === 'string' && isOrdered,
);

function endOfCondition(text: string, start: number): number {
  for (let position = start; position < text.length; position++) {
    const character = text[position];
    if (character === ',') return position;
    if (character === '\\') position++;
  }
  return text.length;
}

function assertSize(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > OQUERY_LIMITS.maxBytes) {
    const detail = `The oquery has ${bytes} bytes; at most ${OQUERY_LIMITS.maxBytes} are allowed.`;
    throw new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail, parameter: 'oquery' }] });
  }
  const position = findUnstorableText(text);
  if (position === undefined) return;
  const source: Source = { text, start: position, end: position + 1, isInsensitive: false };
  throw malformed(source, position, 'a character that text can hold');
}

function tooManyConditions(position: number): ServiceError {
  const detail = `The oquery has more than ${OQUERY_LIMITS.maxConditions} conditions.`;
  return new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail, parameter: 'oquery', position }] });
}

/** `position` counts UTF-16 units from 0, as JavaScript and Java do. */
function malformed(
  { text, start, end }: Source,
  position: number,
  expected: string,
  hint = '',
): ServiceError {
  const condition = text.slice(start, end);
  const found = position >= text.length ? 'the end of the text' : `"${text.slice(position, position + 20)}"`;
  const detail =
    `oquery, position ${position}: expected ${expected}, found ${found}, in the condition ` +
    `"${condition}".${hint}`;
  return new ServiceError('MALFORMED_FILTER', detail, {
    errors: [{ detail, parameter: 'oquery', position, expected, sent: condition }],
  });
}
