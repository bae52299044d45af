/**
 * What must hold between the numbers of the fee reports, whatever the school: on random small schools,
 * each a domain of its own, and on the demo school. Sums are of exact decimals.
 */
import { describe, expect, it } from '@jest/globals';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json/json.js';
import { DEMO_DEFAULTS } from '../../../src/school/demo/demo-options.js';
import { loadDemo } from '../../../src/school/demo/load.js';
import { dailyFeeCollection } from '../../../src/school/reports/daily-fee-collection.js';
import type { Report } from '../../../src/school/reports/engine/report.js';
import { feeDefaulters, outstandingAgeing } from '../../../src/school/reports/fee-defaulters.js';
import { feeSummary } from '../../../src/school/reports/fee-summary.js';
import { collectionTrend, rolledBackReceipts } from '../../../src/school/reports/rolled-back-receipts.js';
import { sql } from '../../../src/store/sql.js';
import { IS_FULL_LENGTH, runsOf } from '../../full-length.js';
import { readJson, scopeWith, useReports } from './use-reports.js';

const SCHOOLS = 200;
const test = useReports('2027-03-31T12:00:00.000Z');

interface Answer {
  readonly rows: readonly JsonObject[];
  readonly totals: JsonObject;
}

/** The same day of the session for all reports, and everything a report needs to be told. */
type Ask = (report: Report, sent: Record<string, string>) => Promise<Answer>;

function askOf(domain: string): Ask {
  const scope = {
    ...scopeWith(['accountant']),
    domain: { id: domain, name: domain, parentId: undefined, timeZone: 'Asia/Kolkata' },
  };
  return async (report, sent) => {
    const run = await report.run(test.services, scope, sent);
    const answer = await readJson(run.answer({ format: 'json' }));
    return {
      rows: objectsOf(answer.rows),
      totals: isJsonObject(answer.totals) ? answer.totals : {},
    };
  };
}

const day = (month: number, date: number) =>
  new Date(Date.UTC(2026, 3 + month, date)).toISOString().slice(0, 10);
const monthText = (month: number) => day(month, 1).slice(0, 7);

const paise = fc.integer({ min: 1, max: 500_000 });
const rupees = paise.map((value) => value / 100);
const month = fc.integer({ min: 0, max: 3 });
const head = fc.constantFrom('Tuition', 'Transport', 'वाहन');
const date = fc
  .record({
    month: fc.integer({ min: 0, max: 4 }),
    date: fc.integer({ min: 1, max: 28 }),
    second: fc.integer({ min: 0, max: 86_399 }),
  })
  .map(({ month: m, date: d, second }) => new Date(Date.parse(day(m, d)) + second * 1000).toISOString());
const studentNo = fc.integer({ min: 0, max: 4 });

const schools = fc.record({
  students: fc.array(
    fc.record({
      class: fc.constantFrom('1', '2'),
      leftOn: fc.option(
        date.map((text) => text.slice(0, 10)),
        { freq: 4 },
      ),
    }),
    { minLength: 5, maxLength: 5 },
  ),
  dues: fc.array(fc.record({ student: studentNo, month, head, amount: rupees, isCancelled: fc.boolean() }), {
    maxLength: 30,
  }),
  concessions: fc.array(
    fc.record({
      student: studentNo,
      head: fc.option(head),
      kind: fc.constantFrom('percent', 'amount'),
      value: fc.integer({ min: 1, max: 10_000 }).map((value) => value / 100),
      from: month,
      to: month,
      at: date,
      revoked: fc.option(date),
    }),
    { maxLength: 6 },
  ),
  receipts: fc.array(
    fc.record({
      student: studentNo,
      at: date,
      type: fc.constantFrom('cash', 'cheque', 'card', 'neft'),
      lines: fc.array(
        fc.record({ month, head, amount: paise, fine: fc.option(fc.integer({ min: 0, max: 5000 })) }),
        { minLength: 1, maxLength: 4 },
      ),
      rolledBackAfter: fc.option(fc.integer({ min: 0, max: 40 })),
    }),
    { maxLength: 15 },
  ),
});
type School = typeof schools extends fc.Arbitrary<infer Value> ? Value : never;

function recordsOf(school: School): readonly [collection: string, id: string, data: JsonObject][] {
  const ref = (student: number) => ({ value: `s${student}`, label: `Student ${student}` });
  return [
    ...school.students.map((student, index): [string, string, JsonObject] => [
      'registration',
      `s${index}`,
      {
        sequence: `A${index}`,
        name: `Student ${index}`,
        class: student.class,
        section: 'A',
        session: '2026-27',
        admitted_on: '2024-04-01',
        ...(student.leftOn ? { left_on: student.leftOn, status: 'withdrawn' } : { status: 'active' }),
      },
    ]),
    ...school.dues.map((due, index): [string, string, JsonObject] => [
      'fee_due',
      `d${index}`,
      {
        student: ref(due.student),
        session: '2026-27',
        month: monthText(due.month),
        fee_head: due.head,
        amount: due.amount,
        due_date: `${monthText(due.month)}-10`,
        ...(due.isCancelled && index % 5 === 0 ? { cancelled_on: `${monthText(due.month)}-20` } : {}),
      },
    ]),
    ...school.concessions.map((concession, index): [string, string, JsonObject] => [
      'fee_concession',
      `c${index}`,
      {
        name: ref(concession.student),
        ...(concession.head ? { fee_head: concession.head } : {}),
        kind: concession.kind,
        value: concession.value,
        session: '2026-27',
        from_month: monthText(concession.from),
        to_month: monthText(concession.to),
        created_on: concession.at,
        ...(concession.revoked ? { revoked_on: concession.revoked.slice(0, 10) } : {}),
      },
    ]),
    ...school.receipts.map((receipt, index): [string, string, JsonObject] => {
      const total = receipt.lines.reduce((sum, line) => sum + line.amount + (line.fine ?? 0), 0);
      const rolledBackOn =
        receipt.rolledBackAfter === null
          ? undefined
          : new Date(Date.parse(receipt.at) + receipt.rolledBackAfter * 86_400_000).toISOString();
      return [
        'fee_receipt',
        `r${index}`,
        {
          receipt_no: `R-${index + 1}`,
          date: receipt.at,
          student: ref(receipt.student),
          session: '2026-27',
          payment_type: receipt.type,
          lines: receipt.lines.map((line) => ({
            fee_head: line.head,
            month: monthText(line.month),
            amount: line.amount / 100,
            ...(line.fine === null ? {} : { fine: line.fine / 100 }),
          })),
          total: total / 100,
          collected_by: { value: `u${index % 2}`, label: `User ${index % 2}` },
          ...(rolledBackOn
            ? { status: 'rolled_back', rolled_back_on: rolledBackOn, rollback_type: 'bounce' }
            : { status: 'active' }),
        },
      ];
    }),
  ];
}

async function insertSchool(domain: string, school: School): Promise<void> {
  const rows = recordsOf(school).map(([collection, id, data]) => ({ collection, id, data }));
  await test.database.query(sql`
insert into records (domain, collection, id, data)
select ${domain}, row->>'collection', row->>'id', row->'data'
  from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`);
}

/** All equations on one school, as on a day. */
async function expectEquations(ask: Ask, asOn: string): Promise<void> {
  const session = { from: '2026-04-01', to: '2027-03-31', as_on: asOn };
  const range = { start_month: '2026-04', end_month: '2027-03', as_on: asOn, include_left: 'true' };
  const defaulters = await ask(feeDefaulters, range);
  const byMonth = await ask(feeSummary, { type: 'month', session: '2026-27', as_on: asOn });
  const byHead = await ask(feeSummary, { type: 'head', session: '2026-27', as_on: asOn });
  const daily = await ask(dailyFeeCollection, { ...session, payment_type: 'all' });
  const dayBook = await ask(dailyFeeCollection, { ...session, payment_type: 'all', date_basis: 'DAY_BOOK' });
  const trend = await ask(collectionTrend, { ...session, interval: 'week' });
  const ageing = await ask(outstandingAgeing, { as_on: asOn, include_left: 'true' });

  for (const row of [...defaulters.rows, defaulters.totals]) {
    equal(minus(row, 'due', 'concession'), sum([row], 'net'));
    equal(minus(row, 'net', 'paid'), minus(row, 'balance', 'credit'));
  }
  for (const column of ['due', 'concession', 'net', 'paid', 'balance', 'credit', 'finePaid']) {
    equal(sum(defaulters.rows, column), sum([defaulters.totals], column));
    for (const row of defaulters.rows) equal(sum(objectsOf(row.breakdown), column), sum([row], column));
  }
  for (const column of ['due', 'concession', 'paid', 'balance', 'credit']) {
    equal(sum(objectsOf(defaulters.totals.classes), column), sum([defaulters.totals], column));
    equal(sum(objectsOf(defaulters.totals.heads), column), sum([defaulters.totals], column));
  }

  for (const summary of [byMonth, byHead]) {
    for (const row of [...summary.rows, summary.totals]) {
      equal(minus(row, 'demand', 'concession'), sum([row], 'net'));
      equal(minus(row, 'net', 'collectedFor'), minus(row, 'outstanding', 'credit'));
    }
    for (const column of ['demand', 'concession', 'net', 'collectedFor', 'fine', 'outstanding', 'credit']) {
      equal(sum(summary.rows, column), sum([summary.totals], column));
      equal(sum([byMonth.totals], column), sum([byHead.totals], column));
    }
  }

  for (const collection of [daily, dayBook]) {
    for (const row of [...collection.rows, collection.totals]) {
      equal(sum(objectsOf(row.heads), 'amount').plus(sum([row], 'fine')), sum([row], 'total'));
      equal(sum(objectsOf(row.paymentTypes), 'amount'), sum([row], 'total'));
    }
    equal(sum(collection.rows, 'total'), sum([collection.totals], 'total'));
    equal(sum(objectsOf(collection.totals.collectors), 'amount'), sum([collection.totals], 'total'));
    equal(sum([collection.totals], 'difference'), new Decimal(0));
  }
  // What was taken back on later days makes up for what was counted on earlier ones.
  equal(sum([dayBook.totals], 'total'), sum([daily.totals], 'total'));
  equal(sum([byMonth.totals], 'collectedIn'), sum([daily.totals], 'total'));
  equal(sum([trend.totals], 'total'), sum([daily.totals], 'total'));
  equal(sum(trend.rows, 'total'), sum([trend.totals], 'total'));

  equal(sum([ageing.totals], 'balance'), sum([defaulters.totals], 'balance'));
  for (const row of [...ageing.rows, ageing.totals]) {
    const buckets = ['days0To30', 'days31To60', 'days61To90', 'daysOver90'].map((bucket) =>
      sum([row], bucket),
    );
    equal(
      buckets.reduce((all, bucket) => all.plus(bucket)),
      sum([row], 'balance'),
    );
  }
  // Once every due date of the session has come, the summary and the defaulters speak of the same.
  if (asOn >= '2027-03-10') equal(sum([byMonth.totals], 'outstanding'), sum([defaulters.totals], 'balance'));

  const rolledBack = await ask(rolledBackReceipts, { from: '2026-04-01', to: asOn });
  const gross = await ask(dailyFeeCollection, {
    from: '2026-04-01',
    to: asOn,
    payment_type: 'all',
    date_basis: 'DAY_BOOK',
    as_on: asOn,
  });
  expect(gross.totals.rolledBack?.toString()).toBe(rolledBack.totals.receipts?.toString());
}

describe('the control equations hold', () => {
  it('on random small schools', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        schools,
        fc.constantFrom('2026-05-15', '2026-07-31', '2027-03-31'),
        async (school, asOn) => {
          const domain = `school-${count++}`;
          await insertSchool(domain, school);
          await expectEquations(askOf(domain), asOn);
        },
      ),
      runsOf(SCHOOLS),
    );
  }, 240_000);

  it('on the demo school', async () => {
    const demo = { ...DEMO_DEFAULTS, students: IS_FULL_LENGTH ? 240 : 60, today: '2026-11-20' };
    await loadDemo(test.database, test.catalog, { demo, onExisting: 'refuse' });
    await expectEquations(askOf('demo'), '2026-11-20');
    await expectEquations(askOf('demo'), '2026-08-31');
  });
});

function equal(one: Decimal, other: Decimal): void {
  expect(one.toFixed(2)).toBe(other.toFixed(2));
}

function sum(rows: readonly JsonObject[], column: string): Decimal {
  return rows.reduce((all, row) => all.plus(row[column]?.toString() ?? 0), new Decimal(0));
}

function minus(row: JsonObject, one: string, other: string): Decimal {
  return sum([row], one).minus(sum([row], other));
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
