/**
 * `fee_months` is in step with the records after whatever was done to them, and the fee reports count from it
 * exactly what they would count from the records.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/base/json/json.js';
import { type Day, isReportDay, isReportMonth } from '../../../src/school/reports/engine/parameter-types.js';
import { feeItems, headItems } from '../../../src/school/reports/shared/fee-items.js';
import type { Queryable } from '../../../src/store/database/queryable.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { runsOf } from '../../full-length.js';
import { itemsOfRecords } from './items-of-records.js';
import { useReports } from './use-reports.js';

const test = useReports('2026-07-31T12:00:00.000Z');

const student = fc.constantFrom('anu', 'bina');
const month = fc.constantFrom('2026-04', '2026-05', '2026-06');
const head = fc.constantFrom('Tuition', 'Transport');
const day = fc.constantFrom('2026-04-05', '2026-04-10', '2026-05-10', '2026-06-20', '2026-07-01');
const instant = day.map((text) => `${text}T18:30:00.000Z`);
/** An old database holds amounts that are none. */
const amount = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 300_000 }).map((paise) => paise / 100) },
  { weight: 1, arbitrary: fc.constantFrom('N/A', null) },
);
const reference = student.map((value) => ({ value, label: value }));
/** And records without what they need. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 12, nil: undefined });

const due = fc.record({
  student: sometimes(reference),
  session: fc.constantFrom('2026-27', '2025-26'),
  month: fc.oneof({ weight: 12, arbitrary: month }, { weight: 1, arbitrary: fc.constant(202604) }),
  fee_head: sometimes(head),
  amount,
  due_date: sometimes(day),
  cancelled_on: fc.option(day, { freq: 3, nil: undefined }),
});
const receipt = fc.record({
  student: sometimes(reference),
  date: sometimes(instant),
  status: fc.constantFrom('active', 'active', 'rolled_back'),
  rolled_back_on: fc.option(instant, { freq: 3, nil: undefined }),
  lines: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.array(
        fc.record({
          month: sometimes(month),
          fee_head: sometimes(head),
          amount,
          fine: fc.option(fc.integer({ min: 0, max: 50 })),
        }),
        { maxLength: 4 },
      ),
    },
    { weight: 1, arbitrary: fc.constant('none') },
  ),
});
const concession = fc.record({
  name: reference,
  fee_head: fc.option(head, { nil: undefined }),
  kind: fc.constantFrom('percent', 'amount'),
  value: fc.integer({ min: -1_000, max: 12_000 }).map((value) => value / 100),
  session: fc.constant('2026-27'),
  from_month: month,
  to_month: month,
  created_on: instant,
  revoked_on: fc.option(day, { freq: 3, nil: undefined }),
});

const id = fc.integer({ min: 1, max: 4 });
const isKept = fc.boolean();
const step = fc.oneof(
  fc.record({ kind: fc.constant('store'), collection: fc.constant('fee_due'), id, data: due, isKept }),
  fc.record({
    kind: fc.constant('store'),
    collection: fc.constant('fee_receipt'),
    id,
    data: receipt,
    isKept,
  }),
  fc.record({
    kind: fc.constantFrom('rollBack', 'delete', 'restore', 'purge'),
    collection: fc.constantFrom('fee_due', 'fee_receipt'),
    id,
    data: fc.constant<JsonObject>({}),
    isKept,
  }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function statementOf(domain: string, { kind, collection, id, data }: Step): Sql {
  const record = sql`domain = ${domain} and collection = ${collection} and id = ${`${id}`}`;
  switch (kind) {
    case 'rollBack':
      return sql`update records set
        data = data || '{"status": "rolled_back", "rolled_back_on": "2026-06-20T18:30:00.000Z"}'
        where ${record}`;
    case 'delete':
      return sql`update records set deleted_at = now() where ${record}`;
    case 'restore':
      return sql`update records set deleted_at = null where ${record}`;
    case 'purge':
      return sql`delete from records where ${record}`;
    default:
      return sql`
insert into records (domain, collection, id, data) values (${domain}, ${collection}, ${`${id}`},
  ${JSON.stringify(data)}::jsonb)
on conflict (domain, collection, id) do update set data = excluded.data`;
  }
}

class Undone extends Error {}

async function take(domain: string, step: Step): Promise<void> {
  try {
    await test.database.transaction(async (transaction) => {
      await transaction.query(statementOf(domain, step));
      if (!step.isKept) throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}

const monthsKept = (domain: string) => sql`
select to_jsonb(m)::text as row from fee_months m where domain = ${domain} order by student, month`;

/** What `fill_fee_months` would write for a domain. */
const monthsOfRecords = (domain: string) => sql`
select to_jsonb(m)::text as row
from (
  select e.domain, e.student, e.month, s.*, e.dues, e.payments
  from (
    select
      r.domain, e.student, e.month,
      coalesce(jsonb_object_agg(r.id, e.entry) filter (where r.collection = 'fee_due'), '{}') as dues,
      coalesce(jsonb_object_agg(r.id, e.entry) filter (where r.collection = 'fee_receipt'), '{}') as payments
    from records r
    cross join lateral fee_entries_of(r.collection, r.id, r.data, r.deleted_at) as e
    where r.domain = ${domain}
    group by r.domain, e.student, e.month
  ) as e
  cross join lateral fee_month_state(e.dues, e.payments) as s
) as m
order by student, month`;

async function expectInStep(domain: string): Promise<void> {
  const kept = await test.database.query(monthsKept(domain));
  expect(kept).toEqual(await test.database.query(monthsOfRecords(domain)));
}

describe('the months of the fee reports', () => {
  it('are in step with the records after any writes, rollbacks, deletes, purges, and what was undone', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const domain = `steps-${++run}`;
        for (const one of steps) await take(domain, one);
        await expectInStep(domain);
      }),
      runsOf(60),
    );
  });

  it('are in step with what statements of many dues and receipts store at once', async () => {
    let run = 0;
    const many = fc.array(due, { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(many, many, fc.array(receipt, { maxLength: 20 }), async (first, second, receipts) => {
        const domain = `many-${++run}`;
        const named = (prefix: string, list: readonly object[]) =>
          list.map((data, index) => ({ ...data, _id: `${prefix}-${index}` }));
        await Promise.all([
          store(domain, { fee_due: named('first', first) }),
          store(domain, { fee_due: named('second', second) }),
          store(domain, { fee_receipt: named('receipt', receipts) }),
        ]);
        await expectInStep(domain);
      }),
      { numRuns: 40 },
    );
  });

  it('give what the records give, as on any day, for any demand and head', async () => {
    let run = 0;
    const range = fc.record({
      asOn: fc.oneof(day, fc.constantFrom('2026-04-01', '2026-05-11', '2026-06-21', '2026-12-31')),
      demand: fc.constantFrom('due', 'all'),
      feeHead: fc.option(head),
      first: month,
      leftOn: fc.option(day, { freq: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(due, { maxLength: 12 }),
        fc.array(receipt, { maxLength: 6 }),
        fc.array(concession, { maxLength: 2 }),
        range,
        async (dues, receipts, concessions, { leftOn, ...asked }) => {
          const domain = `school-${++run}`;
          await store(domain, {
            registration: [{ _id: 'anu', ...(leftOn && { left_on: leftOn }) }],
            fee_due: dues,
            fee_receipt: receipts,
            fee_concession: concessions,
          });
          const context = { domain, timeZone: 'Asia/Kolkata', today: TODAY };
          const wanted = rangeOf(asked);
          const told = await itemsOf(sql`with ${feeItems(context, wanted)}, items as (${headItems({})})`);
          expect(told).toEqual(await itemsOf(sql`with ${itemsOfRecords(context, wanted)}`));
          const months = await monthsOf(sql`with ${feeItems(context, wanted)} select * from month_items`);
          expect(months).toEqual(
            await monthsOf(sql`with ${itemsOfRecords(context, wanted)} ${SUM_OF_MONTHS}`),
          );
          const ofOwing = (owingOnly: boolean) =>
            monthsOf(sql`with ${feeItems(context, { ...wanted, owingOnly })} ${MONTHS_OF_OWING}`);
          expect(await ofOwing(true)).toEqual(await ofOwing(false));
        },
      ),
      runsOf(200),
    );
  });

  it('are read from the index of their key alone, but for those with something still to come', async () => {
    const context = { domain: 'index', timeZone: 'Asia/Kolkata', today: TODAY };
    const wanted = rangeOf({ asOn: '2026-06-30', demand: 'due', feeHead: null, first: '2026-04' });
    const plan = await test.database.transaction(async (transaction) => {
      await transaction.query(sql`set local enable_seqscan = off`);
      await transaction.query(sql`set local enable_bitmapscan = off`);
      return await transaction.query<{ 'QUERY PLAN': string }>(
        sql`explain with ${feeItems(context, wanted)} select * from month_items`,
      );
    });
    const scans = plan.flatMap(
      (row) => /-> {2}(.* Scan) using fee_months_pkey/.exec(row['QUERY PLAN'])?.[1] ?? [],
    );
    // The settled ones and the choice of the open ones; the entries of these, and the heads of the conceded.
    expect(scans.toSorted()).toEqual(['Index Only Scan', 'Index Only Scan', 'Index Scan', 'Index Scan']);
  });

  it('owe what a concession with a minus adds, where all was paid', async () => {
    const domain = 'minus';
    const added = { name: { value: 'anu', label: 'Anu' }, kind: 'amount', value: -10, session: '2026-27' };
    await store(domain, {
      fee_due: [dueOf(100)],
      fee_receipt: [receiptOf(100)],
      fee_concession: [
        { ...added, from_month: '2026-04', to_month: '2026-06', created_on: '2026-04-01T00:00:00.000Z' },
      ],
    });
    const context = { domain, timeZone: 'Asia/Kolkata', today: TODAY };
    const wanted = rangeOf({ asOn: '2026-07-31', demand: 'due', feeHead: null, first: '2026-04' });
    const items = feeItems(context, { ...wanted, owingOnly: true });
    expect(await monthsOf(sql`with ${items} ${MONTHS_OF_OWING}`)).toMatchObject([
      { student: 'anu', concession: '-10', balance: '10' },
    ]);
  });

  it('count two receipts for one due that are stored at once', async () => {
    const domain = 'at-once';
    await store(domain, { fee_due: [dueOf(1000)] });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store(domain, { fee_receipt: [{ ...receiptOf(10), _id: `receipt-${index}` }] }),
      ),
    );
    expect(
      await test.database.query(
        sql`select due::text, paid::text, balance::text from fee_months where domain = ${domain}`,
      ),
    ).toEqual([{ due: '1000', paid: '200', balance: '800' }]);
    await expectInStep(domain);
  });

  it('of one domain are none of another', async () => {
    await store('here', { fee_due: [dueOf(100)] });
    await store('there', { fee_due: [dueOf(200)] });
    await test.database.query(sql`delete from records where domain = 'there'`);
    expect(
      await test.database.query(
        sql`select domain, due::text from fee_months where domain in ('here', 'there')`,
      ),
    ).toEqual([{ domain: 'here', due: '100' }]);
  });

  it('are made anew from the records, the same', async () => {
    await store('anew', { fee_due: [dueOf(100)], fee_receipt: [receiptOf(40)] });
    const before = await test.database.query(monthsKept('anew'));
    await test.database.query(sql`select fill_fee_months()::text`);
    expect(await test.database.query(monthsKept('anew'))).toEqual(before);
  });
});

const dueOf = (amount: number): JsonObject => ({
  student: { value: 'anu', label: 'Anu' },
  session: '2026-27',
  month: '2026-04',
  fee_head: 'Tuition',
  amount,
  due_date: '2026-04-10',
});

const receiptOf = (amount: number): JsonObject => ({
  student: { value: 'anu', label: 'Anu' },
  date: '2026-04-05T06:00:00.000Z',
  status: 'active',
  lines: [{ month: '2026-04', fee_head: 'Tuition', amount }],
});

/** Records of any shape, by collection; `_id` names one, or its place. */
async function store(domain: string, records: Readonly<Record<string, readonly object[]>>): Promise<void> {
  for (const [collection, list] of Object.entries(records)) {
    const rows = list.map((data, index) => ({
      id: '_id' in data ? data._id : `${collection}-${index}`,
      data,
    }));
    await test.database.query(sql`
insert into records (domain, collection, id, data)
select ${domain}, ${collection}, row->>'id', row->'data'
from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`);
  }
}

const TODAY = dayOf('2026-06-30');

function dayOf(text: string): Day {
  if (!isReportDay(text)) throw new Error(`${text} is a day`);
  return text;
}

function rangeOf({
  asOn,
  demand,
  feeHead,
  first,
}: {
  readonly asOn: string;
  readonly demand: string;
  readonly feeHead: string | null;
  readonly first: string;
}) {
  const last = '2026-06';
  if (!isReportDay(asOn) || !isReportMonth(first) || !isReportMonth(last)) throw new Error('days and months');
  return { first, last, asOn, feeHead, demand: demand === 'due' ? 'due' : 'all' } as const;
}

/** A missing student is null in one and '' in the other; students who do not exist have their own test. */
function itemsOf(ctes: Sql): Promise<object[]> {
  return (test.database as Queryable).query(sql`
${ctes}
select
  nullif(student, '') as student, month, nullif(fee_head, '') as fee_head, trim_scale(due)::text as due,
    trim_scale(concession)::text as concession,
  trim_scale(paid)::text as paid, trim_scale(fine)::text as fine, trim_scale(owed)::text as owed, due_date,
    has_due,
  (select jsonb_agg(f order by collection, id, reason)::text
    from fee_faults f where reason <> 'its student does not exist') as faults
from items
order by 1, 2, 3`);
}

/** Those of the students whose months, taken together, leave something to pay. */
const MONTHS_OF_OWING = sql`
select *
from month_items
where student in (select student from month_items group by student having sum(balance) > 0)`;

const SUM_OF_MONTHS = sql`
select
  student, month, sum(due) as due, sum(concession) as concession, sum(paid) as paid, sum(fine) as fine,
  sum(greatest(owed, 0)) as balance, sum(greatest(-owed, 0)) as credit,
    min(due_date) filter (where owed > 0) as balance_from,
  sum(due) > 0 as has_due
from items
group by student, month`;

function monthsOf(months: Sql): Promise<object[]> {
  return (test.database as Queryable).query(sql`
select
  nullif(student, '') as student, month, trim_scale(due)::text as due,
    trim_scale(concession)::text as concession, trim_scale(paid)::text as paid,
  trim_scale(fine)::text as fine, trim_scale(balance)::text as balance, trim_scale(credit)::text as credit,
    balance_from, has_due
from (${months}) as month
order by 1, 2`);
}
