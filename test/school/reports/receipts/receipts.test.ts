import { beforeAll, describe, expect, it } from '@jest/globals';
import { ExactNumber } from '../../../../src/base/json/json.js';
import { feeDefaulters } from '../../../../src/school/reports/fee-defaulters.js';
import { Receipts } from '../../../../src/school/reports/receipts/receipts.js';
import { sql } from '../../../../src/store/sql.js';
import { readText, scopeWith, useReports } from '../use-reports.js';

const test = useReports('2026-07-06T06:00:00.000Z');
const ACCOUNTANT = scopeWith(['accountant']);

const money = (digits: string) => new ExactNumber(digits);
const receipts = () => new Receipts(test.services);

const due = (student: string, month: string, feeHead: string, amount: number) => ({
  _id: `due-${student}-${month}-${feeHead}`,
  student: { value: student, label: student },
  class: '5',
  section: 'A',
  session: '2026-27',
  month,
  fee_head: feeHead,
  amount,
  due_date: `${month}-10`,
});

beforeAll(async () => {
  const students = ['anu', 'bina', ...Array.from({ length: 50 }, (_, index) => `many-${index}`)];
  await test.insert(
    'registration',
    students.map((id) => ({
      _id: id,
      sequence: id,
      name: `Name of ${id}`,
      class: '5',
      section: 'A',
      session: '2026-27',
      admitted_on: '2026-04-01',
      status: 'active',
    })),
  );
  await test.insert('pltf_user', [
    {
      _id: 'usr-accountant',
      user_name: 'accountant',
      name: 'Meena Iyer',
      active: true,
      roles: ['accountant'],
    },
  ]);
  await test.insert('fee_due', [
    ...['anu', 'bina'].flatMap((student) => [
      due(student, '2026-04', 'Tuition', 1000),
      due(student, '2026-04', 'Transport', 500.5),
      due(student, '2026-05', 'Tuition', 1000),
    ]),
    ...students.slice(2).map((student) => due(student, '2026-04', 'Tuition', 100)),
  ]);
  await test.insert('fee_concession', [
    {
      _id: 'con-1',
      name: { value: 'bina', label: 'Bina' },
      fee_head: 'Tuition',
      kind: 'percent',
      value: 33.33,
      session: '2026-27',
      from_month: '2026-04',
      to_month: '2026-04',
      created_on: '2026-04-01T00:00:00.000Z',
    },
  ]);
});

describe('the dues of a student', () => {
  it('are what is open, the oldest first, for those who may record receipts', async () => {
    const dues = await receipts().dues(ACCOUNTANT, 'bina');
    expect(dues.map(({ month, feeHead, open }) => [month, feeHead, Number(open)])).toEqual([
      ['2026-04', 'Transport', 500.5],
      ['2026-04', 'Tuition', 666.7],
      ['2026-05', 'Tuition', 1000],
    ]);
    await expect(receipts().dues(scopeWith(['teacher']), 'bina')).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(receipts().dues(ACCOUNTANT, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('recordReceipt', () => {
  it('refuses who is no accountant', () => {
    const input = { studentId: 'anu', paymentType: 'cash', amount: money('1') } as const;
    expect(() => receipts().record(scopeWith(['clerk']), input)).toThrow(/accountant/);
    const key = scopeWith(['accountant'], {
      scopes: { collections: { '*': ['read'] }, reports: [], scripts: [] },
    });
    expect(() => receipts().record(key, input)).toThrow(/API key/);
  });

  it.each([
    [
      'a cheque without a number',
      { studentId: 'anu', paymentType: 'cheque' as const, amount: money('1') },
      /instrumentNo/,
    ],
    [
      'a cheque whose number cannot be seen',
      { studentId: 'anu', paymentType: 'cheque' as const, instrumentNo: ' \u200B', amount: money('1') },
      /the number of the cheque/,
    ],
    ['an unknown student', { studentId: 'nobody', amount: money('1') }, /no student/],
    ['neither amount nor lines', { studentId: 'anu' }, /either amount or lines/],
    ['an amount of three places', { studentId: 'anu', amount: money('1.005') }, /two decimal places/],
    ['nothing', { studentId: 'anu', amount: money('0') }, /above 0/],
    ['more than is owed', { studentId: 'anu', amount: money('2500.51') }, /at most 2500.50/],
    [
      'a line without a due',
      { studentId: 'anu', lines: [{ feeHead: 'Tuition', month: '2026-06', amount: money('1') }] },
      /no due/,
    ],
    [
      'a line above its due',
      { studentId: 'anu', lines: [{ feeHead: 'Tuition', month: '2026-04', amount: money('1000.01') }] },
      /owes 1000.00 of Tuition of 2026-04; expected at most 1000.00/,
    ],
    [
      'two lines of one due that are above it together',
      {
        studentId: 'anu',
        lines: [
          { feeHead: 'Transport', month: '2026-04', amount: money('500') },
          { feeHead: ' transport', month: '2026-04', amount: money('0.51') },
        ],
      },
      /at most 0.50/,
    ],
    [
      'a line of nothing, and without a fine',
      { studentId: 'anu', lines: [{ feeHead: 'Tuition', month: '2026-04', amount: money('0') }] },
      /above 0/,
    ],
    [
      'a day before the admission',
      { studentId: 'anu', amount: money('1'), date: '2026-03-31T18:29:59.000Z' },
      /before the student was admitted/,
    ],
    ['a year of no report', { studentId: 'anu', amount: money('1'), date: '0000-01-01T00:00:00Z' }, /1900/],
    ['a day to come', { studentId: 'anu', amount: money('1'), date: '2026-07-06T06:00:00.001Z' }, /future/],
    [
      'the replacement of a receipt that is none',
      { studentId: 'anu', amount: money('1'), replaces: 'R-77' },
      /no receipt/,
    ],
  ])('refuses %s, and takes no number for it', async (_what, input, message) => {
    await expect(receipts().record(ACCOUNTANT, { paymentType: 'cash', ...input })).rejects.toThrow(message);
    expect(await test.database.query(sql`select id from records where collection = 'fee_receipt'`)).toEqual(
      [],
    );
  });

  it('allocates an amount to the oldest due date first, concessions taken off', async () => {
    // Bina: Tuition of April 1000 − 33.33 % = 666.70; due on the same day, Transport comes first by name.
    const receipt = await receipts().record(ACCOUNTANT, {
      studentId: 'bina',
      paymentType: 'cheque',
      instrumentNo: '004217',
      amount: money('1200'),
    });
    expect(receipt).toMatchObject({
      receiptNo: 'R-1',
      studentId: 'bina',
      student: 'Name of bina',
      class: '5',
      paymentType: 'cheque',
      instrumentNo: '004217',
      status: 'active',
      lines: [
        { feeHead: 'Transport', month: '2026-04', amount: money('500.50'), fine: money('0.00') },
        { feeHead: 'Tuition', month: '2026-04', amount: money('666.70'), fine: money('0.00') },
        { feeHead: 'Tuition', month: '2026-05', amount: money('32.80'), fine: money('0.00') },
      ],
      total: money('1200.00'),
    });
  });

  it('adds fines of lines to the total, to the paisa', async () => {
    const lines = [
      { feeHead: 'Tuition', month: '2026-04', amount: money('0.10'), fine: money('0.20') },
      { feeHead: 'Transport', month: '2026-04', amount: money('0.30') },
    ];
    const receipt = await receipts().record(ACCOUNTANT, { studentId: 'anu', paymentType: 'cash', lines });
    expect(receipt.total).toEqual(money('0.60'));
    expect(receipt.receiptNo).toBe('R-2');
  });

  it('takes a fine alone', async () => {
    const lines = [{ feeHead: 'Tuition', month: '2026-04', amount: money('0'), fine: money('50') }];
    const input = { studentId: 'many-49', paymentType: 'cash', series: 'FINE-', lines } as const;
    expect((await receipts().record(ACCOUNTANT, input)).total).toEqual(money('50.00'));
  });

  it('answers the same request twice with the same receipt', async () => {
    const input = { studentId: 'anu', paymentType: 'cash', amount: money('10') } as const;
    const first = await receipts().record(ACCOUNTANT, input, { idempotencyKey: 'key-1' });
    expect(await receipts().record(ACCOUNTANT, input, { idempotencyKey: 'key-1' })).toEqual(first);
    expect(first.receiptNo).toBe('R-3');
  });

  it('numbers the receipts of 50 cashiers at once without a gap', async () => {
    const written = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        receipts().record(scopeWith(['accountant'], { id: `usr-${index}` }), {
          studentId: `many-${index}`,
          paymentType: 'cash',
          // Every fifth fails: it must leave no gap.
          amount: money(index % 5 === 0 ? '100.01' : '100'),
        }),
      ),
    );
    const numbers = written.flatMap((one) =>
      one.status === 'fulfilled' ? [Number(one.value.receiptNo.slice(2))] : [],
    );
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 4));
  });

  it('never allocates one due twice, however many pay at once', async () => {
    const written = await Promise.allSettled(
      Array.from({ length: 5 }, () =>
        receipts().record(ACCOUNTANT, { studentId: 'many-0', paymentType: 'cash', amount: money('100') }),
      ),
    );
    expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('goes on after the greatest number of an imported series', async () => {
    await test.insert('fee_receipt', [
      { _id: 'old', receipt_no: 'B/9', status: 'active' },
      { _id: 'older', receipt_no: 'B/10', status: 'active' },
    ]);
    const receipt = await receipts().record(ACCOUNTANT, {
      studentId: 'anu',
      paymentType: 'cash',
      amount: money('1'),
      series: 'B/',
    });
    expect(receipt.receiptNo).toBe('B/11');
  });
  it('asks a student who left for nothing after the month of leaving, heads in the order of the school', async () => {
    await test.insert('fee_head', [
      { _id: 'head-1', name: 'Zoo', order: 1 },
      { _id: 'head-2', name: 'Art', order: 2 },
      { _id: 'head-3', name: 'Transport', order: 3 },
      { _id: 'head-4', name: 'Tuition', order: 4 },
    ]);
    await test.insert('registration', [
      {
        ...{ _id: 'chand', sequence: 'chand', name: 'Chand', class: '5', section: 'A', session: '2026-27' },
        ...{ admitted_on: '2026-04-01', left_on: '2026-05-20', status: 'withdrawn' },
      },
    ]);
    await test.insert(
      'fee_due',
      ['2026-05', '2026-06'].flatMap((month) => ['Art', 'Zoo'].map((head) => due('chand', month, head, 100))),
    );
    const pay = (digits: string) =>
      receipts().record(ACCOUNTANT, { studentId: 'chand', paymentType: 'cash', amount: money(digits) });
    const owed = async () => {
      const run = await feeDefaulters.run(test.services, scopeWith(['admin']), {
        ...{ startMonth: '2026-04', endMonth: '2026-07', includeLeft: 'true' },
      });
      const { rows } = JSON.parse(await readText(run.answer({ format: 'json' })));
      const [row] = rows.filter(({ studentId }: { studentId: string }) => studentId === 'chand');
      return row && [row.balance, row.breakdown.map(({ balance }: { balance: number }) => balance)];
    };
    expect(await owed()).toEqual([200, [100, 100]]);
    await expect(pay('200.01')).rejects.toThrow(/at most 200.00/);
    const { lines } = await pay('150');
    expect(lines.map(({ feeHead, month, amount }) => `${month} ${feeHead} ${amount.toString()}`)).toEqual([
      '2026-05 Zoo 100.00',
      '2026-05 Art 50.00',
    ]);
    expect(await owed()).toEqual([50, [0, 50]]);
    const afterLeaving = { feeHead: 'Art', month: '2026-06', amount: money('1') };
    await expect(
      receipts().record(ACCOUNTANT, { studentId: 'chand', paymentType: 'cash', lines: [afterLeaving] }),
    ).rejects.toThrow(/no due/);
    await pay('50');
    expect(await owed()).toBeUndefined();
  });
});

describe('rollBackReceipt', () => {
  const rollback = { receiptNo: 'R-1', reason: 'Cheque returned', type: 'bounce' } as const;

  it('refuses who is no accountant, an unknown receipt, and no reason', async () => {
    expect(() => receipts().rollBack(scopeWith(['teacher']), rollback)).toThrow(/accountant/);
    await expect(receipts().rollBack(ACCOUNTANT, { ...rollback, receiptNo: 'R-999' })).rejects.toThrow(
      /no receipt/,
    );
    await expect(receipts().rollBack(ACCOUNTANT, { ...rollback, reason: ' ' })).rejects.toThrow(/reason/);
  });

  it('rolls back once, with who, when and why', async () => {
    const both = await Promise.allSettled([
      receipts().rollBack(ACCOUNTANT, rollback),
      receipts().rollBack(ACCOUNTANT, rollback),
    ]);
    const done = both.filter((one) => one.status === 'fulfilled');
    const refused = both.filter((one) => one.status === 'rejected');
    expect(done).toHaveLength(1);
    expect(done[0]?.value).toMatchObject({
      status: 'rolled_back',
      rolledBackOn: '2026-07-06T06:00:00.000Z',
      rollbackReason: 'Cheque returned',
      rollbackType: 'bounce',
    });
    expect(refused[0]?.reason).toMatchObject({ code: 'CONFLICT' });
    const audit = await test.database.query(sql`
select operation, principal from audit_entries where collection = 'fee_receipt' and record_id = (
  select id from records where collection = 'fee_receipt' and data->>'receipt_no' = 'R-1') order by id`);
    expect(audit).toEqual([
      { operation: 'created', principal: 'usr-accountant' },
      { operation: 'updated', principal: 'usr-accountant' },
    ]);
  });

  it('makes the dues open again, and its number stays taken', async () => {
    const ofAnother = { studentId: 'anu', paymentType: 'cash', amount: money('1'), replaces: 'R-1' } as const;
    await expect(receipts().record(ACCOUNTANT, ofAnother)).rejects.toThrow(
      'replaces is R-1, which another student has paid; expected the number of a rolled-back receipt',
    );
    const receipt = await receipts().record(ACCOUNTANT, {
      studentId: 'bina',
      paymentType: 'cash',
      amount: money('2167.20'),
      replaces: 'R-1',
    });
    expect(receipt).toMatchObject({ replaces: 'R-1', total: money('2167.20') });
    expect(receipt.receiptNo).not.toBe('R-1');
  });

  it('is replaced by one receipt in force, also when two come at once', async () => {
    const input = { studentId: 'anu', paymentType: 'cash', amount: money('10') } as const;
    const { receiptNo } = await receipts().record(ACCOUNTANT, input);
    await receipts().rollBack(ACCOUNTANT, { ...rollback, receiptNo });
    const replace = () => receipts().record(ACCOUNTANT, { ...input, replaces: receiptNo });
    const both = await Promise.allSettled([replace(), replace()]);
    const [replacing = ''] = both.flatMap((one) => (one.status === 'fulfilled' ? one.value.receiptNo : []));
    const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const message = expect.stringContaining(`is ${receiptNo}, which ${replacing} replaces`);
    expect(refused).toMatchObject([{ code: 'INVALID_VALUE', message }]);
    await receipts().rollBack(ACCOUNTANT, { ...rollback, receiptNo: replacing });
    expect(await replace()).toMatchObject({ replaces: receiptNo });
  });
});

it('a receipt of a day alone is of its first instant', async () => {
  const input = { studentId: 'anu', paymentType: 'cash', amount: money('1'), date: '2026-07-01' } as const;
  expect(await receipts().record(ACCOUNTANT, input)).toMatchObject({ date: '2026-07-01T00:00:00.000Z' });
});
