/**
 * SQL composed of texts and parameters: every substitution in `sql` is a parameter, unless it is an `Sql`
 * itself. The class is that of Prisma, whose adapter runs the statements; threads compose SQL without its client.
 */
import { empty, join, raw, Sql, sql as tag } from '@prisma/client-runtime-utils';

export { Sql };

/**
 * The tag of every statement; `sql.join` puts a separator between parts, `sql.raw` takes text of our own only.
 */
export const sql = Object.assign((texts: readonly string[], ...values: unknown[]) => tag(texts, ...values), {
  join,
  raw,
  empty,
});

/** The conditions that apply, all of which must hold. */
export function allHold(conditions: readonly (Sql | false)[]): Sql {
  return sql.join(
    conditions.filter((condition) => condition !== false),
    ' and ',
  );
}

/** All of the filters, or any of them: of none, all hold and none does. */
export function combined<Filter>(
  { kind, filters }: { readonly kind: 'all' | 'any'; readonly filters: readonly Filter[] },
  compile: (filter: Filter) => Sql,
): Sql {
  if (filters.length === 0) return sql.raw(String(kind === 'all'));
  return sql.join(filters.map(compile), kind === 'all' ? ' and ' : ' or ', '(', ')');
}

/** A declared name (of a collection, field or rule) as an SQL literal. */
export function nameLiteral(name: string): Sql {
  return sql.raw(`'${name.replaceAll("'", "''")}'`);
}
