/**
 * Three reports beside statements that somebody wrote by hand for the same answer, on the plain tables: the
 * first page of rows, without totals and warnings. What both say of a student or a month is compared before
 * it is timed.
 */
import Table from 'cli-table3';
import type { JsonObject } from '../../src/base/json/json.js';
import type { Scope } from '../../src/base/model/scope.js';
import type { ReportServices } from '../../src/school/reports/engine/report-context.js';
import { reports } from '../../src/school/reports/registry.js';
import { median } from './median.js';

interface ByHand {
  readonly report: string;
  readonly sent: Readonly<Record<string, string>>;
  /** The columns that are asked for; a row is about the first of them. */
  readonly columns: readonly [string, ...string[]];
  /** Those of them that hold figures, which both must say alike. */
  readonly figures: readonly string[];
  /** Its columns are named as those of the report, and its order is that of the report. */
  readonly sql: string;
}

/** What a student owes of a fee head of a month of the session, as far as it is due. */
const ITEMS = `
  select student, month, fee_head, sum(due) as due, sum(concession) as concession, sum(paid) as paid,
    min(due_date) as due_date
  from (
    select d.student, d.month, d.fee_head, d.amount as due,
      coalesce(round(d.amount * c.percent / 100, 2), 0) as concession, 0 as paid, d.due_date
    from plain.fee_due d
    left join plain.fee_concession c
      on c.student = d.student and c.fee_head = d.fee_head and d.month between c.from_month and c.to_month
    where d.month between '2026-04' and '2027-03' and d.due_date <= date '2027-03-31'
    union all
    select student, month, fee_head, 0, 0, amount, null
    from plain.fee_receipt_line
    where status = 'active' and month between '2026-04' and '2027-03'
  ) as entry
  group by student, month, fee_head`;

const PAIRS: readonly ByHand[] = [
  {
    report: 'class-attendance',
    sent: { class: '5', start: '2026-07', end: '2026-07' },
    columns: [
      'studentId',
      'section',
      'rollNo',
      'admissionNo',
      'name',
      'present',
      'absent',
      'late',
      'halfDay',
      'leave',
    ],
    figures: ['present', 'absent', 'late', 'halfDay', 'leave'],
    sql: `
select r.id as "studentId", r.section, r.roll_no as "rollNo", r.sequence as "admissionNo", r.name,
  count(*) filter (where a.status = 'present') as present, count(*) filter (where a.status = 'absent') as absent,
  count(*) filter (where a.status = 'late') as late, count(*) filter (where a.status = 'half_day') as "halfDay",
  count(*) filter (where a.status = 'leave') as leave
from plain.attendance a
join plain.registration r on r.id = a.student
where a.class = '5' and a.created >= timestamp '2026-07-01' at time zone 'Asia/Kolkata'
  and a.created < timestamp '2026-08-01' at time zone 'Asia/Kolkata'
group by r.id
order by r.section, r.roll_no, r.name, r.id`,
  },
  {
    report: 'fee-defaulters',
    sent: { start_month: '2026-04', end_month: '2027-03' },
    columns: [
      'studentId',
      'admissionNo',
      'name',
      'class',
      'section',
      'due',
      'concession',
      'paid',
      'balance',
      'credit',
      'monthsDueCount',
      'oldestDueDate',
    ],
    figures: ['due', 'concession', 'paid', 'balance', 'credit', 'monthsDueCount'],
    sql: `
select r.id as "studentId", r.sequence as "admissionNo", r.name, r.class, r.section, sum(i.due) as due,
  sum(i.concession) as concession, sum(i.paid) as paid,
  sum(greatest(i.due - i.concession - i.paid, 0)) as balance,
  sum(greatest(i.paid - i.due + i.concession, 0)) as credit,
  count(distinct i.month) filter (where i.due - i.concession > i.paid) as "monthsDueCount",
  min(i.due_date) filter (where i.due - i.concession > i.paid) as "oldestDueDate"
from (${ITEMS}
) as i
join plain.registration r on r.id = i.student
group by r.id
having sum(greatest(i.due - i.concession - i.paid, 0)) > 0
order by r.class::int, r.section, r.roll_no, r.name, r.id`,
  },
  {
    report: 'fee-summary',
    sent: { type: 'month', session: '2026-27' },
    columns: [
      'month',
      'demand',
      'concession',
      'net',
      'collectedFor',
      'outstanding',
      'credit',
      'studentsBilled',
    ],
    figures: ['demand', 'concession', 'net', 'collectedFor', 'outstanding', 'credit', 'studentsBilled'],
    sql: `
select month, sum(due) as demand, sum(concession) as concession, sum(due - concession) as net,
  sum(paid) as "collectedFor", sum(greatest(due - concession - paid, 0)) as outstanding,
  sum(greatest(paid - due + concession, 0)) as credit,
  count(distinct student) filter (where due > 0) as "studentsBilled"
from (${ITEMS}
) as i
group by month order by month`,
  },
];

const PAGE = 50;
const RUNS = 15;
/** PostgreSQL plans a prepared statement anew the first five times. */
const FIRST_RUNS = 6;

/** A table of the times of both, and the first by the second. @throws Error when they do not say the same */
export async function compareByHand(services: ReportServices, scope: Scope): Promise<string> {
  const table = new Table({
    style: { head: [], border: [] },
    head: ['the same rows', 'report ms', 'by hand ms', 'slower by'],
  });
  for (const pair of PAIRS) {
    const byReport = await pageOf(pair, services, scope);
    const { rows } = await services.database.pool.query<Row>(pair.sql);
    assertAlike(pair, byReport, rows);
    const hand = { name: `by hand ${pair.report}`, text: `${pair.sql} limit ${PAGE + 1}` };
    const times = { report: [] as number[], hand: [] as number[] };
    for (let run = -FIRST_RUNS; run < RUNS; run++) {
      const report = await timed(() => pageOf(pair, services, scope));
      const byHand = await timed(() => services.database.pool.query(hand));
      if (run < 0) continue;
      times.report.push(report);
      times.hand.push(byHand);
    }
    const [report, byHand] = [median(times.report), median(times.hand)];
    table.push([pair.report, report.toFixed(1), byHand.toFixed(1), (report / byHand).toFixed(2)]);
  }
  return table.toString();
}

type Row = Readonly<Record<string, unknown>>;

async function pageOf(
  { report: name, sent, columns }: ByHand,
  services: ReportServices,
  scope: Scope,
): Promise<readonly JsonObject[]> {
  const report = reports.find((listed) => listed.name === name);
  if (report === undefined) throw new Error(`there is no report ${name}`);
  const run = await report.run(services, scope, sent);
  const shown = { rows: new Set(columns), totals: undefined, warnings: false };
  return (await run.page({ first: PAGE, shown })).rows;
}

function assertAlike(
  { report, columns, figures }: ByHand,
  page: readonly JsonObject[],
  rows: readonly Row[],
): void {
  const [key] = columns;
  const byKey = new Map(rows.map((row) => [row[key], row]));
  if (page.length === 0) throw new Error(`${report} has no rows`);
  for (const shown of page)
    for (const figure of figures) {
      const written = byKey.get(shown[key])?.[figure];
      if (Number(shown[figure]) !== Number(written))
        throw new Error(`${report}, ${shown[key]}: ${figure} is ${shown[figure]}, by hand ${written}`);
    }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
