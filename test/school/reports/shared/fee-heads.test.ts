/**
 * Fee heads made of data: their order in every report, what is asked for nothing, and names that a
 * spreadsheet would run.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { strFromU8, unzipSync } from 'fflate';
import type { JsonObject } from '../../../../src/base/json/json.js';
import { dailyFeeCollection } from '../../../../src/school/reports/daily-fee-collection.js';
import type { SentParameters } from '../../../../src/school/reports/engine/parameters.js';
import type { Report } from '../../../../src/school/reports/engine/report.js';
import { feeDefaulters } from '../../../../src/school/reports/fee-defaulters.js';
import { feeSummary } from '../../../../src/school/reports/fee-summary.js';
import { rolledBackReceipts } from '../../../../src/school/reports/rolled-back-receipts.js';
import { studentConcession } from '../../../../src/school/reports/student-concession.js';
import { readText, scopeWith, useReports } from '../use-reports.js';

const test = useReports('2026-11-20T06:00:00.000Z');

/** In the order of the school, which is not that of their names; the last has no record. */
const HEADS = ['Tuition', 'Annual', '=cmd|calc', 'Zoo'];
const ASHA = { value: 'asha', label: 'Asha' };

beforeAll(async () => {
  await test.insert('fee_head', [
    { _id: 'h3', name: '=cmd|calc', order: 3 },
    { _id: 'h1', name: 'Tuition', order: 1 },
    { _id: 'h2', name: 'Annual', order: 2 },
  ]);
  await test.insert('registration', [
    {
      ...{ _id: 'asha', sequence: 'A-1', name: 'Asha', class: '5', section: 'A', session: '2026-27' },
      ...{ status: 'active', admitted_on: '2024-04-01' },
    },
    {
      ...{ _id: 'ravi', sequence: 'A-2', name: 'Ravi', class: '5', section: 'A', session: '2026-27' },
      ...{ status: 'active', admitted_on: '2024-04-01' },
    },
  ]);
  await test.insert('fee_due', [
    ...HEADS.toReversed().map((head, index) => ({ ...due('asha', head, 100), _id: `due-${index}` })),
    // Nothing is asked of Ravi: once as nothing, once as a due and its contrary.
    { ...due('ravi', 'Tuition', 0), _id: 'due-zero' },
    { ...due('ravi', 'Annual', 50), _id: 'due-one' },
    { ...due('ravi', 'Annual', -50), _id: 'due-other' },
  ]);
  await test.insert('fee_concession', [
    {
      ...{ _id: 'con-1', name: ASHA, kind: 'amount', value: 10, session: '2026-27' },
      ...{ from_month: '2026-04', to_month: '2027-03', created_on: '2026-04-01T00:00:00.000Z' },
    },
  ]);
  await test.insert('fee_receipt', [
    {
      ...{ _id: 'r1', receipt_no: 'R-1', date: '2026-10-12T06:00:00.000Z', student: ASHA },
      ...{
        class: '5',
        section: 'A',
        session: '2026-27',
        payment_type: 'cash',
        total: 4,
        status: 'rolled_back',
      },
      ...{ rolled_back_on: '2026-11-20T05:00:00.000Z', rollback_type: 'bounce' },
      lines: HEADS.toReversed().map((head) => ({ fee_head: head, month: '2026-10', amount: 1 })),
    },
  ]);

  function due(student: string, head: string, amount: number): JsonObject {
    return {
      ...{ student: { value: student, label: student }, session: '2026-27', month: '2026-10' },
      ...{ fee_head: head, amount, due_date: '2026-10-10' },
    };
  }
});

type Answer = { readonly rows: readonly Line[]; readonly totals: Line; readonly parameters: Line };
type Line = Readonly<Record<string, never>>;

async function run(report: Report, sent: SentParameters): Promise<Answer> {
  const answer = (await report.run(test.services, scopeWith(['admin']), sent)).answer({ format: 'json' });
  return JSON.parse(await readText(answer)) as Answer;
}

const MONTHS = { start_month: '2026-10', end_month: '2026-10' };
const DAYS = { from: '2026-10-12', to: '2026-10-12', payment_type: 'all', as_on: '2026-10-12' };
const headsOf = (lines: readonly Line[] | undefined) => lines?.map(({ feeHead }) => feeHead);

describe('fee heads', () => {
  it('come in the order of the school in every report', async () => {
    const defaulters = await run(feeDefaulters, MONTHS);
    expect(headsOf(defaulters.rows[0]?.breakdown)).toEqual(HEADS);
    expect(headsOf(defaulters.totals.heads)).toEqual(HEADS);
    const summary = await run(feeSummary, { type: 'head' });
    expect(headsOf(summary.rows)).toEqual(HEADS);
    const daily = await run(dailyFeeCollection, DAYS);
    expect(headsOf(daily.rows[0]?.heads)).toEqual(HEADS);
    expect(headsOf(daily.totals.heads)).toEqual(HEADS);
    const rolledBack = await run(rolledBackReceipts, {});
    expect(headsOf(rolledBack.rows[0]?.heads)).toEqual(HEADS);
    expect(headsOf(rolledBack.totals.heads)).toEqual(HEADS);
    const concession = await run(studentConcession, { 'name.value': 'asha' });
    expect(headsOf(concession.totals.amounts)).toEqual(HEADS);
  });

  it('bill nobody of whom nothing is asked', async () => {
    const byMonth = await run(feeSummary, { type: 'month' });
    expect(byMonth.totals).toMatchObject({ studentsBilled: 1, studentsClear: 0 });
    expect(byMonth.rows.find(({ month }) => String(month) === '2026-10')).toMatchObject({
      studentsBilled: 1,
    });
    const byHead = await run(feeSummary, { type: 'head' });
    expect(byHead.rows.map(({ studentsBilled }) => studentsBilled)).toEqual([1, 1, 1, 1]);
    expect(byHead.totals).toMatchObject({ studentsBilled: 1 });
  });

  it('are headings that no spreadsheet runs', async () => {
    const made = await dailyFeeCollection.run(test.services, scopeWith(['admin']), DAYS);
    const [heading] = (await readText(made.answer({ format: 'csv' }))).split('\r\n');
    expect(heading).toContain(",Tuition,Annual,'=cmd|calc,Zoo,");
    const chunks: Uint8Array[] = [];
    for await (const chunk of made.answer({ format: 'xlsx' }).body) chunks.push(Buffer.from(chunk));
    const parts = unzipSync(Buffer.concat(chunks));
    const sheet = strFromU8(parts['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
    expect(sheet).toContain('<c t="inlineStr" s="1"><is><t xml:space="preserve">=cmd|calc</t></is></c>');
    expect(sheet).not.toMatch(/<f[ >]/);
  });
});

describe('the parameters of the rolled-back receipts', () => {
  it('show the day understood', async () => {
    expect((await run(rolledBackReceipts, {})).parameters).toEqual({
      ...{ date: '2026-11-20', from: null, to: null, dateBasis: 'ROLLBACK' },
    });
    expect((await run(rolledBackReceipts, { from: '2026-11-01', to: '2026-11-02' })).parameters).toEqual({
      ...{ date: null, from: '2026-11-01', to: '2026-11-02', dateBasis: 'ROLLBACK' },
    });
  });
});
