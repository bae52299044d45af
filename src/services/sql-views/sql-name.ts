/**
 * Statements that define something take no parameters. They are nevertheless composed with parameters:
 * PostgreSQL itself puts values and names into the text, by `format` with %L and %I, so that no text can
 * become SQL by a mistake in quoting.
 */
import { invariant } from '../../base/errors.js';
import type { Queryable } from '../../store/database/queryable.js';
import { Sql, sql } from '../../store/sql.js';

/** A name in a statement, e.g. of a column: any text of at most 63 bytes without a zero byte. */
class SqlName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The name as a part of a statement for `runDefinition`. */
export function sqlName(name: string): Sql {
  return sql`${new SqlName(name)}`;
}

/** The statement with its values and names in place. */
export async function definitionText(database: Queryable, statement: Sql): Promise<string> {
  const { template, operands } = toFormat(statement);
  const [row] = await database.query<{ text: string }>(
    sql`select format(${template}::text, variadic ${[...operands]}::text[]) as text`,
  );
  invariant(row, 'format gives a row');
  return row.text;
}

export async function runDefinition(database: Queryable, statement: Sql): Promise<void> {
  await database.query(sql.raw(await definitionText(database, statement)));
}

/** A fingerprint that equal statements share. */
export function definitionKey(statement: Sql): string {
  return JSON.stringify(toFormat(statement));
}

function toFormat({ strings, values }: Sql): {
  readonly template: string;
  readonly operands: readonly string[];
} {
  const parts = strings.map((text) => text.replaceAll('%', '%%'));
  const marks = values.map((value) => (value instanceof SqlName ? '%I' : '%L'));
  return {
    template: parts.map((part, index) => part + (marks[index] ?? '')).join(''),
    operands: values.map(toOperand),
  };
}

function toOperand(value: unknown): string {
  if (value instanceof SqlName) return value.name;
  if (Array.isArray(value)) return `{${value.map((element) => quoteElement(String(element))).join(',')}}`;
  invariant(
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
    'a definition has texts, numbers and lists of texts',
  );
  return String(value);
}

/** An element of the text of an array. */
function quoteElement(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
