import { describe, expect, it } from '@jest/globals';
import { createCellPrinter, headingOfPath, printTableCsv } from '../../../src/portal/explore/cell-printer.js';
import type { CellKind, ResultTable } from '../../../src/portal/explore/result-tables.js';

function table(columns: Readonly<Record<string, CellKind>>, rows: ResultTable['rows']): ResultTable {
  return { name: 't', columns: Object.entries(columns).map(([path, kind]) => ({ path, kind })), rows };
}

describe('a heading', () => {
  it.each([
    ['key.dateMonth', 'Date month'],
    ['node.manager.label', 'Manager label'],
    ['data.created_on', 'Data created on'],
    ['key', 'Key'],
  ])('of %s is %s', (path, heading) => {
    expect(headingOfPath(path)).toBe(heading);
  });
});

describe('a cell', () => {
  const print = createCellPrinter({ locale: 'en-IN', timeZone: 'Asia/Kolkata' });
  it.each([
    ['1234567.5', 'decimal', '12,34,567.50'],
    ['98765432109876543210.12', 'decimal', '9,87,65,43,21,09,87,65,43,210.12'],
    [1234567, 'number', '12,34,567'],
    [72.07, 'number', '72.07'],
    ['2026-11-19T20:05:00.000Z', 'instant', '2026-11-20 01:35'],
    ['2026-11-20', 'day', '2026-11-20'],
    [true, 'boolean', 'yes'],
    [null, 'text', ''],
    ['N/A', 'decimal', 'N/A'],
  ] as const)('%j as %s reads %s', (cell, kind, text) => {
    expect(print(cell, kind)).toBe(text);
  });
});

describe('CSV', () => {
  it('is RFC 4180 in UTF-8, with a mark for spreadsheets, numbers as they came', () => {
    const csv = printTableCsv(
      table({ 'student.name': 'text', owes: 'decimal', n: 'number', ok: 'boolean' }, [
        ['Sharma, "Asha"', '-12.50', 1.5, true],
        ['शर्मा\nline', null, null, null],
      ]),
    );
    expect(csv).toBe(
      '\uFEFFstudent.name,owes,n,ok\r\n"Sharma, ""Asha""",-12.50,1.5,true\r\n"शर्मा\nline",,,\r\n',
    );
  });

  it.each(['=1+1', '@SUM(A1)', '+cmd|x', '-2+3+cmd', '\tx', '\r=1', '\n=1', '＝1+1', '＠SUM(A1)'])(
    'shows %j as text, so that no spreadsheet runs it',
    (text) => {
      expect(printTableCsv(table({ remark: 'text' }, [[text]]))).toMatch(/\r\n"?'/);
    },
  );

  it('runs no formula of a heading, nor of what was to be a number', () => {
    expect(printTableCsv(table({ '=1+1': 'text', owes: 'decimal' }, [['a', '=2+2']]))).toBe(
      "\uFEFF'=1+1,owes\r\na,'=2+2\r\n",
    );
  });

  it('leaves a phone number as it is', () => {
    expect(printTableCsv(table({ phone: 'text' }, [['+915090242410']]))).toBe(
      '\uFEFFphone\r\n+915090242410\r\n',
    );
  });
});
