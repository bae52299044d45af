/**
 * Checks that classes, sections, fee heads, departments and roles in parameters exist. With a misspelt name,
 * a report would answer that nobody owes, or that nobody is there.
 *
 * A name exists if its class or fee head has a record, or if other records still refer to it although its
 * record is gone: a report can then still be computed.
 */

import { faultAt, ServiceError } from '../../../base/errors.js';
import { foldText } from '../../../base/model/normal-text.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import { liveRecordsById, liveRecordsIn, liveRecordsNamed } from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';
import type { ReportContext } from '../engine/report-context.js';
import { json } from '../engine/statement.js';
import { isInPlace, isInSections, listOrEmpty } from './record-parts.js';

interface Place {
  readonly class?: string | undefined;
  readonly section?: string | undefined;
}

interface SpelledPlace {
  class?: string;
  section?: string;
}

export interface KnownClass {
  readonly name: string;
  readonly sections: readonly string[];
}

/**
 * Checks that the school has the class and section, and that the caller may see them. A section without a
 * class may belong to any class. A teacher may ask for a section taught, or for a class with one: the
 * statement then shows only the sections taught. Returns the place as the school spells it.
 *
 * @throws NOT_FOUND (404) for a class or a section that the school does not have, FORBIDDEN (403) for one the
 *   caller does not teach.
 */
export async function assertPlace(
  { class: className, section }: Place,
  context: ReportContext,
): Promise<SpelledPlace> {
  if (className === undefined && section === undefined) return {};
  const classes = await query<KnownClass>(classesOf(context.domain), context);
  const names = classes.map(({ name }) => name);
  const place: SpelledPlace = {
    ...(className !== undefined && { class: ownSpelling(className, names) ?? className }),
    ...(section !== undefined && { section }),
  };
  const known = await findSections(place.class, classes, context);
  if (known === undefined) {
    throw unknownName('class', className ?? '', { sentence: 'There is no class', known: names });
  }
  if (section !== undefined) {
    const spelled = ownSpelling(section, known);
    if (spelled !== undefined) place.section = spelled;
    else if (!(await isRegistered(place, context))) throw unknownSection(place, known);
  }
  assertTaught(place, context);
  return place;
}

/** The name as the school spells it, whatever its case and blanks; `undefined` if it is none of these. */
export function ownSpelling(sent: string, known: readonly string[]): string | undefined {
  if (known.includes(sent)) return sent;
  const folded = foldText(sent);
  return known.find((name) => foldText(name) === folded);
}

function unknownSection({ class: className, section }: Place, known: readonly string[]): ServiceError {
  const owner = className === undefined ? 'No class has a section' : `Class ${className} has no section`;
  const there = `${className === undefined ? 'there are' : 'it has'} ${listNames(known)}`;
  const detail = `${owner} ${JSON.stringify(section)}${known.length === 0 ? '' : `; ${there}`}.`;
  const expected = `one of ${listNames(known)}`;
  return faultAt('NOT_FOUND', detail, { parameter: 'section', expected, sent: section });
}

/**
 * The fee head as the school spells it.
 *
 * @throws NOT_FOUND (404) for a fee head without a record and without dues
 */
export async function assertFeeHead(
  feeHead: string | undefined,
  context: ReportContext,
): Promise<{ readonly feeHead?: string }> {
  if (feeHead === undefined) return {};
  const { domain } = context;
  const heads = await query<{ name: string }>(
    sql`
select r.data->>'name' as name
from records r
where ${liveRecordsIn(domain, 'fee_head')} and r.data->>'name' is not null
order by to_number(r.data->'order'), name`,
    context,
  );
  const names = heads.map(({ name }) => name);
  const spelled = ownSpelling(feeHead, names);
  if (spelled !== undefined) return { feeHead: spelled };
  const isDue = sql`${liveRecordsIn(domain, 'fee_due')} and r.data->'fee_head' = ${json(feeHead)}::jsonb`;
  if (await isThere(isDue, context)) return { feeHead };
  throw unknownName('fee_head', feeHead, { sentence: 'There is no fee head', known: names });
}

/**
 * The department as the school spells it.
 *
 * @throws NOT_FOUND (404) for a department without staff
 */
export async function assertDepartment(
  department: string | undefined,
  context: ReportContext,
): Promise<{ readonly department?: string }> {
  if (department === undefined) return {};
  const known = await listOfStaff(sql`r.data->>'department'`, context);
  const spelled = ownSpelling(department, known);
  if (spelled !== undefined) return { department: spelled };
  throw unknownName('department', department, { sentence: 'There is no department', known });
}

/** @throws NOT_FOUND (404) for a text that occurs in no role of the staff */
export async function assertRole(role: string, context: ReportContext): Promise<void> {
  const known = await listOfStaff(
    sql`jsonb_array_elements_text(${listOrEmpty(sql`r.data->'roles'`)})`,
    context,
  );
  if (known.some((held) => held.includes(role))) return;
  throw unknownName('roles', role, { sentence: 'Nobody has a role with', known });
}

/** The classes of the school with their sections, in order. */
export function classesOf(domain: string): Sql {
  return sql`
select r.data->>'name' as name, coalesce(jsonb_path_query_array(r.data, '$.sections[*].name'),
  '[]') as sections
from records r
where ${liveRecordsIn(domain, 'class')} and r.data->>'name' is not null
order by to_number(r.data->'order'), name`;
}

/** The sections of a class, or of all classes; `undefined` if the class does not exist. */
async function findSections(
  className: string | undefined,
  classes: readonly KnownClass[],
  context: ReportContext,
): Promise<readonly string[] | undefined> {
  if (className === undefined) return [...new Set(classes.flatMap(({ sections }) => sections))].sort();
  const found = classes.find(({ name }) => name === className);
  if (found) return found.sections;
  return (await isRegistered({ class: className }, context)) ? [] : undefined;
}

/** Whether a student is registered there. */
async function isRegistered({ class: className, section }: Place, context: ReportContext): Promise<boolean> {
  const isHere = isInPlace(className ?? null, section ?? null);
  return await isThere(sql`${liveRecordsIn(context.domain, 'registration')} and ${isHere}`, context);
}

/** Whether a record satisfies the condition over `r`. */
async function isThere(condition: Sql, context: ReportContext): Promise<boolean> {
  const statement = sql`
select r.id
from records r
where ${condition}
limit 1`;
  return (await query(statement, context)).length > 0;
}

/** @throws FORBIDDEN (403) */
function assertTaught({ class: className, section }: Place, { sections }: ReportContext): void {
  if (sections === null) return;
  const taught: readonly (readonly unknown[])[] = JSON.parse(sections);
  const isTaught = taught.some(
    ([taughtClass, taughtSection]) =>
      (className === undefined || taughtClass === className) &&
      (section === undefined || taughtSection === section),
  );
  if (isTaught) return;
  const place = [
    ...(section === undefined ? [] : [`section ${section}`]),
    ...(className === undefined ? [] : [`class ${className}`]),
  ].join(' of ');
  throw new ServiceError('FORBIDDEN', `Teachers see the sections they teach, and ${place} is none of them.`);
}

/** The distinct values of a text among the staff. */
async function listOfStaff(text: Sql, context: ReportContext): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    sql`
select distinct name
from (
  select ${text} as name
  from records r
  where ${liveRecordsIn(context.domain, 'pltf_user')}
) as staff
where name <> ''
order by name`,
    context,
  );
  return rows.map(({ name }) => name);
}

function query<Row extends object>(statement: Sql, { services, scope }: ReportContext): Promise<Row[]> {
  return services.database.query<Row>(statement, { signal: scope.call.signal });
}

/** A message with more names than these would not help. */
const MOST_NAMES = 30;

/** A NOT_FOUND with the names that are known. `sentence` is its beginning: `There is no class`. */
export function unknownName(
  parameter: string,
  sent: string,
  { sentence, known }: { readonly sentence: string; readonly known: readonly string[] },
): ServiceError {
  const detail = `${sentence} ${JSON.stringify(sent.slice(0, 100))}.${didYouMean(sent, known)}`;
  const expected = known.length === 0 ? {} : { expected: `one of ${listNames(known)}` };
  return faultAt('NOT_FOUND', detail, { parameter, ...expected, sent });
}

function listNames(names: readonly string[]): string {
  return names.slice(0, MOST_NAMES).join(', ') + (names.length > MOST_NAMES ? ' …' : '');
}

/**
 * The admission number as the school spells it.
 *
 * @throws NOT_FOUND (404) for an unknown admission number; a teacher knows only students of the sections
 *   taught.
 */
export async function assertStudent(
  context: ReportContext,
  admissionNo: string,
): Promise<{ readonly admissionNo: string }> {
  const { domain, sections } = context;
  const [found] = await query<{ sequence: string }>(
    sql`
select r.data->>'sequence' as sequence
from records r
where ${liveRecordsNamed({ domain }, 'registration', { field: 'sequence', text: admissionNo })}
  and ${isInSections(sections)}
order by r.data->'sequence' = ${json(admissionNo)}::jsonb desc
limit 1`,
    context,
  );
  if (found) return { admissionNo: found.sequence };
  const detail = `There is no student with the admission number ${JSON.stringify(admissionNo)}.`;
  throw faultAt('NOT_FOUND', detail, { parameter: 'admission_no', sent: admissionNo });
}

/** Points out an id that neither a student nor a concession has: the report is empty then. @see reports 4 */
export async function hintAtStudentId(context: ReportContext, id: string): Promise<void> {
  const { scope, domain } = context;
  if (scope.call.onHint === undefined) return;
  const isOfConcession = sql`${liveRecordsIn(domain, 'fee_concession')}
  and r.data->'name'->'value' = ${json(id)}::jsonb`;
  const isKnown =
    (await isThere(liveRecordsById(domain, 'registration', sql`= ${id}`), context)) ||
    (await isThere(isOfConcession, context));
  if (!isKnown) scope.call.onHint(`There is no student with the ID ${JSON.stringify(id)}.`);
}

/**
 * A teacher may see only the own days.
 *
 * @throws NOT_FOUND (404) for an unknown id, FORBIDDEN (403) for a colleague's.
 */
export async function assertStaff(context: ReportContext, userId: string): Promise<void> {
  const { scope, domain, sections } = context;
  if (sections !== null && scope.principal.id !== userId)
    throw new ServiceError('FORBIDDEN', 'Teachers see their own days, and these are those of somebody else.');
  if (await isThere(liveRecordsById(domain, 'pltf_user', sql`= ${userId}`), context)) return;
  const detail = `There is no staff member with the ID ${JSON.stringify(userId)}.`;
  throw faultAt('NOT_FOUND', detail, { parameter: 'name.value', sent: userId });
}
