/**
 * Raises the dues of a month: makes the demands of the fee plan for all students on the roll, in one
 * transaction. A demand that was made before, and is not cancelled, is not made again.
 *
 * @see decisions 11 (Raising dues)
 */

import { Decimal } from 'decimal.js';
import { faultAt, ServiceError } from '../../../base/errors.js';
import { ExactNumber, type JsonObject } from '../../../base/json/json.js';
import type { Collection } from '../../../base/model/collection.js';
import type { Scope } from '../../../base/model/scope.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import type { ValueOf } from '../../../base/scalars/declared-type.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import { accessOf } from '../../../store/access/access.js';
import type { Transaction } from '../../../store/database/queryable.js';
import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { sql } from '../../../store/sql.js';
import { column, rowType } from '../engine/columns.js';
import { type Day, isReportMonth, type Month, type Session } from '../engine/parameter-types.js';
import { invalidValue } from '../engine/parameters.js';
import type { ReportServices } from '../engine/report-context.js';
import { endOf, firstDayOf, lastDayOf, sessionOf, todayIn } from '../engine/school-calendar.js';
import { schoolSettings } from '../engine/school-settings.js';
import { classesOf, type KnownClass, ownSpelling } from '../shared/assert-place.js';
import { concessionOfDue, grantedConcessions } from '../shared/fee-items.js';
import { studentsOfSession } from '../shared/roll.js';

const RaisedHead = rowType('RaisedHead', 'The demands of one fee head in one class.', {
  class: column.text('The class.'),
  feeHead: column.text('The fee head.'),
  students: column.whole('Number of students.'),
  amount: column.money('Their demands together, before any concession.'),
  concession: column.money('The concessions that are in force today.'),
});

export const RaisedDues = rowType('RaisedDues', 'The demands of a month, made or as they would be made.', {
  requestId: column.text('For `undoChange`, which takes all of it back.'),
  dryRun: column.flag('Whether nothing was changed.'),
  month: column.month('The month.'),
  session: column.text('The session of the month.'),
  students: column.whole('Students with a new demand.'),
  demands: column.whole('New demands.'),
  existing: column.whole('Demands of the fee plan that had been made before; they stay as they are.'),
  notPromoted: column.whole('Students on the roll who are not promoted to the session; they get no demand.'),
  amount: column.money('The new demands together, before any concession.'),
  concession: column.money('The concessions that are in force today.'),
  payable: column.money('The new demands less the concessions.'),
  heads: column.rows(RaisedHead, 'The new demands by class and fee head.'),
});
export type RaisedDues = ValueOf<typeof RaisedDues>;

export interface RaiseDuesInput {
  readonly month: string;
  readonly class?: string | null | undefined;
  readonly dryRun?: boolean | null | undefined;
}

interface PlannedDue {
  readonly student: string;
  readonly class: string;
  readonly section: string;
  readonly feeHead: string;
  readonly amount: string;
  readonly dueDate: string;
  readonly concession: string;
  readonly isRaised: boolean;
}

type Services = Pick<ReportServices, 'store' | 'domains' | 'now'> & {
  readonly catalog: { get(name: string, scope: Scope): Collection };
};

export class DueRaising {
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Makes the demands, or returns what would be made.
   *
   * @throws FORBIDDEN unless the caller may create dues, and read the fee plan and all students;
   *   INVALID_VALUE for a month or class; NOT_FOUND without a fee plan for the month; CONFLICT where it has
   *   two entries of a fee head for the same students; LIMIT_EXCEEDED
   */
  async raise(
    scope: Scope,
    { month, class: sentClass = null, dryRun }: RaiseDuesInput,
    within?: Transaction,
  ): Promise<RaisedDues> {
    const { store, domains, catalog, now } = this.#services;
    if (!isReportMonth(month)) throw invalidValue('month', month, 'a month as YYYY-MM');
    accessOf(scope, catalog.get('fee_due', scope), 'create');
    for (const name of ['fee_plan', 'registration', 'fee_concession']) {
      if (accessOf(scope, catalog.get(name, scope), 'read').rows !== undefined)
        throw new ServiceError(
          'FORBIDDEN',
          `You may read a part of ${name} only, and dues are raised for all.`,
        );
    }
    const { sessionFirstMonth } = schoolSettings((name) => domains.property(scope.domain.id, name));
    const session = sessionOf(firstDayOf(month), sessionFirstMonth);
    const today = todayIn(scope.domain.timeZone, now());
    return await store.atomically(scope, { writes: ['fee_due'], within }, async (tx) => {
      const className = sentClass === null ? null : await assertClass(tx, scope, sentClass);
      const of = { month, session, className, today };
      const planned = await planDues(tx, scope, of);
      const made = planned.filter(({ isRaised }) => !isRaised);
      if (dryRun !== true && made.length > 0)
        await store.create(
          scope,
          'fee_due',
          made.map((due) => recordOf(due, of)),
          { within: tx },
        );
      const amount = sumOf(made, 'amount');
      const concession = sumOf(made, 'concession');
      return {
        ...{ requestId: scope.call.requestId, dryRun: dryRun === true, month, session },
        students: new Set(made.map(({ student }) => student)).size,
        demands: made.length,
        existing: planned.length - made.length,
        notPromoted: await countNotPromoted(tx, scope, of),
        amount: amount.toFixed(2),
        concession: concession.toFixed(2),
        payable: amount.minus(concession).toFixed(2),
        heads: headsOf(made),
      };
    });
  }
}

interface Raised {
  readonly month: Month;
  readonly session: Session;
  readonly className: string | null;
  readonly today: Day;
}

/** The demands of the fee plan, those included that were made before. */
async function planDues(
  tx: Transaction,
  { domain: { id: domain, timeZone } }: Scope,
  { month, session, className, today }: Raised,
) {
  const [first, last] = [firstDayOf(month), lastDayOf(month)];
  const range = { domain, first: month, last: month, asOn: today, end: endOf(today, timeZone) };
  const plans = sql`
  select r.id, nullif(r.data->>'class', '') as class, nullif(r.data->>'route', '') as route,
    r.data->>'fee_head' as fee_head, to_number(r.data->'amount') as amount,
    coalesce(to_number(r.data->'due_day'), 10)::int as due_day,
    coalesce(r.data->'newcomers' = 'true', false) as newcomers
  from records r
  where ${liveRecordsIn(domain, 'fee_plan')} and r.data->>'session' = ${session}
    and (coalesce(jsonb_array_length(r.data->'months'), 0) = 0 or r.data->'months' ? ${month})
    and (${className}::text is null or coalesce(nullif(r.data->>'class', ''), ${className}) = ${className})`;
  const entries = await tx.query<{ head: string; place: string; count: number }>(sql`
select min(p.fee_head) as head, count(*)::int as count,
  concat(' for class ' || p.class, ' for route ' || min(p.route)) as place
from (${plans}) as p
group by lower(p.fee_head), p.class, lower(p.route), p.newcomers`);
  const twice = entries.find(({ count }) => count > 1);
  if (twice !== undefined) {
    const { count, head, place } = twice;
    const detail = `The fee plan has ${count} entries of ${head}${place} in ${month}. Keep one of them.`;
    throw new ServiceError('CONFLICT', detail);
  }
  if (entries.length === 0) {
    const place = className === null ? '' : ` and class ${className}`;
    const detail = `The fee plan has no entry for ${month}${place} in session ${session}. Add one.`;
    throw faultAt('NOT_FOUND', detail, { parameter: 'month', sent: month });
  }
  return await tx.query<PlannedDue>(sql`
with students as materialized (${studentsOfSession(session, last, { domain, today })}
),
present as materialized (
  select s.student, s.class, s.section, r.data->>'route' as route,
    least(s.admitted_on, (select min(stay->>'from') from jsonb_array_elements(s.earlier_stays) as stay))
      as came_on
  from students s
  join records r on ${liveRecordsIn(domain, 'registration')} and r.id = s.student
  where s.session = ${session} and not s.left_unknown
    and (${className}::text is null or s.class = ${className})
    and (s.admitted_on <= ${last} and s.left_on >= ${first}
      or exists (
        select from jsonb_array_elements(s.earlier_stays) as stay
        where stay->>'from' <= ${last} and stay->>'to' >= ${first}
      ))
),
plans as materialized (${plans}
),
${grantedConcessions(range)},
raised as materialized (
  select r.data->'student'->>'value' as student, lower(r.data->>'fee_head') as fee_head
  from records r
  where ${liveRecordsIn(domain, 'fee_due')} and r.data->'month' = to_jsonb(${month}::text)
    and r.data->>'session' = ${session} and coalesce(r.data->>'cancelled_on', '') = ''
),
planned as materialized (
  -- An entry for the class, or the route, takes the place of one for all.
  select distinct on (s.student, lower(p.fee_head))
    s.student, s.class, s.section, p.fee_head, p.amount,
    greatest(${month} || '-' || lpad(p.due_day::text, 2, '0'), s.came_on) as due_date
  from present s
  join plans p on (p.class is null or p.class = s.class)
    and (p.route is null or lower(p.route) = lower(s.route))
    and (not p.newcomers or left(s.came_on, 7) = ${month})
  order by s.student, lower(p.fee_head), p.class is null, p.route is null, p.newcomers desc, p.id
)
select
  p.student, p.class, p.section, p.fee_head as "feeHead", p.amount::text, p.due_date as "dueDate",
  coalesce((
    select ${concessionOfDue}
    from (
      select p.amount, g.kind, g.value
      from granted g
      where g.student = p.student and g.session = to_jsonb(${session}::text)
        and ${month} between g.from_month and g.to_month and (g.fee_head is null or g.fee_head = p.fee_head)
    ) as d
    group by d.amount
  ), 0)::text as concession,
  exists (
    select from raised where raised.student = p.student and raised.fee_head = lower(p.fee_head)
  ) as "isRaised"
from planned p
order by p.class, p.section, p.student, p.fee_head`);
}

async function countNotPromoted(
  tx: Transaction,
  { domain: { id: domain } }: Scope,
  { month, session, className, today }: Raised,
) {
  const [found] = await tx.query<{ count: number }>(sql`
select count(*)::int as count
from (${studentsOfSession(session, lastDayOf(month), { domain, today })}) as s
where session < ${session} and not left_unknown and left_on >= ${firstDayOf(month)}
  and admitted_on <= ${lastDayOf(month)} and (${className}::text is null or class = ${className})`);
  return found?.count ?? 0;
}

function recordOf(due: PlannedDue, { month, session }: Raised): JsonObject {
  return {
    student: due.student,
    ...{ class: due.class, section: due.section, session, month },
    fee_head: due.feeHead,
    amount: new ExactNumber(due.amount),
    due_date: due.dueDate,
  };
}

function headsOf(dues: readonly PlannedDue[]): RaisedDues['heads'] {
  const groups = new Map<string, PlannedDue[]>();
  for (const due of dues) {
    getOrMake(groups, JSON.stringify([due.class, due.feeHead]), () => []).push(due);
  }
  return [...groups.values()].map((some) => ({
    class: some[0]?.class ?? '',
    feeHead: some[0]?.feeHead ?? '',
    students: some.length,
    amount: sumOf(some, 'amount').toFixed(2),
    concession: sumOf(some, 'concession').toFixed(2),
  }));
}

function sumOf(dues: readonly PlannedDue[], name: 'amount' | 'concession'): Decimal {
  return dues.reduce((sum, due) => sum.plus(due[name]), new Decimal(0));
}

/**
 * The class as the school spells it.
 *
 * @throws INVALID_VALUE for a class that the school does not have
 */
async function assertClass(tx: Transaction, { domain }: Scope, sent: string): Promise<string> {
  const names = (await tx.query<KnownClass>(classesOf(domain.id))).map(({ name }) => name);
  const spelled = ownSpelling(sent, names);
  if (spelled === undefined)
    throw invalidValue('class', sent, `a class of the school${didYouMean(sent, names)}`);
  return spelled;
}
