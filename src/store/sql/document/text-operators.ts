/**
 * Texts by their characters (code points). What is no text makes the result null, except where Mongo takes it
 * for the empty text.
 */

import { Prisma } from '../../../generated/prisma/client.js';
import { parseMongoPattern } from '../../../languages/mongo/mongo-pattern.js';
import { startMongoPlace } from '../../../languages/mongo/mongo-place.js';
import type { Expression } from '../../../model/expression.js';
import { type CompileOperator, compileExpression, type Expressions, NotInSql } from './expression-context.js';
import {
  type ExpressionValue,
  once,
  sqlBoolean,
  sqlJson,
  sqlNumber,
  sqlText,
  toJson,
  toText,
} from './expression-value.js';
import { literalInteger, literalText, named, one, several, two } from './operands.js';

type Sql = Prisma.Sql;

function textOf(operand: Expression, expressions: Expressions): Sql {
  return toText(compileExpression(operand, expressions));
}

function inCase(operator: string, name: 'lower' | 'upper'): CompileOperator {
  return (operand, expressions) => {
    const written = printed(compileExpression(one(operator, operand), expressions));
    return sqlText(Prisma.sql`${Prisma.raw(name)}(coalesce(${written}, ''))`);
  };
}

/** A number is printed as its digits. */
function printed(value: ExpressionValue): Sql {
  if (value.type === 'text') return value.sql;
  if (value.type === 'number') return Prisma.sql`trim_scale(${value.sql})::text`;
  const written = toJson(value);
  return once(
    written,
    (of) => Prisma.sql`(case when jsonb_typeof(${of}) in ('string', 'number') then ${of} #>> '{}' end)`,
  );
}

/** A negative length goes to the end. */
function part(operator: string): CompileOperator {
  return (operand, expressions) => {
    const [whole, start, length] = several(operator, operand, { least: 3, most: 3 });
    const from = literalInteger(start);
    const count = literalInteger(length);
    if (whole === undefined || from === undefined || count === undefined || from < 0) {
      throw new NotInSql(`${operator} with a computed start or length`);
    }
    const written = Prisma.sql`coalesce(${printed(compileExpression(whole, expressions))}, '')`;
    const end = count < 0 ? Prisma.empty : Prisma.sql`, ${count}::int`;
    return sqlText(Prisma.sql`substr(${written}, ${from + 1}::int${end})`);
  };
}

function trimmed(operator: string, name: 'btrim' | 'ltrim' | 'rtrim'): CompileOperator {
  return (operand, expressions) => {
    const { input, chars } = named(operator, operand, { required: ['input'], optional: ['chars'] });
    const characters = chars === undefined ? ' \t\n\v\f\r\u00a0\u2028\u2029\ufeff' : literalText(chars);
    if (characters === undefined) throw new NotInSql(`${operator} of computed characters`);
    return sqlText(Prisma.sql`${Prisma.raw(name)}(${textOf(input, expressions)}, ${characters}::text)`);
  };
}

function regexMatch(operand: Expression, expressions: Expressions): ExpressionValue {
  const { input, regex, options } = named('$regexMatch', operand, {
    required: ['input', 'regex'],
    optional: ['options'],
  });
  const source = literalText(regex);
  const flags = options === undefined ? '' : literalText(options);
  if (source === undefined || flags === undefined) throw new NotInSql('$regexMatch by a computed expression');
  const pattern = parseMongoPattern({ source, options: flags }, startMongoPlace('$regexMatch'));
  return sqlBoolean(Prisma.sql`coalesce(${textOf(input, expressions)} ~ ${pattern}, false)`);
}

function split(operand: Expression, expressions: Expressions): ExpressionValue {
  const [whole, separator] = two('$split', operand).map((each) => textOf(each, expressions));
  return sqlJson(
    Prisma.sql`coalesce(to_jsonb(string_to_array(${whole}, nullif(${separator}, ''))), 'null'::jsonb)`,
  );
}

function toStringOf(operand: Expression, expressions: Expressions): ExpressionValue {
  const value = compileExpression(one('$toString', operand), expressions);
  if (value.type !== 'json')
    return sqlText(value.type === 'boolean' ? Prisma.sql`(${value.sql})::text` : printed(value));
  // A list or an object has no text in Mongo.
  return sqlText(
    once(
      value.sql,
      (of) =>
        Prisma.sql`(case when jsonb_typeof(${of}) in ('string', 'number', 'boolean')
          then ${of} #>> '{}' end)`,
    ),
  );
}

const DECIMAL = '^[-+]?(\\d{1,255}(\\.\\d{0,255})?|\\.\\d{1,255})([eE][-+]?\\d{1,3})?$';
const WHOLE = '^[-+]?\\d{1,255}$';
const BITS: Readonly<Record<string, number>> = { $toInt: 31, $toLong: 63 };

/** A text that is no number, and a number that is too large, are null here: Mongo fails. */
function toNumberOf(operator: string): CompileOperator {
  const bits = BITS[operator];
  return (operand, expressions) => {
    const written = toJson(compileExpression(one(operator, operand), expressions));
    const read = once(written, (of) => {
      const digits = Prisma.sql`doc_text(${of})`;
      const exact = Prisma.sql`case jsonb_typeof(${of})
        when 'number' then to_number(${of})
        when 'boolean' then (${of})::boolean::int::numeric
        when 'string' then case when ${digits} ~ ${bits === undefined ? DECIMAL : WHOLE}
          then ${digits}::numeric end end`;
      return bits === undefined ? Prisma.sql`(${exact})` : Prisma.sql`trunc(${exact})`;
    });
    if (bits === undefined) return sqlNumber(read);
    const limit = Prisma.raw(`power(2::numeric, ${bits})`);
    return sqlNumber(
      Prisma.sql`(select case when n.value >= -${limit} and n.value < ${limit} then n.value end
        from (select ${read} offset 0) as n(value))`,
    );
  };
}

export const TEXT_OPERATORS: Readonly<Record<string, CompileOperator>> = {
  $concat: (operand, expressions) => {
    const parts = several('$concat', operand).map((each) => textOf(each, expressions));
    return sqlText(Prisma.sql`(${Prisma.join(parts, ' || ')})`);
  },
  $toLower: inCase('$toLower', 'lower'),
  $toUpper: inCase('$toUpper', 'upper'),
  $substr: part('$substr'),
  $substrCP: part('$substrCP'),
  $strLenCP: (operand, expressions) =>
    sqlNumber(Prisma.sql`length(${textOf(one('$strLenCP', operand), expressions)})::numeric`),
  $trim: trimmed('$trim', 'btrim'),
  $ltrim: trimmed('$ltrim', 'ltrim'),
  $rtrim: trimmed('$rtrim', 'rtrim'),
  $split: split,
  $regexMatch: regexMatch,
  $toString: toStringOf,
  $toDouble: toNumberOf('$toDouble'),
  $toDecimal: toNumberOf('$toDecimal'),
  $toInt: toNumberOf('$toInt'),
  $toLong: toNumberOf('$toLong'),
};
