/**
 * Texts by their characters (code points). What is no text makes the result null, except where Mongo takes it
 * for the empty text.
 */

import { isJsonObject } from '../../base/json/json.js';
import type { Expression } from '../../base/model/expression.js';
import { Prisma } from '../../generated/prisma/client.js';
import {
  type CompileOperator,
  compileExpression,
  type Expressions,
  NotSupported,
} from './expression-context.js';
import {
  type ExpressionValue,
  once,
  onceEach,
  sqlBoolean,
  sqlJson,
  sqlNumber,
  sqlText,
  toInteger,
  toJson,
  toNumber,
  toText,
} from './expression-value.js';
import { parseMongoPattern } from './mongo-pattern.js';
import { startMongoPlace } from './mongo-place.js';
import { jsonOf, literalText, named, one, several, two, wrongOperands } from './operands.js';

type Sql = Prisma.Sql;

const WHITE_SPACE =
  ' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a';

function textOf(operand: Expression, expressions: Expressions): Sql {
  return toText(compileExpression(operand, expressions));
}

/** ASCII letters alone, as Mongo does. */
function inCase(operator: string, name: 'lower' | 'upper'): CompileOperator {
  return (operand, expressions) => {
    const written = printedOrEmpty(one(operator, operand), expressions);
    return sqlText(Prisma.sql`${Prisma.raw(name)}(${written} collate "C")`);
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

/** What is null or missing is the empty text. */
function printedOrEmpty(operand: Expression, expressions: Expressions): Sql {
  const value = compileExpression(operand, expressions);
  if (value.type !== 'json') return Prisma.sql`coalesce(${printed(value)}, '')`;
  return once(
    value.sql,
    (of) => Prisma.sql`(case when coalesce(${of}, 'null') = 'null' then '' else ${printed(sqlJson(of))} end)`,
  );
}

/** Characters, or bytes in UTF-8. A part that is no whole characters is refused. */
function part(operator: string, unit: 'characters' | 'bytes'): CompileOperator {
  return (operand, expressions) => {
    const [whole, start, length] = several(operator, operand, { least: 3, most: 3 });
    if (whole === undefined) throw wrongOperands(operator, 'a text');
    const [from, count] = [start, length].map((each) => {
      const number = each === undefined ? undefined : compileExpression(each, expressions);
      if (number === undefined) return Prisma.raw('0');
      // Mongo cuts off what is after the point where it counts bytes.
      return toInteger(unit === 'bytes' ? sqlNumber(Prisma.sql`trunc(${toNumber(number)})`) : number);
    });
    const written = printedOrEmpty(whole, expressions);
    return sqlText(
      onceEach([written, from ?? Prisma.empty, count ?? Prisma.empty], (of, at = of, most = of) => {
        if (unit === 'characters')
          return Prisma.sql`case when ${at} >= 0 and ${most} >= 0 then substr(${of}, ${at} + 1, ${most}) end`;
        const bytes = Prisma.sql`convert_to(${of}, 'UTF8')`;
        return Prisma.sql`case when ${at} < 0 or ${at} is null or ${most} is null then null
          when ${most} < 0 then convert_from(substr(${bytes}, ${at} + 1), 'UTF8')
          else convert_from(substr(${bytes}, ${at} + 1, ${most}), 'UTF8') end`;
      }),
    );
  };
}

/** The position of a text in another from `start` to before `end`; -1 where it is not. */
function indexOf(operator: string, unit: 'characters' | 'bytes'): CompileOperator {
  return (operand, expressions) => {
    const [whole, wanted, ...range] = several(operator, operand, { least: 2, most: 4 });
    if (whole === undefined || wanted === undefined) throw wrongOperands(operator, 'two texts');
    const [from = Prisma.raw('0'), to = Prisma.raw('1000000000')] = range.map((each) =>
      toInteger(compileExpression(each, expressions)),
    );
    const toUnits = (text: Sql) => (unit === 'characters' ? text : Prisma.sql`convert_to(${text}, 'UTF8')`);
    const texts = [whole, wanted].map((each) => toUnits(textOf(each, expressions)));
    return sqlNumber(
      onceEach([...texts, from, to], (of, one = of, start = of, end = of) => {
        const part = Prisma.sql`substr(${of}, ${start} + 1, greatest(${end} - ${start}, 0))`;
        return Prisma.sql`case when ${start} < 0 or ${end} < 0 then null
          when ${start} > length(${of}) or ${end} < ${start} then -1
          when position(${one} in ${part}) = 0 then -1
          else position(${one} in ${part}) + ${start} - 1 end::numeric`;
      }),
    );
  };
}

function replaced(operator: '$replaceOne' | '$replaceAll'): CompileOperator {
  return (operand, expressions) => {
    const parts = named(operator, operand, { required: ['input', 'find', 'replacement'] });
    const texts = [parts.input, parts.find, parts.replacement].map((each) => textOf(each, expressions));
    return sqlText(
      onceEach(texts, (of, find = of, by = of) => {
        // Nothing stands before every character.
        const inserted = Prisma.sql`regexp_replace(${of}, '', replace(${by}, '\\', '\\\\'), 'g')`;
        if (operator === '$replaceAll')
          return Prisma.sql`case ${find} when '' then ${inserted} else replace(${of}, ${find}, ${by}) end`;
        return Prisma.sql`case when ${find} = '' then ${by} || ${of}
          when position(${find} in ${of}) = 0 then ${of} || left(${by}, 0)
          else overlay(${of} placing ${by} from position(${find} in ${of}) for length(${find})) end`;
      }),
    );
  };
}

function strcasecmp(operand: Expression, expressions: Expressions): ExpressionValue {
  const texts = two('$strcasecmp', operand).map((each) => {
    return Prisma.sql`upper(${printedOrEmpty(each, expressions)} collate "C")`;
  });
  return sqlNumber(
    onceEach(
      texts,
      (one, other = one) => Prisma.sql`case when ${one} collate "C" < ${other} then -1
      when ${one} = ${other} then 0 else 1 end::numeric`,
    ),
  );
}

function trimmed(operator: string, name: 'btrim' | 'ltrim' | 'rtrim'): CompileOperator {
  return (operand, expressions) => {
    const { input, chars } = named(operator, operand, { required: ['input'], optional: ['chars'] });
    const characters = chars === undefined ? Prisma.sql`${WHITE_SPACE}::text` : textOf(chars, expressions);
    return sqlText(Prisma.sql`${Prisma.raw(name)}(${textOf(input, expressions)}, ${characters})`);
  };
}

function regexMatch(operand: Expression, expressions: Expressions): ExpressionValue {
  const { input, regex, options } = named('$regexMatch', operand, {
    required: ['input', 'regex'],
    optional: ['options'],
  });
  // A regular expression of JavaScript comes as an object.
  const written = regex.kind === 'literal' && isJsonObject(regex.value) ? regex.value : undefined;
  const source = written === undefined ? literalText(regex) : written.$regex;
  const flags = options === undefined ? (written?.$options ?? '') : literalText(options);
  if (typeof source !== 'string' || typeof flags !== 'string')
    throw new NotSupported('$regexMatch by a computed expression');
  const pattern = parseMongoPattern({ source, options: flags }, startMongoPlace('$regexMatch'));
  return sqlBoolean(Prisma.sql`coalesce(${textOf(input, expressions)} ~ ${pattern}, false)`);
}

function split(operand: Expression, expressions: Expressions): ExpressionValue {
  const texts = two('$split', operand).map((each) => textOf(each, expressions));
  return sqlJson(
    onceEach(
      texts,
      (whole, separator = whole) => Prisma.sql`case
      when ${whole} is null or nullif(${separator}, '') is null then 'null'::jsonb
      when ${whole} = '' then '[""]'::jsonb
      else to_jsonb(string_to_array(${whole}, ${separator})) end`,
    ),
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
  $substr: part('$substr', 'bytes'),
  $substrBytes: part('$substrBytes', 'bytes'),
  $substrCP: part('$substrCP', 'characters'),
  $indexOfBytes: indexOf('$indexOfBytes', 'bytes'),
  $indexOfCP: indexOf('$indexOfCP', 'characters'),
  $replaceOne: replaced('$replaceOne'),
  $replaceAll: replaced('$replaceAll'),
  $strcasecmp: strcasecmp,
  $strLenBytes: (operand, expressions) =>
    sqlNumber(Prisma.sql`octet_length(${textOf(one('$strLenBytes', operand), expressions)})::numeric`),
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
  $toBool: (operand, expressions) => {
    const value = jsonOf(one('$toBool', operand), expressions);
    return sqlJson(
      once(
        value,
        (of) => Prisma.sql`(case when ${of} is null or ${of} = 'null' then 'null'::jsonb
          when jsonb_typeof(${of}) in ('number', 'boolean') then to_jsonb(doc_is_true(${of}))
          else 'true'::jsonb end)`,
      ),
    );
  },
  $toInt: toNumberOf('$toInt'),
  $toLong: toNumberOf('$toLong'),
};
