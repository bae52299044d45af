/** Conditions on the class and section of a record: the requested ones, and those a teacher may see. */
import { Prisma } from '../../../generated/prisma/client.js';
import type { Sql } from '../../../generated/prisma/internal/prismaNamespace.js';
import { json } from '../engine/statement.js';

/** The records `r`, or the stays of students, of a class and section; without these, all. */
export function isInPlace(className: string | null, section: string | null, of: 'r' | 'stay' = 'r'): Sql {
  const data = Prisma.raw(`${of}.data`);
  return Prisma.sql`(${className}::text is null or ${data}->'class' = ${json(className)}::jsonb)
    and (${section}::text is null or ${data}->'section' = ${json(section)}::jsonb)`;
}

/**
 * Records of a section that a teacher teaches; all if `sections` is null. Class and section are SQL
 * expressions, JSON or text.
 */
export function isInSections(
  sections: string | null,
  { className, section }: { readonly className: Sql; readonly section: Sql } = OF_RECORD,
): Sql {
  const pair = Prisma.sql`jsonb_build_array(jsonb_build_array(${className}, ${section}))`;
  return Prisma.sql`(${sections}::jsonb is null or ${sections}::jsonb @> ${pair})`;
}

const OF_RECORD = { className: Prisma.sql`r.data->'class'`, section: Prisma.sql`r.data->'section'` };
