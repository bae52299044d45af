/**
 * SQL composed of texts and parameters: every substitution in `sql` is a parameter, unless it is an `Sql`
 * itself. The class is that of Prisma, whose adapter runs the statements.
 */
import { Prisma } from '../generated/prisma/client.js';

export type Sql = Prisma.Sql;
export const Sql = Prisma.Sql;

/**
 * The tag of every statement; `sql.join` puts a separator between parts, `sql.raw` takes text of our own only.
 */
export const sql = Object.assign(
  (texts: readonly string[], ...values: unknown[]) => Prisma.sql(texts, ...values),
  {
    join: Prisma.join,
    raw: Prisma.raw,
    empty: Prisma.empty,
  },
);
