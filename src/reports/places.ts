/** What a report asked about must exist, and be within the caller's reach: a class, a section, a student. */
import { ServiceError } from '../errors.js';
import { Prisma } from '../generated/prisma/client.js';
import type { ReportContext } from './report.js';

/**
 * A teacher may ask about a section taught, or about a class with one: the statement then shows the sections taught alone.
 *
 * @throws NOT_FOUND (404) for a class or a section that the school does not have, FORBIDDEN (403) for one the caller does not teach.
 */
export async function assertClass(
  { services, scope, domain, sections }: ReportContext,
  className: string,
  section?: string | undefined,
): Promise<void> {
  const [found] = await services.database.query<{ sections: readonly string[]; taught: boolean }>(
    Prisma.sql`
select
  coalesce(jsonb_path_query_array(r.data, '$.sections[*].name'), '[]') as sections,
  ${sections}::jsonb is null or exists (
    select from jsonb_array_elements(${sections}::jsonb) as taught
    where taught->>0 = ${className} and (${section ?? null}::text is null or taught->>1 = ${section ?? null}::text)
  ) as taught
from records r
where r.domain = ${domain} and r.collection = 'class' and r.deleted_at is null and r.data->'name' = to_jsonb(${className}::text)
limit 1`,
    scope.signal ? { signal: scope.signal } : {},
  );
  if (!found) throw unknown('class', className, `There is no class ${JSON.stringify(className)}.`);
  if (section !== undefined && !found.sections.includes(section)) {
    const detail = `Class ${className} has no section ${JSON.stringify(section)}; it has ${found.sections.join(', ')}.`;
    throw unknown('section', section, detail);
  }
  if (!found.taught) {
    const place = section === undefined ? `class ${className}` : `section ${section} of class ${className}`;
    throw new ServiceError(
      'FORBIDDEN',
      `Teachers see the sections they teach, and ${place} is none of them.`,
    );
  }
}

/** @throws NOT_FOUND (404) for an admission number nobody has; a teacher knows those of the sections taught alone. */
export async function assertStudent(
  { services, scope, domain, sections }: ReportContext,
  admissionNo: string,
): Promise<void> {
  const [found] = await services.database.query(
    Prisma.sql`
select r.id
from records r
where r.domain = ${domain} and r.collection = 'registration' and r.deleted_at is null
  and r.data->'sequence' = to_jsonb(${admissionNo}::text)
  and (${sections}::jsonb is null or ${sections}::jsonb @> jsonb_build_array(jsonb_build_array(r.data->'class', r.data->'section')))
limit 1`,
    scope.signal ? { signal: scope.signal } : {},
  );
  if (!found)
    throw unknown(
      'admission_no',
      admissionNo,
      `There is no student with the admission number ${JSON.stringify(admissionNo)}.`,
    );
}

/**
 * A teacher knows the own days alone.
 *
 * @throws NOT_FOUND (404) for an id no staff member has, FORBIDDEN (403) for a colleague's.
 */
export async function assertStaff(
  { services, scope, domain, sections }: ReportContext,
  userId: string,
): Promise<void> {
  if (sections !== null && scope.principal.id !== userId)
    throw new ServiceError('FORBIDDEN', 'Teachers see their own days, and these are those of somebody else.');
  const [found] = await services.database.query(
    Prisma.sql`
select r.id
from records r
where r.domain = ${domain} and r.collection = 'pltf_user' and r.deleted_at is null and r.id = ${userId}`,
    scope.signal ? { signal: scope.signal } : {},
  );
  if (!found)
    throw unknown('name.value', userId, `There is no staff member with the ID ${JSON.stringify(userId)}.`);
}

function unknown(parameter: string, sent: string, detail: string): ServiceError {
  return new ServiceError('NOT_FOUND', detail, { errors: [{ parameter, detail, sent }] });
}
