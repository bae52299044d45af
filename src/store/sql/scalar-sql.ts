/** The scalar types in SQL: how to convert a value of a record to an SQL type, and how to print it. */

import type { ScalarName } from '../../base/model/field-types/scalar-types.js';
import { type Sql, sql } from '../sql.js';
import type { FieldExpression } from './names.js';

interface ScalarSql {
  /** The SQL type that values are compared and counted as. */
  readonly sqlType: 'text' | 'numeric' | 'boolean' | 'timestamptz' | 'date';
  /** Converts a value; null if it does not fit the type, or the `allowed` values of a declared enum. */
  readonly read: (field: FieldExpression, allowed: readonly string[] | undefined) => Sql;
  /** Prints a value of the SQL type as JSON. */
  readonly print: (value: Sql) => Sql;
}

const asItIs = (value: Sql): Sql => value;

const TEXT: ScalarSql = {
  sqlType: 'text',
  read: ({ json, text }, allowed) => {
    const isText = sql`jsonb_typeof(${json}) = 'string'`;
    const fits = allowed === undefined ? isText : sql`${isText} and ${text} = any(${[...allowed]}::text[])`;
    return sql`case when ${fits} then ${text} end collate "C"`;
  },
  print: asItIs,
};

const NUMBER: ScalarSql = {
  sqlType: 'numeric',
  read: ({ json }) => sql`case when jsonb_typeof(${json}) = 'number' then ${json}::numeric end`,
  // 5 and 5.0 are equal and print alike.
  print: (value) => sql`trim_scale(${value})`,
};

export const SCALAR_SQL: Readonly<Record<ScalarName, ScalarSql>> = {
  boolean: {
    sqlType: 'boolean',
    read: ({ json }) => sql`case when jsonb_typeof(${json}) = 'boolean' then ${json}::boolean end`,
    print: asItIs,
  },
  number: NUMBER,
  decimal: NUMBER,
  datetime: {
    sqlType: 'timestamptz',
    read: ({ text }) => sql`instant_of(${text})`,
    print: (value) => sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  },
  date: {
    sqlType: 'date',
    read: ({ text }) => sql`day_of(${text})`,
    print: (value) => sql`to_char(${value}, 'YYYY-MM-DD')`,
  },
  text: TEXT,
  month: {
    sqlType: 'text',
    read: ({ text }) => sql`case when ${text} ~ '^\\d{4}-(0[1-9]|1[0-2])$' then ${text} end collate "C"`,
    print: asItIs,
  },
  session: TEXT,
  phone: TEXT,
  email: TEXT,
};

/** The SQL type to cast to. */
export function castOf(name: ScalarName): Sql {
  return sql.raw(SCALAR_SQL[name].sqlType);
}
