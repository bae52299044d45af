import { describe, expect, it } from '@jest/globals';
import { openRowSource } from '../../../../src/services/importing/reading/open-row-source.js';
import { findUnfoldedDays, unfoldDays } from '../../../../src/services/importing/reading/unfold-days.js';
import { allRows, withFile } from './source-fixture.js';

async function unfolded(csv: string, name = 'register.csv') {
  return await withFile(csv, async (path) => {
    const source = await openRowSource({ path, name });
    const unfold = await findUnfoldedDays(source, name);
    if (unfold === undefined) return undefined;
    const long = unfoldDays(source, unfold);
    return {
      unfold,
      warnings: long.warnings,
      rows: (await allRows(long)).map(({ number, values }) => [number, ...Object.values(values)]),
    };
  });
}

describe('a register with a column for each day', () => {
  it('is read as a row for each filled cell of a day, by the day of its heading', async () => {
    const found = await unfolded('Adm No,16/11/2026,17/11/2026,18-Nov-26\nA-1,P,,A\nA-2,,P,P\n');
    expect(found?.rows).toEqual([
      [1, 'A-1', '2026-11-16', 'P'],
      [2, 'A-1', '2026-11-18', 'A'],
      [3, 'A-2', '2026-11-17', 'P'],
      [4, 'A-2', '2026-11-18', 'P'],
    ]);
  });

  it('takes the order of day and month from all headings', async () => {
    const found = await unfolded('Adm No,11/02/2026,11/03/2026,11/16/2026\nA-1,P,P,P\n');
    expect(found?.rows.map(([, , day]) => day)).toEqual(['2026-11-02', '2026-11-03', '2026-11-16']);
  });

  it.each([
    [
      'the title',
      'Attendance for the month of November 2026,,,,,\nRoll,1,Mon 2,3rd,4 (Wed),05\n7,P,A,P,P,P\n',
      'x.csv',
    ],
    ['the name of the file', 'Roll,1,Mon 2,3rd,4 (Wed),05\n7,P,A,P,P,P\n', 'class 5 Nov-2026.csv'],
  ])('takes the month of numbered days from %s', async (_, csv, name) => {
    const found = await unfolded(csv, name);
    expect(found?.rows.map(([, , day]) => day)).toEqual([1, 2, 3, 4, 5].map((day) => `2026-11-0${day}`));
  });

  it('keeps the numbers where no month is named, and says how to give it', async () => {
    const found = await unfolded('Roll,1,2,3,4,5\n7,P,A,P,P,P\n');
    expect(found?.rows[1]).toEqual([2, '7', '2', 'A']);
    expect(found?.warnings.join()).toContain('Give it as the format of "day", such as 2026-11');
  });

  it('has months as well, and columns of its own that are called so', async () => {
    const found = await unfolded('Adm No,day,Apr-26,May 2026,06/2026\nA-1,x,100,200,300\n');
    expect(found?.unfold.day).toBe('day of the register');
    expect(found?.rows.map(([, , , month]) => month)).toEqual(['2026-04', '2026-05', '2026-06']);
  });

  it.each([
    ['two days among the fields of a student', 'Name,01/04/2026,02/04/2026\nA,x,y\n'],
    ['the marks of numbered questions', 'Roll,1,2,3,4,5,6,7,8\n7,4,5,3,2,1,4,5,5\n'],
    ['no days', 'Name,Class,Section\nA,5,A\n'],
  ])('is not seen in %s', async (_, csv) => {
    expect(await unfolded(csv)).toBeUndefined();
  });
});
