/**
 * `Expression` to SQL over a document. Numbers are exact: sums and products of `numeric`, not of floats. An
 * operator is a row of a table, `byTemplate(result, operands, template)`; see `sql`.
 */
import { faultAt, type ServiceError } from '../../base/errors.js';
import { isExactNumber, type JsonValue } from '../../base/json/json.js';
import type { Expression } from '../../base/model/expression.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import type { SpellingContext } from '../access/respelled.js';
import { jsonText, storable, storableJson } from '../sql/storable-json.js';
import { Sql, sql } from '../sql.js';
import type { DocumentRoot } from './document-root.js';

/**
 * A computed value. `json`: jsonb, null where the value is missing. `number` (numeric) and `text`: null is a
 * null that is there. `boolean`: never null.
 */
export interface ExpressionValue {
  readonly type: 'json' | 'number' | 'text' | 'boolean';
  readonly sql: Sql;
}

/** The inputs of an expression beside the document. */
export interface ExpressionContext {
  readonly isByteOrdered: boolean;
  readonly now: Date;
  /** That of the school, for days and times of its fields. */
  readonly timeZone: string;
  readonly spelling?: SpellingContext | undefined;
  /** How many lists are open around it: names their aliases. */
  readonly depth?: number;
  /** The variables of a `$lookup` around it: jsonb by name, null where missing. */
  readonly variables?: Variables;
}

export type Variables = ReadonlyMap<string, Sql>;

export interface Expressions {
  readonly root: DocumentRoot;
  readonly context: ExpressionContext;
  /** Those of the context, and of `$let`, `$map` and `$filter`. */
  readonly variables: Variables;
  readonly depth: number;
  readonly operators: Operators;
}

/** An operator where it stands in an expression. */
export interface Operation {
  readonly name: string;
  readonly operand: Expression;
  readonly expressions: Expressions;
}

export type CompileOperator = (operation: Operation) => ExpressionValue;
export type Operators = Readonly<Record<string, CompileOperator>>;

export const JSON_NULL = sql.raw(`'null'::jsonb`);

/** @throws MALFORMED_FILTER (400) for an operator that is unknown, or operands that it does not take */
export function compileExpression(expression: Expression, expressions: Expressions): ExpressionValue {
  switch (expression.kind) {
    case 'literal':
      return literal(expression.value);
    case 'field':
      return { type: 'json', sql: expressions.root.valueAt(expression.path) };
    case 'variable':
      return variable(expression, expressions);
    case 'object':
      return objectOf(
        expression.members.map(({ name, value }) => [name, compileExpression(value, expressions)]),
      );
    case 'list': {
      if (expression.elements.length === 0) return { type: 'json', sql: sql.raw(`'[]'::jsonb`) };
      const values = expression.elements.map((each) => orNull(jsonOf(each, expressions)));
      return { type: 'json', sql: sql`to_jsonb(array[${sql.join(values, ', ')}]::jsonb[])` };
    }
    case 'operator': {
      const { name, operand } = expression;
      const { operators } = expressions;
      const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
      if (operator === undefined) throw notSupported(name, didYouMean(name, Object.keys(operators)));
      return operator({ name, operand, expressions });
    }
  }
}

function literal(value: JsonValue): ExpressionValue {
  if (typeof value === 'string') return { type: 'text', sql: sql`${storable(value)}::text` };
  if (typeof value === 'boolean') return { type: 'boolean', sql: sql`${value}::boolean` };
  if (typeof value === 'number' || isExactNumber(value))
    return { type: 'number', sql: sql`${jsonText(value)}::numeric` };
  return { type: 'json', sql: value === null ? JSON_NULL : sql`${storableJson(value)}::jsonb` };
}

function variable(
  { name, path }: Extract<Expression, { kind: 'variable' }>,
  { root, context, variables }: Expressions,
): ExpressionValue {
  if (name === 'ROOT') return { type: 'json', sql: root.json };
  if (name === 'REMOVE') return { type: 'json', sql: sql.raw('null::jsonb') };
  if (name === 'NOW' && path.length === 0)
    return { type: 'text', sql: sql`${context.now.toISOString()}::text` };
  const value = variables.get(name);
  if (value === undefined) {
    const known = ['ROOT', 'CURRENT', 'NOW', 'REMOVE', ...variables.keys()].map((one) => `$$${one}`);
    throw malformed(`There is no variable $$${name}; there are ${known.join(', ')}.`, known.join(', '), name);
  }
  return {
    type: 'json',
    sql: path.length === 0 ? value : sql`doc_value(${value}, ${path.map(storable)}::text[])`,
  };
}

/** Members that are missing are left out. */
export function objectOf(members: readonly (readonly [string, ExpressionValue])[]): ExpressionValue {
  if (members.length === 0) return { type: 'json', sql: sql.raw(`'{}'::jsonb`) };
  const pairs = members.map(([name, value]) => sql`${storable(name)}::text, ${toJson(value)}`);
  if (members.length <= 50 && members.every(([, { type }]) => type !== 'json'))
    return { type: 'json', sql: sql`jsonb_build_object(${sql.join(pairs, ', ')})` };
  return {
    type: 'json',
    sql: sql`(
  select coalesce(jsonb_object_agg(m.name, m.value) filter (where m.value is not null), '{}')
  from (values ${sql.join(pairs, '), (', '(', ')')}) as m(name, value)
)`,
  };
}

/** jsonb, null where the value is missing. */
export function toJson({ type, sql: value }: ExpressionValue): Sql {
  switch (type) {
    case 'json':
      return value;
    case 'number':
      return sql`coalesce(to_jsonb(trim_scale(${value})), ${JSON_NULL})`;
    case 'text':
      return sql`coalesce(to_jsonb(${value}), ${JSON_NULL})`;
    case 'boolean':
      return sql`to_jsonb(${value})`;
  }
}

/** A null instead of a value that is missing. */
export function orNull(value: Sql): Sql {
  return sql`coalesce(${value}, ${JSON_NULL})`;
}

/** numeric; null for what is no number. */
export function toNumber({ type, sql: value }: ExpressionValue): Sql {
  if (type === 'json') return sql`to_number(${value})`;
  return type === 'number' ? value : sql.raw('null::numeric');
}

/** text; null for what is none. */
function toText({ type, sql: value }: ExpressionValue): Sql {
  if (type === 'json') return sql`doc_text(${value})`;
  return type === 'text' ? value : sql.raw('null::text');
}

/** Whether the value counts as true. Never null. */
export function toCondition({ type, sql: value }: ExpressionValue): Sql {
  switch (type) {
    case 'json':
      return sql`doc_is_true(${value})`;
    case 'number':
      return sql`(coalesce(${value}, 0) <> 0)`;
    case 'text':
      return sql`(${value} is not null)`;
    case 'boolean':
      return value;
  }
}

function toList(value: ExpressionValue): Sql {
  return fill(`(case jsonb_typeof($1) when 'array' then $1 end)`, [toJson(value)]);
}

const WHOLE = '(case when $1 = trunc($1) and abs($1) < 1000000000 then ($1)::int end)';

/** How a template takes an operand: as SQL of a type, null for what is of another. */
const READERS: Readonly<Record<string, (value: ExpressionValue) => Sql>> = {
  json: toJson,
  number: toNumber,
  text: toText,
  truth: toCondition,
  whole: (value) => fill(WHOLE, [toNumber(value)]),
  /** Digits after the decimal point are cut off. */
  cut: (value) => fill(WHOLE, [sql`trunc(${toNumber(value)})`]),
  list: toList,
  object: (value) =>
    fill(
      `(case coalesce(jsonb_typeof($1), 'null') when 'object' then $1 when 'null' then '{}'
        else doc_refuse('$mergeObjects: a value is not an object.') end)`,
      [toJson(value)],
    ),
  /** A number as its digits; what is null or missing is the empty text. */
  printed: (value) =>
    value.type === 'text'
      ? sql`coalesce(${value.sql}, '')`
      : fill(
          `(case when coalesce($1, 'null') = 'null' then ''
            when jsonb_typeof($1) in ('string', 'number') then $1 #>> '{}' end)`,
          [toJson(value)],
        ),
  /** An instant as stored, or a day, which is its midnight in UTC. */
  time: (value) =>
    fill(`coalesce(instant_of($1), day_of($1)::timestamp at time zone 'UTC')`, [toText(value)]),
};

/** Shorter texts may stand in a statement several times. */
const SHORT = 200;

/**
 * The template with `$1`, `$2` … replaced. A long value that is named more than once is computed once, in a
 * row of its own: operators within operators would double the statement with every level.
 */
export function fill(template: string, values: readonly Sql[]): Sql {
  const pieces = template.split(/\$(\d)/);
  const texts = pieces.filter((_piece, index) => index % 2 === 0);
  const places = pieces.filter((_piece, index) => index % 2 === 1).map((digit) => Number(digit) - 1);
  const isLong = values.some(
    ({ sql: text }, at) => text.length > SHORT && places.filter((one) => one === at).length > 1,
  );
  const filled = (by: readonly Sql[]) =>
    places.length === 0
      ? sql.raw(template)
      : new Sql(
          texts,
          places.map((at) => by[at] ?? JSON_NULL),
        );
  if (!isLong) return filled(values.map((value) => sql`(${value})`));
  const columns = values.map((value, index) => sql`${value} as ${sql.raw(`v${index}`)}`);
  const names = values.map((_value, index) => sql.raw(`o.v${index}`));
  // `offset 0` keeps Postgres from putting it back in.
  return sql`(select ${filled(names)} from (select ${sql.join(columns, ', ')} offset 0) as o)`;
}

/** `value`: jsonb whose SQL null is null, not missing. */
type Result = ExpressionValue['type'] | 'value';

export function resultOf(result: Result, value: Sql): ExpressionValue {
  const whole = sql`(${value})`;
  return result === 'value' ? { type: 'json', sql: orNull(whole) } : { type: result, sql: whole };
}

/**
 * An operator by the SQL of its result. `operands` lists how the operands are read, by the names of
 * `READERS`: `'text whole'` are two in a list, `'input:text by:text'` two by name; `=…` makes one optional,
 * with that SQL in its place. A template may depend on operands that are written out.
 */
export function byTemplate(
  result: Result,
  operands: string,
  template: string | ((operation: Operation) => string),
): CompileOperator {
  const read = reader(operands);
  return (operation) => {
    const values = read(operation);
    return resultOf(result, fill(typeof template === 'string' ? template : template(operation), values));
  };
}

/** One of the operands by name. */
export function operandOf({ operand }: Operation, name: string): Expression | undefined {
  return operand.kind === 'object' ? operand.members.find((one) => one.name === name)?.value : undefined;
}

/** The operands of an operation as SQL. */
export function reader(operands: string): (operation: Operation) => readonly Sql[] {
  const wanted = operands.split(' ').map((one) => {
    const [, name, kind = '', other] = /^(?:(\w+):)?(\w+)(?:=(.*))?$/s.exec(one) ?? [];
    return { name, kind, other };
  });
  const required = wanted.filter(({ other }) => other === undefined);
  const isNamed = wanted[0]?.name !== undefined;
  return (operation) => {
    const given = isNamed
      ? named(operation, {
          required: required.map(({ name = '' }) => name),
          optional: wanted.map(({ name = '' }) => name),
        })
      : severalOf(operation, { least: required.length, most: wanted.length });
    return wanted.map(({ name, kind, other = '' }, index) => {
      const each = Array.isArray(given) ? given[index] : (given as Record<string, Expression>)[name ?? ''];
      if (each === undefined) return sql.raw(other);
      if (kind === 'zone') return zoneOf(each);
      if (kind === 'name') return nameOf(operation, each);
      return (READERS[kind] ?? toJson)(compileExpression(each, operation.expressions));
    });
  };
}

/** An operator of any number of operands, by what stands between them. `empty` is the result of none. */
export function joined(result: Result, kind: string, separator: string, empty?: string): CompileOperator {
  return (operation) => {
    const operands = severalOf(operation, { least: empty === undefined ? 1 : 0 });
    if (operands.length === 0) return resultOf(result, sql.raw(empty ?? 'null'));
    const values = operands.map((each) =>
      (READERS[kind] ?? toJson)(compileExpression(each, operation.expressions)),
    );
    return resultOf(result, sql.join(values, separator, '(', ')'));
  };
}

/** The nearest double, as JSON numbers of other programs are: a cast to numeric keeps fifteen digits. */
export const double = (template: string) => `((${template})::float8)::text::numeric`;

const OFFSET = /^([+-])(\d{2})(?::?(\d{2}))?$/;

/** A name of the IANA list, or an offset, which Postgres reads the right way only as an interval. */
function zoneOf(timeZone: Expression): Sql {
  if (timeZone.kind === 'literal' && timeZone.value === null) return sql.raw('null::text');
  const name = literalText(timeZone);
  if (name === undefined) throw notSupported('a computed timezone');
  const [, sign, hours, minutes = '00'] = OFFSET.exec(name) ?? [];
  if (sign !== undefined) return sql`(${`${sign}${hours}:${minutes}`}::interval)`;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    throw malformed(
      `There is no timezone "${name}"; give a name such as Asia/Kolkata, or an offset such as +05:30.`,
      'a time zone',
      name,
    );
  }
  return sql`${name}::text`;
}

/** The name of a field, which is written out. */
function nameOf(operation: Operation, field: Expression): Sql {
  const name = literalText(field);
  if (name === undefined) throw wrongOperands(operation, 'the name of a field as a text');
  return sql`${storable(name)}::text`;
}

/** The operands in a list, or the one that stands alone. */
export function severalOf(
  operation: Operation,
  { least = 1, most = Number.POSITIVE_INFINITY }: { least?: number; most?: number } = {},
): readonly Expression[] {
  const { operand } = operation;
  const elements = operand.kind === 'list' ? operand.elements : [operand];
  if (elements.length >= least && elements.length <= most) return elements;
  if (most === 1) throw wrongOperands(operation, 'one operand');
  const upTo = Number.isFinite(most) ? `${least} to ${most}` : `at least ${least}`;
  throw wrongOperands(operation, `a list of ${least === most ? least : upTo} operands`);
}

/** Operands by name, all of the `required` and any of the `optional` ones. */
export function named<Required extends string, Optional extends string = never>(
  operation: Pick<Operation, 'name' | 'operand'>,
  {
    required,
    optional = [],
  }: { readonly required: readonly Required[]; readonly optional?: readonly Optional[] },
): Readonly<Record<Required, Expression>> & Readonly<Partial<Record<Optional, Expression>>> {
  const { operand } = operation;
  const names = [...new Set<string>([...required, ...optional])];
  const members = new Map(
    operand.kind === 'object' ? operand.members.map(({ name, value }) => [name, value]) : [],
  );
  const isRight =
    operand.kind === 'object' &&
    required.every((name) => members.has(name)) &&
    [...members.keys()].every((name) => names.includes(name));
  if (!isRight) throw wrongOperands(operation, `an object of ${names.join(', ')}`);
  return Object.fromEntries(members) as Record<Required, Expression> & Partial<Record<Optional, Expression>>;
}

/** The operand as a list; null for what is none. */
export function listOf(operand: Expression, expressions: Expressions): Sql {
  return toList(compileExpression(operand, expressions));
}

/** The operand as jsonb. */
export function jsonOf(operand: Expression, expressions: Expressions): Sql {
  return toJson(compileExpression(operand, expressions));
}

/** The name of a variable that an expression defines. */
export function variableName(operation: Operation, name: string): string {
  if (/^[a-z][A-Za-z0-9_]*$/.test(name)) return name;
  throw wrongOperands(
    operation,
    `variables named by letters, digits and _ that begin with a small letter, not "${name}"`,
  );
}

/** The text of a literal; `undefined` for anything that is computed. */
export function literalText(expression: Expression | undefined): string | undefined {
  const value = expression?.kind === 'literal' ? expression.value : undefined;
  return typeof value === 'string' ? value : undefined;
}

export function literalInteger(expression: Expression | undefined): number | undefined {
  const value = expression?.kind === 'literal' ? expression.value : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

export function wrongOperands({ name }: Pick<Operation, 'name'>, expected: string): ServiceError {
  return malformed(`${name} takes ${expected}.`, expected, name);
}

/** There is no such operator here, or not with these operands. */
export function notSupported(what: string, hint = ''): ServiceError {
  const detail = `${what} is not supported; the manual lists the operators (platform.db).${hint}`;
  return malformed(detail, 'a supported operator', what);
}

function malformed(detail: string, expected: string, sent: string): ServiceError {
  return faultAt('MALFORMED_FILTER', detail, { expected, sent });
}
