/**
 * What an expression computes, as SQL of a known type, so that a chain of operators converts to jsonb once.
 */
import { Prisma } from '../../generated/prisma/client.js';

type Sql = Prisma.Sql;

/**
 * `json`: jsonb, null where the value is missing. `number` (numeric) and `text`: null is a null that is
 * there. `boolean`: never null.
 */
export interface ExpressionValue {
  readonly type: 'json' | 'number' | 'text' | 'boolean';
  readonly sql: Sql;
}

export function sqlJson(sql: Sql): ExpressionValue {
  return { type: 'json', sql };
}

export function sqlNumber(sql: Sql): ExpressionValue {
  return { type: 'number', sql };
}

export function sqlText(sql: Sql): ExpressionValue {
  return { type: 'text', sql };
}

export function sqlBoolean(sql: Sql): ExpressionValue {
  return { type: 'boolean', sql };
}

export const JSON_NULL = Prisma.raw(`'null'::jsonb`);

/** jsonb, in whose place the statement fails with the reason. */
export function refusal(reason: string): Sql {
  return Prisma.sql`doc_refuse(${reason})`;
}

/** jsonb, null where the value is missing. */
export function toJson({ type, sql }: ExpressionValue): Sql {
  switch (type) {
    case 'json':
      return sql;
    case 'number':
      return Prisma.sql`coalesce(to_jsonb(trim_scale(${sql})), ${JSON_NULL})`;
    case 'text':
      return Prisma.sql`coalesce(to_jsonb(${sql}), ${JSON_NULL})`;
    case 'boolean':
      return Prisma.sql`to_jsonb(${sql})`;
  }
}

/** numeric; null for what is no number. */
export function toNumber({ type, sql }: ExpressionValue): Sql {
  switch (type) {
    case 'json':
      return Prisma.sql`to_number(${sql})`;
    case 'number':
      return sql;
    case 'text':
    case 'boolean':
      return Prisma.raw('null::numeric');
  }
}

/** text; null for what is none. */
export function toText({ type, sql }: ExpressionValue): Sql {
  switch (type) {
    case 'json':
      return Prisma.sql`doc_text(${sql})`;
    case 'text':
      return sql;
    case 'number':
    case 'boolean':
      return Prisma.raw('null::text');
  }
}

/** Whether the value counts as true. Never null. */
export function toCondition({ type, sql }: ExpressionValue): Sql {
  switch (type) {
    case 'json':
      return Prisma.sql`doc_is_true(${sql})`;
    case 'number':
      return Prisma.sql`(coalesce(${sql}, 0) <> 0)`;
    case 'text':
      return Prisma.sql`(${sql} is not null)`;
    case 'boolean':
      return sql;
  }
}

/** int; null for what is no whole number. */
export function toInteger(value: ExpressionValue): Sql {
  return once(
    toNumber(value),
    (of) => Prisma.sql`(case when ${of} = trunc(${of}) and abs(${of}) < 1000000000 then (${of})::int end)`,
  );
}

/** A null instead of a value that is missing. */
export function orNull(value: Sql): Sql {
  return Prisma.sql`coalesce(${value}, ${JSON_NULL})`;
}

/** What is shorter may stand in a statement several times. */
const SHORT = 200;

/**
 * SQL that names a value more than once. A long value is computed once, in a row of its own: operators within
 * operators, each of which wrote its operand twice, would double the statement with every level.
 */
export function once(value: Sql, use: (value: Sql) => Sql): Sql {
  if (value.sql.length <= SHORT) return use(value);
  // `offset 0` keeps Postgres from putting it back in.
  return Prisma.sql`(select ${use(Prisma.raw('o.v'))} from (select ${value} as v offset 0) as o)`;
}

/** As `once`, for several values, whatever their length. */
export function onceEach(values: readonly Sql[], use: (...values: Sql[]) => Sql): Sql {
  const names = values.map((_value, index) => Prisma.raw(`o.v${index}`));
  const columns = values.map((value, index) => Prisma.sql`${value} as ${Prisma.raw(`v${index}`)}`);
  return Prisma.sql`(select ${use(...names)} from (select ${Prisma.join(columns, ', ')} offset 0) as o)`;
}
