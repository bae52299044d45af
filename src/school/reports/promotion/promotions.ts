/**
 * Promotes students: moves classes from a session to the next in one transaction, and keeps the place of each
 * student in `earlier_stays`. Students of the session who have left are not touched.
 *
 * @see decisions 11 (Promotion)
 */

import { faultAt } from '../../../base/errors.js';
import type { JsonObject, JsonValue } from '../../../base/json/json.js';
import { addDays } from '../../../base/model/calendar.js';
import type { Collection } from '../../../base/model/collection.js';
import { allOf, anyOf, type Filter } from '../../../base/model/filter.js';
import { queryOf } from '../../../base/model/record-query.js';
import type { Scope } from '../../../base/model/scope.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import type { Transaction } from '../../../store/database/queryable.js';
import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { sql } from '../../../store/sql.js';
import type { WriteOptions } from '../../../store/writing/atomically.js';
import { formerStay } from '../../../store/writing/former-stay.js';
import { type Day, isReportDay, isSession, type Session } from '../engine/parameter-types.js';
import { invalidValue } from '../engine/parameters.js';
import type { ReportServices } from '../engine/report-context.js';
import { daysAfter, firstDayOf, lastDayOf, monthsOf, sessionOf } from '../engine/school-calendar.js';
import { schoolSettings } from '../engine/school-settings.js';
import { classesOf, type KnownClass, ownSpelling } from '../shared/assert-place.js';
import {
  type PromotedClassInput,
  type PromotedStudent,
  type PromoteStudentsInput,
  type Promotion,
  type PromotionExceptionInput,
  PromotionOutcome,
  RollNumbers,
} from './promotion.js';

const MOST_CLASSES = 500;
const FIELDS = ['session', 'class', 'section', 'roll_no', 'left_on', 'status', 'earlier_stays'];

type Services = Pick<ReportServices, 'store' | 'domains' | 'database'> & {
  readonly catalog: { get(name: string, scope: Scope): Collection };
};

export class Promotions {
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Promotes the students, or returns what would be done.
   *
   * @throws FORBIDDEN unless the caller may change registrations; INVALID_VALUE for a session, class, section
   *   or exception that does not fit; NOT_FOUND for a class without students; CONFLICT if all are promoted
   *   already; LIMIT_EXCEEDED
   */
  async promote(scope: Scope, sent: PromoteStudentsInput, options: WriteOptions): Promise<Promotion> {
    const { database, store } = this.#services;
    const known = await (options.within ?? database).query<KnownClass>(classesOf(scope.domain.id));
    const sections = new Map(known.map((one) => [one.name, one.sections]));
    const input = asSpelled(sent, sections);
    const plan = this.#plan(scope, input, sections);
    let students: readonly PromotedStudent[] = [];
    await store.updateEach(
      scope,
      'registration',
      {
        filter: allOf([isOf('session', plan.fromSession), anyOf(input.classes.map(isIn))]),
        fields: FIELDS,
        change: async (records, within) => {
          students = await this.#listStudents(scope, { plan, input, records, within });
          if (input.dryRun === true) return new Map();
          return new Map(students.map((one) => [one.studentId, this.#changeOf(scope, plan, one, records)]));
        },
      },
      options,
    );
    const countOf = (outcome: PromotionOutcome) => students.filter((one) => one.outcome === outcome).length;
    return {
      requestId: scope.call.requestId,
      dryRun: input.dryRun === true,
      fromSession: plan.fromSession,
      toSession: plan.toSession,
      promoted: countOf(PromotionOutcome.PROMOTED),
      stayed: countOf(PromotionOutcome.STAYED),
      left: countOf(PromotionOutcome.LEFT),
      students,
    };
  }

  #plan({ domain }: Scope, input: PromoteStudentsInput, sections: Plan['sections']): Plan {
    const { fromSession, classes } = input;
    const { sessionFirstMonth: firstMonth } = schoolSettings((name) =>
      this.#services.domains.property(domain.id, name),
    );
    if (!isSession(fromSession)) throw invalidValue('fromSession', fromSession, 'a session as YYYY-YY');
    const { first, last } = monthsOf(fromSession, firstMonth);
    const lastDay = lastDayOf(last);
    const toSession = input.toSession ?? sessionOf(daysAfter(lastDay, 1), firstMonth);
    if (!isSession(toSession) || toSession <= fromSession)
      throw invalidValue('toSession', toSession, `a session after ${fromSession}`);
    const leftOn = input.leftOn ?? lastDay;
    const next = monthsOf(toSession, firstMonth);
    const [start, end] = [firstDayOf(first), lastDayOf(next.last)];
    if (!isReportDay(leftOn) || leftOn < start || leftOn > end)
      throw invalidValue('leftOn', leftOn, `a day from ${start} to ${end}`);
    if (classes.length === 0 || classes.length > MOST_CLASSES)
      throw invalidValue('classes', `${classes.length} entries`, `1 to ${MOST_CLASSES} classes`);
    const rules = new Map<string, PromotedClassInput>();
    classes.forEach((rule, index) => {
      assertTarget(rule, `classes[${index}]`);
      const key = keyOf(rule.class, rule.section);
      if (rules.has(key))
        throw invalidValue(`classes[${index}].class`, rule.class, 'each class and section once');
      rules.set(key, rule);
    });
    const exceptions = new Map<string, PromotionExceptionInput>();
    input.exceptions?.forEach((one, index) => {
      assertTarget(one, `exceptions[${index}]`);
      if (exceptions.has(one.studentId))
        throw invalidValue(`exceptions[${index}].studentId`, one.studentId, 'each student once');
      exceptions.set(one.studentId, one);
    });
    const firstDay = firstDayOf(next.first);
    return { fromSession, toSession, firstDay, leftOn, sections, rules, exceptions };
  }

  /** The students to promote, with the place that each gets. */
  async #listStudents(
    scope: Scope,
    { plan, input, records, within }: Planned,
  ): Promise<readonly PromotedStudent[]> {
    const attending = [...records].filter(([, record]) => isAttending(record, plan.firstDay));
    await this.#assertPresent(scope, { plan, input, records: new Map(attending), within });
    const students = attending
      .map(([id, record]) => placeOf(id, record, plan))
      .sort((one, other) => compareText(sortKeyOf(one), sortKeyOf(other)));
    assertPlaces(students, plan);
    return await numbered(scope, students, {
      plan,
      within,
      how: input.rollNumbers ?? RollNumbers.ALPHABETICAL,
    });
  }

  /** @throws NOT_FOUND, CONFLICT, INVALID_VALUE */
  async #assertPresent(scope: Scope, { plan, input, records, within }: Planned): Promise<void> {
    let already = 0;
    for (const [index, rule] of input.classes.entries()) {
      const isOfRule = ({ class: name, section }: JsonObject) =>
        ruleOf(plan, text(name), text(section)) === rule;
      if ([...records.values()].some(isOfRule)) continue;
      const place = rule.section ? `section ${rule.section} of class ${rule.class}` : `class ${rule.class}`;
      const filter = alreadyOf(plan, rule);
      const count = await this.#services.store
        .find(scope, { ...queryOf('registration'), filter }, { within })
        .count();
      already += count;
      if (count > 0) continue;
      const detail = `There is no student to promote in ${place} of ${plan.fromSession}.`;
      throw faultAt('NOT_FOUND', detail, { parameter: `classes[${index}].class`, sent: rule.class });
    }
    if (records.size === 0) {
      const detail = `All ${already} students of these classes are already in ${plan.toSession}.`;
      throw faultAt('CONFLICT', detail, { parameter: 'classes' });
    }
    input.exceptions?.forEach(({ studentId }, index) => {
      if (!records.has(studentId))
        throw invalidValue(
          `exceptions[${index}].studentId`,
          studentId,
          'the _id of a student of these classes',
        );
    });
  }

  #changeOf(
    scope: Scope,
    { toSession, firstDay, leftOn }: Plan,
    { studentId, toClass, toSection, toRollNo }: PromotedStudent,
    records: ReadonlyMap<string, JsonObject>,
  ): JsonObject {
    if (toClass === null) return { left_on: leftOn, status: 'withdrawn' };
    const record = records.get(studentId) ?? {};
    const collection = this.#services.catalog.get('registration', scope);
    const end = addDays(firstDay, -1);
    const stay = collection.stays && formerStay(collection, collection.stays, { record, end });
    const { earlier_stays: earlier } = record;
    // A student who was admitted after the session has not been in the class before.
    const isKept = stay !== undefined && String(stay.from) <= end;
    return {
      session: toSession,
      class: toClass,
      section: toSection,
      roll_no: toRollNo,
      ...(isKept && { earlier_stays: [...(Array.isArray(earlier) ? earlier : []), stay] }),
    };
  }
}

interface Plan {
  readonly fromSession: Session;
  readonly toSession: Session;
  /** The first day of the new session. */
  readonly firstDay: Day;
  readonly leftOn: Day;
  /** The sections of each class of the school. */
  readonly sections: ReadonlyMap<string, readonly string[]>;
  /** By `keyOf`. */
  readonly rules: ReadonlyMap<string, PromotedClassInput>;
  /** By `_id` of the student. */
  readonly exceptions: ReadonlyMap<string, PromotionExceptionInput>;
}

interface Planned {
  readonly plan: Plan;
  readonly input: PromoteStudentsInput;
  readonly records: ReadonlyMap<string, JsonObject>;
  readonly within: Transaction;
}

type Target = Pick<PromotedClassInput, 'toClass' | 'toSection' | 'leaves'>;

/** The classes and sections as the school spells them; one that it does not have stays as it was sent. */
function asSpelled(input: PromoteStudentsInput, sections: Plan['sections']): PromoteStudentsInput {
  const classes = [...sections.keys()];
  const spell = (sent: string, known: readonly string[] = []) => ownSpelling(sent, known) ?? sent;
  const spellTarget = <One extends Target>(one: One): One => {
    const toClass = one.toClass && spell(one.toClass, classes);
    return { ...one, toClass, toSection: one.toSection && spell(one.toSection, sections.get(toClass ?? '')) };
  };
  return {
    ...input,
    classes: input.classes.map((one) => {
      const name = spell(one.class, classes);
      return {
        ...spellTarget(one),
        class: name,
        section: one.section && spell(one.section, sections.get(name)),
      };
    }),
    exceptions: input.exceptions?.map(spellTarget),
  };
}

/** @throws INVALID_VALUE unless there is one of a class and `leaves` */
function assertTarget({ toClass, toSection, leaves }: Target, name: string): void {
  const hasClass = (toClass ?? '') !== '';
  if (hasClass === (leaves === true))
    throw invalidValue(`${name}.toClass`, toClass ?? 'missing', 'either toClass, or leaves: true');
  if (!hasClass && toSection)
    throw invalidValue(`${name}.toSection`, toSection, 'no section for those who leave');
}

function keyOf(className: string, section: string | null | undefined): string {
  return JSON.stringify([className, section || null]);
}

function ruleOf({ rules }: Plan, className: string, section: string): PromotedClassInput | undefined {
  return rules.get(keyOf(className, section)) ?? rules.get(keyOf(className, null));
}

function isIn({ class: className, section }: PromotedClassInput): Filter {
  const inClass = isOf('class', className);
  return section ? allOf([inClass, isOf('section', section)]) : inClass;
}

function isOf(field: string, value: string): Filter {
  return { kind: 'equals', path: [field], value };
}

/** The students of a class who are in the new session already. */
function alreadyOf({ fromSession, toSession }: Plan, rule: PromotedClassInput): Filter {
  const filter = allOf([isOf('session', fromSession), isIn(rule)]);
  return allOf([isOf('session', toSession), { kind: 'element', path: ['earlier_stays'], filter }]);
}

/** Whether a student is still at the school when the new session begins. */
function isAttending({ left_on: left, status }: JsonObject, firstDay: Day): boolean {
  if (typeof left === 'string' && left !== '') return left >= firstDay;
  return status !== 'withdrawn' && status !== 'transferred';
}

function placeOf(id: string, record: JsonObject, plan: Plan): PromotedStudent {
  const [fromClass, fromSection] = [text(record.class), text(record.section)];
  const target: Target = plan.exceptions.get(id) ?? ruleOf(plan, fromClass, fromSection) ?? {};
  const toClass = target.leaves === true ? null : (target.toClass ?? fromClass);
  const stayed = toClass === fromClass ? PromotionOutcome.STAYED : PromotionOutcome.PROMOTED;
  const fromRollNo = Number(record.roll_no ?? Number.NaN);
  return {
    studentId: id,
    admissionNo: text(record.sequence),
    name: text(record.name),
    outcome: toClass === null ? PromotionOutcome.LEFT : stayed,
    fromClass,
    fromSection,
    fromRollNo: Number.isSafeInteger(fromRollNo) ? fromRollNo : null,
    toClass,
    toSection: toClass === null ? null : (target.toSection ?? fromSection),
    toRollNo: null,
  };
}

/** @throws INVALID_VALUE for a class or section that the school does not have */
function assertPlaces(students: readonly PromotedStudent[], { sections }: Plan): void {
  for (const { toClass, toSection, name } of students) {
    if (toClass === null || toSection === null) continue;
    const known = sections.get(toClass);
    if (known === undefined)
      throw invalidValue('toClass', toClass, `a class of the school${didYouMean(toClass, sections.keys())}`);
    if (!known.includes(toSection)) {
      const list = known.length === 0 ? 'none' : known.join(', ');
      throw invalidValue('toSection', toSection, `a section of class ${toClass} (${list}), for ${name}`);
    }
  }
}

/** Gives the students their roll numbers, in their order. */
async function numbered(
  { domain }: Scope,
  students: readonly PromotedStudent[],
  { plan, within, how }: { readonly plan: Plan; readonly within: Transaction; readonly how: RollNumbers },
): Promise<readonly PromotedStudent[]> {
  if (how === RollNumbers.NONE) return students;
  if (how === RollNumbers.KEEP)
    return students.map((one) => ({ ...one, toRollNo: one.toClass === null ? null : one.fromRollNo }));
  const taken = await within.query<{ class: string; section: string; greatest: number }>(sql`
select r.data->>'class' as class, r.data->>'section' as section,
  coalesce(max(floor(to_number(r.data->'roll_no'))), 0)::int as greatest
from records r
where ${liveRecordsIn(domain.id, 'registration')} and r.data->'session' = to_jsonb(${plan.toSession}::text)
group by 1, 2`);
  const greatest = new Map(taken.map((one) => [keyOf(one.class, one.section), one.greatest]));
  const byName = students.toSorted((one, other) => compareText(one.name, other.name));
  const numbers = new Map<string, number>();
  for (const { studentId, toClass, toSection } of byName) {
    if (toClass === null) continue;
    const key = keyOf(toClass, toSection);
    const next = (greatest.get(key) ?? 0) + 1;
    greatest.set(key, next);
    numbers.set(studentId, next);
  }
  return students.map((one) => ({ ...one, toRollNo: numbers.get(one.studentId) ?? null }));
}

const { compare: compareText } = new Intl.Collator('en-IN', { numeric: true, sensitivity: 'base' });

function sortKeyOf({ fromClass, fromSection, name, admissionNo }: PromotedStudent): string {
  return [fromClass, fromSection, name, admissionNo].join('\t');
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
