/** Conditions on the class and section of a record: the requested ones, and those a teacher may see. */
import { type Sql, sql } from '../../../store/sql.js';
import { json } from '../engine/statement.js';

/** The records `r`, or the stays of students, of a class and section; without these, all. */
export function isInPlace(className: string | null, section: string | null, of: 'r' | 'stay' = 'r'): Sql {
  const data = sql.raw(`${of}.data`);
  return sql`(${className}::text is null or ${data}->'class' = ${json(className)}::jsonb)
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
  const pair = sql`jsonb_build_array(jsonb_build_array(${className}, ${section}))`;
  return sql`(${sections}::jsonb is null or ${sections}::jsonb @> ${pair})`;
}

const OF_RECORD = { className: sql`r.data->'class'`, section: sql`r.data->'section'` };
