/**
 * The grammar of oquery: a text as conditions, each a path, an operator and a value that is still a text. The
 * gateway reads them as a filter (oquery.ts), the portal as the rows of a form.
 */
import { faultAt, type ServiceError } from '../errors.js';
import type { Path } from '../model/path.js';
import { findUnstorableText } from '../model/unstorable-text.js';

/** Limits of one oquery. */
export const OQUERY_LIMITS = { maxBytes: 4096, maxConditions: 32 } as const;

/** Longest first, so that the first that fits is the longest. */
const OPERATORS = ['===', '=!=', '=!*', '==', '=*', '=>', '=<', '='] as const;

/** The forms of `=` before a date: the operator with what follows it, to the end of the value. */
const DATE_OPERATORS = [
  ['=today', /^today()$/],
  ['=yesterday', /^yesterday()$/],
  ['=daybeforeyesterday', /^daybeforeyesterday()$/],
  ['=on', /^on(\d{4}-\d{2}-\d{2})$/],
  ['=#in', /^#in(\d{4}-\d{2})$/],
] as const;

export type OqueryOperator = (typeof OPERATORS)[number] | (typeof DATE_OPERATORS)[number][0];

/** A condition within the text; `end` is the position of the comma after it, or of the end. */
export interface OquerySource {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface OqueryCondition {
  readonly source: OquerySource;
  readonly path: Path;
  readonly operator: OqueryOperator;
  /** The text after the operator, with its escapes resolved. */
  readonly value: string;
  readonly position: number;
}

const SEGMENT = /^[A-Za-z0-9_$-]+$/;

/**
 * @throws MALFORMED_FILTER (400) with the position, what was expected there, and the condition's text.
 * @throws LIMIT_EXCEEDED (400)
 */
export function readConditions(text: string): readonly OqueryCondition[] {
  if (text === '') return [];
  assertSize(text);
  const conditions: OqueryCondition[] = [];
  for (let start = 0; start <= text.length; ) {
    const end = endOfCondition(text, start);
    while (start < end && text[start] === ' ') start += 1;
    if (conditions.length === OQUERY_LIMITS.maxConditions) throw tooManyConditions(start);
    conditions.push(readCondition({ text, start, end }));
    start = end + 1;
  }
  return conditions;
}

function readCondition(source: OquerySource): OqueryCondition {
  const { text, start, end } = source;
  const equalsSign = text.indexOf('=', start);
  const endOfField = equalsSign === -1 || equalsSign >= end ? end : equalsSign;
  const path = readField(source, endOfField);
  if (endOfField === end) throw malformed(source, end, 'an operator that begins with "="');
  const operator = OPERATORS.find((candidate) => text.startsWith(candidate, endOfField)) ?? '=';
  const position = endOfField + operator.length;
  const raw = text.slice(position, end);
  if (endsInBackslash(raw)) throw malformed(source, end, 'a character after "\\"');
  for (const [dateOperator, form] of operator === '=' ? DATE_OPERATORS : []) {
    const value = form.exec(raw)?.[1];
    if (value !== undefined) return { source, path, operator: dateOperator, value, position };
  }
  return { source, path, operator, value: raw.replace(/\\([\s\S])/g, '$1'), position };
}

function readField(source: OquerySource, end: number): Path {
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

/** Whether the last backslash escapes nothing. */
function endsInBackslash(raw: string): boolean {
  let backslashes = 0;
  while (raw[raw.length - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

function endOfCondition(text: string, start: number): number {
  for (let position = start; position < text.length; position++) {
    const character = text[position];
    if (character === ',') return position;
    if (character === '\\') position++;
  }
  return text.length;
}

function assertSize(text: string): void {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > OQUERY_LIMITS.maxBytes) {
    const detail = `The oquery has ${bytes} bytes; at most ${OQUERY_LIMITS.maxBytes} are allowed.`;
    throw faultAt('LIMIT_EXCEEDED', detail, { parameter: 'oquery' });
  }
  const position = findUnstorableText(text);
  if (position === undefined) return;
  const source = { text, start: position, end: position + 1 };
  throw malformed(source, position, 'a character that text can hold');
}

function tooManyConditions(position: number): ServiceError {
  const detail = `The oquery has more than ${OQUERY_LIMITS.maxConditions} conditions.`;
  return faultAt('LIMIT_EXCEEDED', detail, { parameter: 'oquery', position });
}

/** `position` counts UTF-16 units from 0, as JavaScript and Java do. */
export function malformed(
  { text, start, end }: OquerySource,
  position: number,
  expected: string,
  hint = '',
): ServiceError {
  const condition = text.slice(start, end);
  const found = position >= text.length ? 'the end of the text' : `"${text.slice(position, position + 20)}"`;
  const detail =
    `oquery, position ${position}: expected ${expected}, found ${found}, in the condition ` +
    `"${condition}".${hint}`;
  return faultAt('MALFORMED_FILTER', detail, { parameter: 'oquery', position, expected, sent: condition });
}
