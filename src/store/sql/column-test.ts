/**
 * Compiles a `ValueTest` to SQL over one declared value, in the forms that two indexes support: the b-tree
 * on `(domain, (data->'field'))` and the trigram index on `(data->>'field')`. jsonb orders values by type
 * (null, text, number, boolean, list, object), then by value. Therefore an open range ends at the edge of
 * its type. The text depends on the shape of the test alone, so Postgres can prepare it.
 *
 * @see design "Storage that makes JSONB fast"
 */

import { type Operand } from '../../base/model/operand.js';
import {
  type LikeTest,
  lowerSign,
  type NumberRangeTest,
  type TextRangeTest,
  upperSign,
  type ValueTest,
} from '../../base/model/value-test.js';
import { type Sql, sql } from '../sql.js';
import type { FieldExpression } from './names.js';
import { selectSpellings } from './spellings.js';
import { jsonText, storable } from './storable-json.js';

/**
 * jsonb has no least number. No client can send a number below this one. EXPLAIN prints all of its digits.
 */
const LEAST_NUMBER = '-1e1000';
const AFTER_NUMBERS = sql.raw(`'false'::jsonb`);
const BEFORE_NUMBERS = sql.raw(`'${LEAST_NUMBER}'::jsonb`);
const FIRST_TEXT = sql.raw(`'""'::jsonb`);
/** Texts that begin with a digit lie between these two, under any collation. */
const FIRST_DIGITS = sql.raw(`'"0"'::jsonb`);
const AFTER_DIGITS = sql.raw(`'"A"'::jsonb`);

/**
 * Compiles the test of a declared value. Text ranges are correct only if the database compares text by
 * bytes. Otherwise the caller uses the jsonpath form (see `needsByteOrder`).
 */
export function columnTest(
  test: ValueTest,
  field: FieldExpression,
  toBound: (value: Operand) => Sql = known,
): Sql {
  switch (test.kind) {
    case 'is':
      return sql`${field.json} = ${jsonText(test.value)}::jsonb`;
    case 'in':
      return sql`${field.json} = any(${test.values.map(jsonText)}::jsonb[])`;
    case 'spelled':
      return sql`${field.json} = any(
        ${test.values.map(jsonText)}::jsonb[] || array(${selectSpellings(test)}))`;
    case 'numberRange':
      return numberRange(test, field.json);
    case 'textRange':
      return textRange(test, field.json, toBound);
    case 'like':
      return likeTest(test, field);
    case 'either':
      return sql`(${sql.join(
        test.tests.map((part) => columnTest(part, field)),
        ' or ',
      )})`;
  }
}

function known(value: Operand): Sql {
  return sql`${jsonText(value)}::jsonb`;
}

/** A bound that does not decide the plan: PostgreSQL plans the statement once, and not for each value. */
export function unplanned(value: Operand): Sql {
  return sql`(select ${known(value)})`;
}

/** Whether the test depends on the order of arbitrary texts, which differs between collations. */
export function needsByteOrder(test: ValueTest): boolean {
  switch (test.kind) {
    case 'textRange':
      return test.among === 'all';
    case 'like':
      return test.at === 'start' && !test.isInsensitive;
    case 'either':
      return test.tests.some(needsByteOrder);
    default:
      return false;
  }
}

function numberRange(test: NumberRangeTest, json: Sql): Sql {
  return range(test, json, [sql`> ${BEFORE_NUMBERS}`, AFTER_NUMBERS], known);
}

function textRange(test: TextRangeTest, json: Sql, toBound: (value: Operand) => Sql): Sql {
  const edges: Edges =
    test.among === 'all' ? [sql`>= ${FIRST_TEXT}`, BEFORE_NUMBERS] : [sql`>= ${FIRST_DIGITS}`, AFTER_DIGITS];
  return range(test, json, edges, toBound);
}

type Edges = readonly [first: Sql, after: Sql];

/** An edge of the type replaces a missing bound: its first value with a sign, or the value after it. */
function range(
  { lower, upper }: NumberRangeTest | TextRangeTest,
  json: Sql,
  [first, after]: Edges,
  toBound: (value: Operand) => Sql,
): Sql {
  const bound = (sign: string, value: Operand) => sql`${sql.raw(sign)} ${toBound(value)}`;
  return both([
    sql`${json} ${lower === undefined ? first : bound(lowerSign(lower), lower.value)}`,
    sql`${json} ${upper === undefined ? sql`< ${after}` : bound(upperSign(upper), upper.value)}`,
  ]);
}

function likeTest(test: LikeTest, field: FieldExpression): Sql {
  if (test.at === 'start' && !test.isInsensitive) return prefixRange(test.text, field.json);
  return sql`(${patternTest(test, field)} and ${isText(field.json)})`;
}

/**
 * The value of a pattern decides whether trigrams help, and the plan of a prepared statement does not take
 * the value into account. Without a distinction, "contains ar" scanned all trigrams: 13 ms instead of 0.3 ms
 * over 2,100 students. Therefore the text of the statement reflects what is known of the value, and the cast
 * marks patterns that may be prepared (see `statementName`).
 */
function patternTest(test: LikeTest, { text, hasTrigrams }: FieldExpression): Sql {
  const matches = test.isInsensitive ? sql.raw('ilike') : sql.raw('like');
  const pattern = likePattern(test);
  switch (hasTrigrams ? trigramsOf(test) : 'unknown') {
    case 'some':
      return sql`${text} ${matches} ${pattern}::text`;
    case 'none':
      // Postgres does not use an index for this form, and estimates that half of the records match. It
      // therefore reads the records in their order until it has enough.
      return sql`coalesce(${text} ${matches} ${pattern}::text, false)`;
    case 'unknown':
      return sql`${text} ${matches} ${pattern}`;
  }
}

/**
 * Whether a pattern contains a trigram: three letters or digits in a row. The start of a word counts as two
 * characters, its end as one. The database decides which characters other than English letters count as
 * letters.
 */
const HAS_TRIGRAMS = {
  anywhere: /[A-Za-z0-9]{3}|[ ,.'/-][A-Za-z0-9]|[A-Za-z0-9]{2}[ ,.'/-]/,
  start: /^[A-Za-z0-9]/,
  whole: /^[A-Za-z0-9]/,
};

function trigramsOf({ at, text }: LikeTest): 'some' | 'none' | 'unknown' {
  if (HAS_TRIGRAMS[at].test(text)) return 'some';
  return at === 'anywhere' && /^[A-Za-z0-9]{1,2}$/.test(text) ? 'none' : 'unknown';
}

/**
 * Exact if text compares by bytes: texts that begin with "ab" are those from "ab" up to, but not including,
 * "ac".
 */
function prefixRange(prefix: string, json: Sql): Sql {
  const end = textAfterPrefix(prefix);
  return both([
    sql`${json} >= ${jsonText(prefix)}::jsonb`,
    sql`${json} < ${end === undefined ? LEAST_NUMBER : jsonText(end)}::jsonb`,
  ]);
}

/**
 * `->>` also returns numbers and lists as text, whereas text operators match texts alone. The condition
 * excludes the other types, because Postgres estimates that `jsonb_typeof(…) = 'string'` holds for one row
 * in 200, which misleads the plan of the whole statement.
 */
function isText(json: Sql): Sql {
  return sql`jsonb_typeof(${json}) <> all ('{number,boolean,array,object}')`;
}

/**
 * The pattern of `like`. The wildcards of the caller's text are escaped; only the `%` added here has a
 * meaning.
 */
export function likePattern({ at, text }: LikeTest): string {
  const escaped = storable(text).replace(/[\\%_]/g, '\\$&');
  switch (at) {
    case 'start':
      return `${escaped}%`;
    case 'anywhere':
      return `%${escaped}%`;
    case 'whole':
      return escaped;
  }
}

/**
 * The least text after all texts that begin with the prefix, by code points. `undefined` if there is none.
 */
export function textAfterPrefix(prefix: string): string | undefined {
  const characters = [...prefix];
  while (characters.length > 0) {
    const codePoint = characters.pop()?.codePointAt(0) ?? 0;
    if (codePoint === 0x10ffff) continue;
    // The surrogates lie between these two and are no characters.
    const next = codePoint === 0xd7ff ? 0xe000 : codePoint + 1;
    return characters.join('') + String.fromCodePoint(next);
  }
  return undefined;
}

function both(parts: readonly Sql[]): Sql {
  return sql`(${sql.join([...parts], ' and ')})`;
}
