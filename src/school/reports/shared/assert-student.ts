/** Checks that the student or staff member in a parameter exists and may be seen by the caller. */
import { ServiceError } from '../../../base/errors.js';
import { liveRecordsIn, liveRecordsNamed } from '../../../store/sql/records-of.js';
import { sql } from '../../../store/sql.js';
import type { ReportContext } from '../engine/report-context.js';
import { json } from '../engine/statement.js';
import { isInSections } from './place-conditions.js';

/**
 * The admission number as the school spells it.
 *
 * @throws NOT_FOUND (404) for an unknown admission number; a teacher knows only students of the sections
 *   taught.
 */
export async function assertStudent(
  { services, scope, domain, sections }: ReportContext,
  admissionNo: string,
): Promise<{ readonly admissionNo: string }> {
  const [found] = await services.database.query<{ sequence: string }>(
    sql`
select r.data->>'sequence' as sequence
from records r
where ${liveRecordsNamed({ domain }, 'registration', { field: 'sequence', text: admissionNo })}
  and ${isInSections(sections)}
order by r.data->'sequence' = ${json(admissionNo)}::jsonb desc
limit 1`,
    scope.signal ? { signal: scope.signal } : {},
  );
  if (found) return { admissionNo: found.sequence };
  const detail = `There is no student with the admission number ${JSON.stringify(admissionNo)}.`;
  throw unknown('admission_no', admissionNo, detail);
}

/** Points out an id that neither a student nor a concession has: the report is empty then. @see reports 4 */
export async function hintAtStudentId({ services, scope, domain }: ReportContext, id: string): Promise<void> {
  if (scope.onHint === undefined) return;
  const [found] = await services.database.query(
    sql`
select r.id
from records r
where ${liveRecordsIn(domain, 'registration')} and r.id = ${id}
union all
select r.id
from records r
where ${liveRecordsIn(domain, 'fee_concession')} and r.data->'name'->'value' = ${json(id)}::jsonb
limit 1`,
    scope.signal ? { signal: scope.signal } : {},
  );
  if (!found) scope.onHint(`There is no student with the ID ${JSON.stringify(id)}.`);
}

/**
 * A teacher may see only the own days.
 *
 * @throws NOT_FOUND (404) for an unknown id, FORBIDDEN (403) for a colleague's.
 */
export async function assertStaff(
  { services, scope, domain, sections }: ReportContext,
  userId: string,
): Promise<void> {
  if (sections !== null && scope.principal.id !== userId)
    throw new ServiceError('FORBIDDEN', 'Teachers see their own days, and these are those of somebody else.');
  const [found] = await services.database.query(
    sql`
select r.id
from records r
where ${liveRecordsIn(domain, 'pltf_user')} and r.id = ${userId}`,
    scope.signal ? { signal: scope.signal } : {},
  );
  if (!found)
    throw unknown('name.value', userId, `There is no staff member with the ID ${JSON.stringify(userId)}.`);
}

function unknown(parameter: string, sent: string, detail: string): ServiceError {
  return new ServiceError('NOT_FOUND', detail, { errors: [{ parameter, detail, sent }] });
}
