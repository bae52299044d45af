/** `collected_receipts` is in step with the receipts after whatever was done to them. */
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { useReports } from './use-reports.js';

const test = useReports('2026-07-31T12:00:00.000Z');
const run = (sql: Sql) => test.database.query<JsonObject>(sql);
const kept = () => run(sql`select to_jsonb(c) as row from collected_receipts c order by domain, id`);

const RECEIPT: JsonObject = {
  _id: 'one',
  receipt_no: 'R-007',
  date: '2026-07-06T06:00:00.000Z',
  status: 'active',
  payment_type: 'cash',
  collected_by: { value: 'usr-1', label: 'Meena' },
  total: 130.5,
  lines: [
    { fee_head: 'Tuition', amount: 100.25, fine: 5 },
    { fee_head: 'Bus', amount: 20.25, fine: null },
    { fee_head: 'Tuition', amount: 5 },
  ],
};

const ROW = {
  domain: 'school',
  id: 'one',
  at: '2026-07-06T06:00:00.000Z',
  is_active: true,
  is_rolled_back: false,
  rolled_back_on: null,
  receipt_no: 'R-007',
  series: 'R-',
  number: 7,
  ordered_no: `${'7'.padStart(30, '0')}R-007`,
  payment_type: 'cash',
  collector_id: 'usr-1',
  collector: 'Meena',
  total: 130.5,
  lines: '[["Bus", 20.25, 0], ["Tuition", 105.25, 5]]',
  fault: null,
};

async function expectOne(change: JsonObject, row: Partial<Record<keyof typeof ROW, unknown>>): Promise<void> {
  const { _id, ...data } = { ...RECEIPT, ...change };
  await run(sql`delete from records where collection = 'fee_receipt'`);
  await test.insert('fee_receipt', [{ _id: 'one', ...data }]);
  expect(await kept()).toEqual([{ row: { ...ROW, ...row } }]);
}

describe('the receipts that the daily collection counts', () => {
  it('have their lines added up by fee head', async () => {
    await expectOne({}, {});
  });

  it.each<[string, JsonObject, Partial<Record<keyof typeof ROW, unknown>>]>([
    ['of no list', { lines: 'none' }, { lines: '[]', fault: 'lines is not a list' }],
    [
      'without an amount',
      { lines: [{ fee_head: 'Bus' }] },
      { lines: '[]', fault: 'amount of a line is not a number' },
    ],
    ['that are no objects', { lines: [5] }, { lines: '[]', fault: 'amount of a line is not a number' }],
    [
      'with a fine that is a text',
      { lines: [{ amount: 5, fine: '5' }] },
      { lines: '[]', fault: 'amount of a line is not a number' },
    ],
    ['without a total', { total: null }, { total: null, lines: '[]', fault: 'total is not a number' }],
    ['of no head', { lines: [{ amount: 5 }] }, { lines: '[["unknown", 5, 0]]' }],
    ['of no day', { date: 20260706 }, { at: null }],
    [
      'without a number',
      { receipt_no: null },
      { receipt_no: null, series: null, number: null, ordered_no: null },
    ],
    [
      'of a number that is no number',
      { receipt_no: '1234567890123456789' },
      {
        receipt_no: '1234567890123456789',
        series: '',
        number: null,
        ordered_no: '0'.repeat(11).concat('1234567890123456789'.repeat(2)),
      },
    ],
    ['paid in no known way', { payment_type: null }, { payment_type: 'unknown' }],
    [
      'rolled back',
      { status: 'rolled_back', rolled_back_on: '2026-07-07T06:00:00.000Z' },
      { is_active: false, is_rolled_back: true, rolled_back_on: '2026-07-07T06:00:00.000Z' },
    ],
  ])('are told with lines %s', async (_lines, change, row) => {
    await expectOne(change, row);
  });

  it('follow every change of their record', async () => {
    await expectOne({}, {});
    const change = (assignment: Sql) =>
      run(sql`update records set ${assignment} where domain = 'school' and collection = 'fee_receipt'`);
    await change(sql`data = data || '{"payment_type": "card"}'`);
    expect(await kept()).toEqual([{ row: { ...ROW, payment_type: 'card' } }]);
    await change(sql`deleted_at = now()`);
    expect(await kept()).toEqual([]);
    await change(sql`deleted_at = null`);
    expect(await kept()).toHaveLength(1);
    await run(sql`delete from records where collection = 'fee_receipt'`);
    expect(await kept()).toEqual([]);
  });

  it('are made anew from the records, the same', async () => {
    await expectOne({}, {});
    await run(sql`insert into collected_receipts
      select c.* from collected_receipt_of('school', 'gone', '{}') as c`);
    await run(sql`select fill_collected_receipts()::text`);
    expect(await kept()).toEqual([{ row: ROW }]);
  });
});
