/**
 * Operators of single values: choosing, numbers, texts, conversions, objects. What is no number or no text
 * makes the result null, where Mongo fails: one "N/A" must not fail a pipeline. A quotient that has no end is
 * the double nearest to it.
 */
import { isJsonObject } from '../../base/json/json.js';
import type { Expression } from '../../base/model/expression.js';
import { type Sql, sql } from '../sql.js';
import {
  byTemplate,
  type CompileOperator,
  compileExpression,
  double,
  type ExpressionValue,
  fill,
  JSON_NULL,
  joined,
  jsonOf,
  literalText,
  named,
  notSupported,
  type Operation,
  type Operators,
  resultOf,
  severalOf,
  toCondition,
  toJson,
  variableName,
  wrongOperands,
} from './expression-value.js';
import { parseMongoPattern } from './mongo-pattern.js';
import { startMongoPlace } from './mongo-place.js';

/** A number stays one where both are; else jsonb, so that what is missing stays so. */
function chosen(
  cases: readonly { readonly when: Sql; readonly value: ExpressionValue }[],
  otherwise: ExpressionValue,
): ExpressionValue {
  const isNumber = [...cases.map(({ value }) => value), otherwise].every(({ type }) => type === 'number');
  const print = (value: ExpressionValue) => (isNumber ? value.sql : toJson(value));
  const branches = cases.map(({ when, value }) => sql`when ${when} then ${print(value)}`);
  return resultOf(
    isNumber ? 'number' : 'json',
    sql`case ${sql.join(branches, ' ')} else ${print(otherwise)} end`,
  );
}

function caseOf(when: Expression, value: Expression, { expressions }: Operation) {
  return {
    when: toCondition(compileExpression(when, expressions)),
    value: compileExpression(value, expressions),
  };
}

function cond(operation: Operation): ExpressionValue {
  const { operand, expressions } = operation;
  if (operand.kind === 'list') {
    const names = ['if', 'then', 'else'];
    const members = severalOf(operation, { least: 3, most: 3 }).map((value, index) => ({
      name: names[index] ?? '',
      value,
    }));
    return cond({ ...operation, operand: { kind: 'object', members } });
  }
  const parts = named(operation, { required: ['if', 'then', 'else'] });
  return chosen([caseOf(parts.if, parts.then, operation)], compileExpression(parts.else, expressions));
}

function switchOf(operation: Operation): ExpressionValue {
  const { branches, default: otherwise } = named(operation, {
    required: ['branches'],
    optional: ['default'],
  });
  if (branches.kind !== 'list' || branches.elements.length === 0)
    throw wrongOperands(operation, 'a list of branches {case, then}');
  const cases = branches.elements.map((operand) => {
    const { case: when, then } = named({ ...operation, operand }, { required: ['case', 'then'] });
    return caseOf(when, then, operation);
  });
  return chosen(
    cases,
    otherwise === undefined
      ? resultOf('json', sql.raw(`doc_refuse('$switch: no branch is true, and there is no "default".')`))
      : compileExpression(otherwise, operation.expressions),
  );
}

function ifNull(operation: Operation): ExpressionValue {
  const values = severalOf(operation, { least: 2 }).map((each) => jsonOf(each, operation.expressions));
  const tried = values.map((value, index) =>
    index === values.length - 1 ? value : sql`nullif(${value}, ${JSON_NULL})`,
  );
  return resultOf('json', sql`coalesce(${sql.join(tried, ', ')})`);
}

function letOf(operation: Operation): ExpressionValue {
  const { expressions } = operation;
  const { vars, in: body } = named(operation, { required: ['vars', 'in'] });
  if (vars.kind !== 'object') throw wrongOperands(operation, 'an object vars of names and expressions');
  if (vars.members.length === 0) return compileExpression(body, expressions);
  const variables = new Map(expressions.variables);
  const alias = `b${expressions.depth}`;
  const columns = vars.members.map(({ name, value }, index) => {
    variables.set(variableName(operation, name), sql.raw(`${alias}.v${index}`));
    return sql`${jsonOf(value, expressions)} as ${sql.raw(`v${index}`)}`;
  });
  const inner = { ...expressions, variables, depth: expressions.depth + 1 };
  // A row of its own, which Postgres does not put back in: a variable may be named any number of times.
  return resultOf(
    'json',
    sql`select ${jsonOf(body, inner)}
      from (select ${sql.join(columns, ', ')} offset 0) as ${sql.raw(alias)}`,
  );
}

const compared = (sign: string) => byTemplate('boolean', 'json json', `doc_compare($1, $2) ${sign} 0`);

/** Half is rounded to the even neighbour, as Mongo does; Postgres rounds it away from zero. */
function rounded(template: string): CompileOperator {
  const places = '(case when $2 is not null then greatest(least($2, 100), -100) end)';
  return byTemplate('number', 'number whole=0', template.replaceAll('PLACES', places));
}

/** Null where there is no such number: a root of -1, a logarithm of 0. */
const real = (isDefined: string, value: string, operands = 'number') =>
  byTemplate('number', operands, `case when ${isDefined} then ${double(value)} end`);

/** Characters, or bytes in UTF-8. */
type Unit = 'characters' | 'bytes';
const inUnits = (text: string, unit: Unit) => (unit === 'characters' ? text : `convert_to(${text}, 'UTF8')`);

/** The position of a text in another from `$3` to before `$4`; -1 where it is not. */
function indexOf(unit: Unit): CompileOperator {
  const [whole, wanted] = [inUnits('$1', unit), inUnits('$2', unit)];
  const position = `position(${wanted} in substr(${whole}, $3 + 1, greatest($4 - $3, 0)))`;
  return byTemplate(
    'number',
    'text text whole=0 whole=1000000000',
    `case when $3 < 0 or $4 < 0 then null when $3 > length(${whole}) or $4 < $3 then -1
      when ${position} = 0 then -1 else ${position} + $3 - 1 end::numeric`,
  );
}

const BYTES = inUnits('$1', 'bytes');
/** A part that is no whole characters is refused. */
const PART_OF_BYTES = byTemplate(
  'text',
  'printed cut cut',
  `case when $2 < 0 or $2 is null or $3 is null then null
    when $3 < 0 then convert_from(substr(${BYTES}, $2 + 1), 'UTF8')
    else convert_from(substr(${BYTES}, $2 + 1, $3), 'UTF8') end`,
);

const trimmed = (name: string) =>
  byTemplate('text', `input:text chars:text=${WHITE_SPACE}`, `${name}($1, $2)`);
const WHITE_SPACE =
  String.raw`E'\u0020\t\n\u000b\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008` +
  String.raw`\u2009\u200a'`;

function regexMatch(operation: Operation): ExpressionValue {
  const { input, regex, options } = named(operation, {
    required: ['input', 'regex'],
    optional: ['options'],
  });
  // A regular expression of JavaScript comes as an object.
  const written = regex.kind === 'literal' && isJsonObject(regex.value) ? regex.value : undefined;
  const source = written === undefined ? literalText(regex) : written.$regex;
  const flags = options === undefined ? (written?.$options ?? '') : literalText(options);
  if (typeof source !== 'string' || typeof flags !== 'string')
    throw notSupported('$regexMatch by a computed expression');
  const pattern = parseMongoPattern({ source, options: flags }, startMongoPlace('$regexMatch'));
  const text = fill('doc_text($1)', [jsonOf(input, operation.expressions)]);
  return resultOf('boolean', sql`coalesce(${text} ~ ${pattern}, false)`);
}

/** A text that is no number, and a number that is too large, are null here: Mongo fails. */
const numberFrom = (pattern: string) =>
  `case jsonb_typeof($1) when 'number' then to_number($1) when 'boolean' then ($1)::boolean::int::numeric
    when 'string' then case when doc_text($1) ~ '${pattern}' then doc_text($1)::numeric end end`;
const TO_DOUBLE = byTemplate(
  'number',
  'json',
  numberFrom(String.raw`^[-+]?(\d{1,255}(\.\d{0,255})?|\.\d{1,255})([eE][-+]?\d{1,3})?$`),
);
const toWhole = (limit: string) =>
  byTemplate(
    'number',
    'json',
    `(select case when n.value >= -${limit} and n.value < ${limit} then n.value end
      from (select trunc(${numberFrom(String.raw`^[-+]?\d{1,255}$`)}) offset 0) as n(value))`,
  );

/** Applies to the whole document if only the name is given. */
function getField(operation: Operation): ExpressionValue {
  const { operand } = operation;
  const whole: Expression = { kind: 'variable', name: 'ROOT', path: [] };
  const members = [
    { name: 'field', value: operand },
    { name: 'input', value: whole },
  ];
  return GET_FIELD(
    operand.kind === 'object' ? operation : { ...operation, operand: { kind: 'object', members } },
  );
}
const GET_FIELD = byTemplate(
  'json',
  'field:name input:json',
  `case jsonb_typeof($2) when 'object' then $2 -> $1 when 'null' then 'null'::jsonb end`,
);

const TYPES =
  `'{"string": "string", "number": "double", "boolean": "bool", "object": "object", "array": "array", ` +
  `"null": "null"}'::jsonb`;

/** Takes pairs `[name, value]` or `{ k: name, v: value }`. */
const PAIR = `case jsonb_typeof(e.value)
  when 'array' then case when jsonb_array_length(e.value) = 2 then e.value end
  when 'object' then case when e.value ? 'v' and e.value - '{k,v}'::text[] = '{}'
    then jsonb_build_array(e.value -> 'k', e.value -> 'v') end end`;
const NO_PAIRS = `doc_refuse('$arrayToObject: the elements are neither all {k, v} nor all [name, value].')`;

export const VALUE_OPERATORS: Operators = {
  $eq: byTemplate('boolean', 'json json', '$1 is not distinct from $2'),
  $ne: byTemplate('boolean', 'json json', '$1 is distinct from $2'),
  $gt: compared('>'),
  $gte: compared('>='),
  $lt: compared('<'),
  $lte: compared('<='),
  $cmp: byTemplate('number', 'json json', 'doc_compare($1, $2)::numeric'),
  $and: joined('boolean', 'truth', ' and ', 'true'),
  $or: joined('boolean', 'truth', ' or ', 'false'),
  $not: byTemplate('boolean', 'truth', 'not $1'),
  $cond: cond,
  $switch: switchOf,
  $ifNull: ifNull,
  $let: letOf,

  $add: joined('number', 'number', ' + '),
  $multiply: joined('number', 'number', ' * '),
  $subtract: byTemplate('number', 'number number', '$1 - $2'),
  // Twenty digits more than a double has, then the nearest one.
  $divide: byTemplate('number', 'number number', double('$1 * 1.00000000000000000000 / nullif($2, 0)')),
  $mod: byTemplate('number', 'number number', 'mod($1, nullif($2, 0))'),
  $abs: byTemplate('number', 'number', 'abs($1)'),
  $ceil: byTemplate('number', 'number', 'ceil($1)'),
  $floor: byTemplate('number', 'number', 'floor($1)'),
  $sqrt: real('$1 >= 0', 'sqrt($1::float8)'),
  $exp: real('abs($1) < 700', 'exp($1::float8)'),
  $ln: real('$1 > 0', 'ln($1::float8)'),
  $log10: real('$1 > 0', 'log($1::float8)'),
  $log: real('$1 > 0 and $2 > 0 and $2 <> 1', 'ln($1::float8) / ln($2::float8)', 'number number'),
  $pow: real(
    '($1 > 0 or ($1 = 0 and $2 >= 0) or ($1 < 0 and $2 = trunc($2)))',
    'power($1::float8, $2::float8)',
    'number number',
  ),
  $round: rounded(`case when abs($1 - trunc($1, PLACES)) * 2 = power(10::numeric, -PLACES)
    and mod(trunc($1 * power(10::numeric, PLACES)), 2) = 0 then trunc($1, PLACES)
    else round($1, PLACES) end`),
  $trunc: rounded('trunc($1, PLACES)'),

  $concat: joined('text', 'text', ' || '),
  // ASCII letters alone, as Mongo does.
  $toLower: byTemplate('text', 'printed', 'lower($1 collate "C")'),
  $toUpper: byTemplate('text', 'printed', 'upper($1 collate "C")'),
  $substr: PART_OF_BYTES,
  $substrBytes: PART_OF_BYTES,
  $substrCP: byTemplate(
    'text',
    'printed whole whole',
    'case when $2 >= 0 and $3 >= 0 then substr($1, $2 + 1, $3) end',
  ),
  $indexOfBytes: indexOf('bytes'),
  $indexOfCP: indexOf('characters'),
  $strLenBytes: byTemplate('number', 'text', 'octet_length($1)::numeric'),
  $strLenCP: byTemplate('number', 'text', 'length($1)::numeric'),
  $strcasecmp: byTemplate(
    'number',
    'printed printed',
    `case when upper($1 collate "C") < upper($2 collate "C") then -1
      when upper($1 collate "C") = upper($2 collate "C") then 0 else 1 end::numeric`,
  ),
  $trim: trimmed('btrim'),
  $ltrim: trimmed('ltrim'),
  $rtrim: trimmed('rtrim'),
  $split: byTemplate(
    'value',
    'text text',
    `case when $1 is null or nullif($2, '') is null then null when $1 = '' then '[""]'::jsonb
      else to_jsonb(string_to_array($1, $2)) end`,
  ),
  $replaceOne: byTemplate(
    'text',
    'input:text find:text replacement:text',
    `case when $2 = '' then $3 || $1 when position($2 in $1) = 0 then $1 || left($3, 0)
      else overlay($1 placing $3 from position($2 in $1) for length($2)) end`,
  ),
  // Nothing stands before every character.
  $replaceAll: byTemplate(
    'text',
    'input:text find:text replacement:text',
    String.raw`case $2 when '' then regexp_replace($1, '', replace($3, '\', '\\'), 'g')
      else replace($1, $2, $3) end`,
  ),
  $regexMatch: regexMatch,

  // A list or an object has no text in Mongo.
  $toString: byTemplate(
    'text',
    'json',
    `case when jsonb_typeof($1) in ('string', 'number', 'boolean') then $1 #>> '{}' end`,
  ),
  $toDouble: TO_DOUBLE,
  $toDecimal: TO_DOUBLE,
  $toInt: toWhole('2147483648'),
  $toLong: toWhole('9223372036854775808'),
  $toBool: byTemplate(
    'value',
    'json',
    `case when coalesce($1, 'null') = 'null' then null
      when jsonb_typeof($1) in ('number', 'boolean') then to_jsonb(doc_is_true($1)) else 'true'::jsonb end`,
  ),
  $type: byTemplate('text', 'json', `coalesce(${TYPES} ->> jsonb_typeof($1), 'missing')`),
  $isArray: byTemplate('boolean', 'json', `coalesce(jsonb_typeof($1) = 'array', false)`),
  $isNumber: byTemplate('boolean', 'json', `coalesce(jsonb_typeof($1) = 'number', false)`),

  // Null and what is missing count as an empty object.
  $mergeObjects: joined('json', 'object', ' || ', `'{}'::jsonb`),
  $arrayToObject: byTemplate(
    'value',
    'json',
    `case jsonb_typeof($1) when 'array' then (
      select case when count(distinct p.form) > 1 then ${NO_PAIRS} else coalesce(jsonb_object_agg(
        coalesce(doc_text(p.pair -> 0), (${NO_PAIRS})::text), p.pair -> 1 order by p.position), '{}') end
      from (select ${PAIR} as pair, e.position, jsonb_typeof(e.value) as form
        from jsonb_array_elements($1) with ordinality as e(value, position)) as p) end`,
  ),
  // The members of an object have no order in a record.
  $objectToArray: byTemplate(
    'value',
    'json',
    `case jsonb_typeof($1) when 'object' then (
      select coalesce(jsonb_agg(jsonb_build_object('k', m.key, 'v', m.value)
        order by m.key collate "C"), '[]')
      from jsonb_each($1) as m) end`,
  ),
  $getField: getField,
  $setField: byTemplate(
    'value',
    'field:name input:json value:json',
    `case jsonb_typeof($2) when 'object' then jsonb_set_lax($2, array[$1], $3, true, 'delete_key') end`,
  ),
  $unsetField: byTemplate(
    'value',
    'field:name input:json',
    `case jsonb_typeof($2) when 'object' then $2 - $1 end`,
  ),
};
