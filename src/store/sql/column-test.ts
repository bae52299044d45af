/**
 * A `ValueTest` as SQL over one declared value: the forms that the b-tree on `(domain, (data->'field'))` and
 * the trigram index on `(data->>'field')` serve. jsonb orders by type (null, text, number, boolean, list,
 * object), then by value, so an open range is closed with the edge of its type. The text depends on the shape
 * of the test alone, so it can be prepared.
 *
 * @see design "Storage that makes JSONB fast"
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { LikeTest, NumberRangeTest, TextRangeTest, ValueTest } from '../../model/value-test.js';
import type { FieldExpression } from './names.js';
import { jsonText, storable } from './storable-json.js';

type Sql = Prisma.Sql;

/**
 * jsonb has no least number; below this one there are none that a client could send. Its digits show up in
 * every EXPLAIN.
 */
const LEAST_NUMBER = '-1e1000';
const AFTER_NUMBERS = Prisma.raw(`'false'::jsonb`);
const BEFORE_NUMBERS = Prisma.raw(`'${LEAST_NUMBER}'::jsonb`);
const FIRST_TEXT = Prisma.raw(`'""'::jsonb`);
/** Between these are the texts that begin with a digit, under any collation. */
const FIRST_DIGITS = Prisma.raw(`'"0"'::jsonb`);
const AFTER_DIGITS = Prisma.raw(`'"A"'::jsonb`);

/**
 * The test of a declared value. Text ranges are right only where text compares by bytes; elsewhere the caller
 * takes the jsonpath form (`needsByteOrder`).
 */
export function columnTest(test: ValueTest, field: FieldExpression): Sql {
  switch (test.kind) {
    case 'is':
      return Prisma.sql`${field.json} = ${jsonText(test.value)}::jsonb`;
    case 'in':
      return Prisma.sql`${field.json} = any(${test.values.map(jsonText)}::jsonb[])`;
    case 'numberRange':
      return numberRange(test, field.json);
    case 'textRange':
      return textRange(test, field.json);
    case 'like':
      return likeTest(test, field);
    case 'either':
      return Prisma.sql`(${Prisma.join(
        test.tests.map((part) => columnTest(part, field)),
        ' or ',
      )})`;
  }
}

/** Whether the test compares texts of any kind by their order, which a collation may see differently. */
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

function numberRange({ lower, upper }: NumberRangeTest, json: Sql): Sql {
  const parts: Sql[] = [];
  if (lower === undefined) parts.push(Prisma.sql`${json} > ${BEFORE_NUMBERS}`);
  else parts.push(Prisma.sql`${json} ${above(lower)} ${jsonText(lower.value)}::jsonb`);
  if (upper === undefined) parts.push(Prisma.sql`${json} < ${AFTER_NUMBERS}`);
  else parts.push(Prisma.sql`${json} ${below(upper)} ${jsonText(upper.value)}::jsonb`);
  return both(parts);
}

function textRange({ among, lower, upper }: TextRangeTest, json: Sql): Sql {
  const isAllText = among === 'all';
  const parts: Sql[] = [];
  if (lower === undefined) parts.push(Prisma.sql`${json} >= ${isAllText ? FIRST_TEXT : FIRST_DIGITS}`);
  else parts.push(Prisma.sql`${json} ${above(lower)} ${jsonText(lower.value)}::jsonb`);
  if (upper === undefined) parts.push(Prisma.sql`${json} < ${isAllText ? BEFORE_NUMBERS : AFTER_DIGITS}`);
  else parts.push(Prisma.sql`${json} ${below(upper)} ${jsonText(upper.value)}::jsonb`);
  return both(parts);
}

function likeTest(test: LikeTest, field: FieldExpression): Sql {
  if (test.at === 'start' && !test.isInsensitive) return prefixRange(test.text, field.json);
  return Prisma.sql`(${patternTest(test, field)} and ${isText(field.json)})`;
}

/**
 * Whether trigrams serve a pattern is a matter of its value, which the plan of a prepared statement does not
 * look at: "contains ar" once went through all of them, 13 ms of 2,100 students instead of 0.3. So what is
 * known of the value is part of the text, and the cast marks what may be prepared (`statementName`).
 */
function patternTest(test: LikeTest, { text, hasTrigrams }: FieldExpression): Sql {
  const matches = test.isInsensitive ? Prisma.raw('ilike') : Prisma.raw('like');
  const pattern = likePattern(test);
  switch (hasTrigrams ? trigramsOf(test) : 'unknown') {
    case 'some':
      return Prisma.sql`${text} ${matches} ${pattern}::text`;
    case 'none':
      // Postgres looks for no index in here, and takes it to hold for every other record: it reads them in
      // the order asked for until there are enough.
      return Prisma.sql`coalesce(${text} ${matches} ${pattern}::text, false)`;
    case 'unknown':
      return Prisma.sql`${text} ${matches} ${pattern}`;
  }
}

/**
 * Whether a pattern has trigrams, which are three letters or digits in a row, where the edge of a word counts
 * as two before it and as one behind it. What is a letter beside those of English depends on the database.
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

/** Exact where text compares by bytes: what begins with "ab" is from "ab" on and before "ac". */
function prefixRange(prefix: string, json: Sql): Sql {
  const end = textAfterPrefix(prefix);
  return both([
    Prisma.sql`${json} >= ${jsonText(prefix)}::jsonb`,
    Prisma.sql`${json} < ${end === undefined ? LEAST_NUMBER : jsonText(end)}::jsonb`,
  ]);
}

/**
 * `->>` shows a number or a list as text too, and text operators look at text alone. Said by what it is not:
 * Postgres reckons that `jsonb_typeof(…) = 'string'` holds for one row in 200 and would plan the whole
 * statement for that.
 */
function isText(json: Sql): Sql {
  return Prisma.sql`jsonb_typeof(${json}) <> all ('{number,boolean,array,object}')`;
}

/** The pattern of `like`, in which only our own `%` has a meaning. */
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
 * The least text after all that begin with the prefix, by code points; `undefined` when nothing comes after
 * them.
 */
export function textAfterPrefix(prefix: string): string | undefined {
  const characters = [...prefix];
  while (characters.length > 0) {
    const codePoint = characters.pop()?.codePointAt(0) ?? 0;
    if (codePoint === 0x10ffff) continue;
    // Between these two lie the surrogates, which are no characters.
    const next = codePoint === 0xd7ff ? 0xe000 : codePoint + 1;
    return characters.join('') + String.fromCodePoint(next);
  }
  return undefined;
}

function above({ isIncluded }: { readonly isIncluded: boolean }): Sql {
  return isIncluded ? AT_LEAST : MORE_THAN;
}

function below({ isIncluded }: { readonly isIncluded: boolean }): Sql {
  return isIncluded ? AT_MOST : LESS_THAN;
}

const AT_LEAST = Prisma.raw('>=');
const MORE_THAN = Prisma.raw('>');
const AT_MOST = Prisma.raw('<=');
const LESS_THAN = Prisma.raw('<');

function both(parts: readonly Sql[]): Sql {
  return Prisma.sql`(${Prisma.join([...parts], ' and ')})`;
}
