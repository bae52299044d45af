import { Prisma } from '../../generated/prisma/client.js';
import type { Sql } from '../../generated/prisma/internal/prismaNamespace.js';

/**
 * A list in a record; empty where there is none, or something else: one such record must not fail a report.
 */
export function listOrEmpty(value: Sql): Sql {
  return Prisma.sql`case when jsonb_typeof(${value}) = 'array' then ${value} else '[]' end`;
}
