import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Collection } from '../../../src/base/model/collection.js';
import { assertNothingReplaced, doubtsOfMapping } from '../../../src/services/importing/doubts-of-mapping.js';
import { eventOf } from '../../../src/services/importing/heading-synonyms.js';
import type { ColumnMapping } from '../../../src/services/importing/import-mapping.js';
import { proposeKey, proposeMapping } from '../../../src/services/importing/propose-mapping.js';
import { inspectSource } from '../../../src/services/importing/reading/inspect-source.js';
import { openRowSource } from '../../../src/services/importing/reading/open-row-source.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import { withFile } from './reading/source-fixture.js';

const [students, attendance, tasks] = ['registration', 'attendance', 'task'].map((name) =>
  parseCollection(JSON.parse(readFileSync(`schema/collections/${name}.json`, 'utf8')), {
    source: `${name}.json`,
    isDeclared: true,
    version: 1,
  }),
) as [Collection, Collection, Collection];

async function mappingOf(collection: Collection, ...lines: readonly string[]) {
  return await withFile(`${lines.join('\n')}\n`, async (path) => {
    const { columns: found } = await inspectSource(await openRowSource({ path }));
    const table = { columns: found.map(({ column }) => column), found };
    const mapping = proposeMapping(collection, table, (name) =>
      [students, attendance].find((one) => one.name === name),
    );
    return { columns: mapping.columns, by: proposeKey(collection, mapping, found) };
  });
}

async function proposed(...lines: readonly string[]) {
  return (await mappingOf(students, ...lines)).columns;
}

describe('the mapping that is proposed for marks of attendance', () => {
  it.each([
    ['Adm No', 'student.sequence'],
    ['sequence', 'student.sequence'],
    ['Student Admission No', 'student.sequence'],
    ['प्रवेश संख्या', 'student.sequence'],
    // The reference itself, and names that tell no student.
    ['student.value', 'student.value'],
    ['Roll No', null],
    ['Student Name', null],
  ])('gives the column %s to %s', async (column, field) => {
    const { columns } = await mappingOf(attendance, `${column},zzz`, 'a,b');
    expect(columns).toEqual([
      { column, field },
      { column: 'zzz', field: null },
    ]);
  });

  const DAYS = ['Date', 'Attendance Date', 'दिनांक', 'Day'];
  it.each(DAYS)('gives the days of %s to the mark', async (column) => {
    const { columns } = await mappingOf(attendance, `Adm No,${column},Status`, 'A-1,16/11/2026,present');
    expect(columns[1]).toEqual({ column, field: 'created', format: 'DD/MM/YYYY' });
  });

  it('reads days of two kinds by the ambiguous one, and marks by their initials', async () => {
    const { columns } = await mappingOf(
      attendance,
      ...['Adm No,Date,Status', 'A-1,2026-11-16,HD', 'A-2,16/11/2026,P'],
    );
    expect(columns[1]).toEqual({ column: 'Date', field: 'created', format: 'DD/MM/YYYY' });
    expect(columns[2]?.values).toEqual({ HD: 'half_day', P: 'present' });
  });

  it('finds a reference by one column, and records by what is unique together with it', async () => {
    const both = await mappingOf(attendance, 'student.value,Adm No,created', 's-1,A-1,2026-07-01T03:30:00Z');
    expect(both.columns.map(({ field }) => field)).toEqual(['student.value', null, 'created']);
    const { by } = await mappingOf(attendance, 'Adm No,created', 'A-1,2026-07-01T03:30:00Z');
    expect(by).toBe('student_day');
  });
});

describe('what a mapping does not say', () => {
  const found = async (text: string) =>
    await withFile(text, async (path) => (await inspectSource(await openRowSource({ path }))).columns);
  const mapping = (...columns: readonly ColumnMapping[]) => ({ columns, fixed: {} });
  const marks = 'Adm No,When,Remark\nA-1,16/11/2026,x\n';
  const key = { column: 'Adm No', field: 'student.sequence' };
  const remark = { column: 'Remark', field: 'remark' };
  const when = { column: 'When', field: null };

  it.each([
    [
      'a column of days beside a default',
      marks,
      mapping(key, when, remark),
      '"created" would get its default',
    ],
    ['a column that is not named', marks, mapping(key, remark), '"created" would get its default'],
    [
      'days in several formats',
      `Adm No,Seen,Remark\nA-1,16-11-26,x\nA-2,17.11.2026,x\nA-3,31/11/2026,x\n`,
      mapping(key, remark),
      '"created" would get its default',
    ],
    [
      'a heading of a day',
      'Adm No,Date,Remark\nA-1,Mon 16th,x\n',
      mapping(key, remark),
      '"created" would get its default',
    ],
    ['a column that is left out', marks, mapping(key, { ...when, leftOut: true }, remark), undefined],
    ['a default that is set', marks, mapping(key, { ...when, field: 'created' }), undefined],
    ['a column of other values', marks.replace('16/11/2026', 'late'), mapping(key, when), undefined],
  ])('refuses, or not, %s', async (_, text, given, refusal) => {
    const check = async () => assertNothingReplaced(attendance, given, await found(text));
    if (refusal === undefined) await expect(check()).resolves.toBeUndefined();
    else await expect(check()).rejects.toThrow(refusal);
  });

  it('warns of columns that go nowhere, destroyed values, days in a text, and fillers', async () => {
    const columns = await found(
      'Phone,Class,Email,Blood\n9.15854E+11,5,-,B+\n9876543210,05-Jun-2026,a@b.c,O\n',
    );
    const given = proposeMapping(
      students,
      { columns: columns.map(({ column }) => column), found: columns },
      () => undefined,
    );
    expect(given.columns.find(({ column }) => column === 'Email')).toMatchObject({ blank: ['-'] });
    expect(doubtsOfMapping(students, given, columns)).toEqual([
      'The column "Blood" is not mapped to a field, so these values are not imported: 2 (B+, O).',
      expect.stringContaining('"Phone" has values that a spreadsheet has destroyed: 1 (9.15854E+11, row 2)'),
      expect.stringContaining('"Class" has days among other values: 1'),
      expect.stringContaining('"Email": - counts as no value'),
    ]);
  });

  it('warns of keys that differ only in case or blanks', async () => {
    const columns = await found('Adm No,Name\nA 12,Asha\nB3,ASHA\na  12,Ravi\n');
    const given = {
      columns: [
        { column: 'Adm No', field: 'sequence' },
        { column: 'Name', field: 'name' },
      ],
      fixed: {},
    };
    expect(doubtsOfMapping(students, given, columns)).toEqual([
      expect.stringMatching(
        /^"Adm No" has values that differ only .*"A 12" and "a {2}12"\. They are the same/,
      ),
    ]);
  });
});

describe('a column that is called as the collection', () => {
  it.each([
    ['Task', 'name'],
    ['Tasks', 'name'],
    ['The task', null],
    ['Work', null],
  ])('%s of tasks goes to %s', async (column, field) => {
    const { columns } = await mappingOf(tasks, `${column},zzz`, 'Mend the roof,b', 'Paint the gate,c');
    expect(columns[0]).toEqual({ column, field });
  });

  it('has no names where its cells are numbers, or where another column has them', async () => {
    const { columns: numbers } = await mappingOf(tasks, 'Task,zzz', '1,b', '2,c');
    expect(numbers[0]).toEqual({ column: 'Task', field: null });
    const { columns: both } = await mappingOf(tasks, 'Task,Name', 'Roof,Mend the roof', 'Gate,Paint it');
    expect(both.map(({ field }) => field)).toEqual([null, 'name']);
  });
});

describe('the mapping that is proposed for a list of students', () => {
  it.each([
    ['name', 'name'],
    ['Student Name', 'name'],
    ['Admission Number', 'sequence'],
    ["Father's name", 'father_name'],
    ['Phone', 'guardian_phone'],
    ['Date of birth', 'dob'],
    ['Email', 'email'],
    ['Adm No', 'sequence'],
    ['Adm. No.', 'sequence'],
    ['ADMN NO', 'sequence'],
    ['Admission No.', 'sequence'],
    ['GR No', 'sequence'],
    ['Name of the Student', 'name'],
    ['Sex', 'gender'],
    ['DOB', 'dob'],
    ['D.O.B.', 'dob'],
    ['Birth Date', 'dob'],
    ["Father's Name", 'father_name'],
    ['Father’s Name', 'father_name'],
    ['F. Name', 'father_name'],
    ["Mother's Name", 'mother_name'],
    ['Std', 'class'],
    ['Sec.', 'section'],
    ['Roll', 'roll_no'],
    ['Roll No.', 'roll_no'],
    ['Mobile No.', 'guardian_phone'],
    ['Contact Number', 'guardian_phone'],
    ['Caste', 'category'],
    ['Academic Year', 'session'],
    ['D.O.A.', 'admitted_on'],
    ['E-mail ID', 'email'],
    ['Bus Route', 'route'],
    ['Date of Leaving', 'left_on'],
    ['Leaving Date', 'left_on'],
    ['Withdrawal Date', 'left_on'],
    ['Last Day', 'left_on'],
    ['DOL', 'left_on'],
    ['नाम', 'name'],
    ['पिता का नाम', 'father_name'],
    ['जन्म तिथि', 'dob'],
    ['कक्षा', 'class'],
    // A serial number is no roll number, and no other person's phone the family's.
    ['S. No.', null],
    ['Sr No', null],
    ['Teacher Phone', null],
    // Two fields have the word, and none is it alone.
    ['Parent names', null],
    ['Student', null],
    ['Blood group', null],
    ['error', null],
  ])('gives the column %s to the field %s', async (column, field) => {
    expect(await proposed(`${column},zzz`, ',b')).toMatchObject([{ column, field }, { field: null }]);
  });

  it.each([
    ['Date of Admission', '01/04/2024', 'admitted_on'],
    ['Admission Date', '45383', 'admitted_on'],
    ['admitted at', '', 'admitted_on'],
    ['DOA', '01/04/2024', 'admitted_on'],
    // What stands in it is no day.
    ['DOA', 'yes', null],
    ['Date of Admission', 'yes', null],
    // Another event, one that the heading shares nothing but letters with, and two of them.
    ['Date of Administration', '01/04/2024', null],
    ['Admission test date', '01/04/2024', null],
    ['Date', '01/04/2024', null],
  ])('gives the column %s of %s to the field %s', async (column, cell, field) => {
    expect(await proposed(`${column},zzz`, `${cell},b`)).toMatchObject([{ column, field }, { field: null }]);
  });

  it('says how most days are written, where they are so in several ways', async () => {
    const days = ['31/03/2015', '30-Apr-2015', '01/04/2015', 'not known'];
    expect(await proposed('DOB,zzz', ...days.map((day) => `${day},b`))).toMatchObject([
      { field: 'dob', format: 'DD/MM/YYYY' },
      { field: null },
    ]);
    expect((await proposed('DOB,zzz', '2015-03-31,b', '30-Apr-2015,b', '2015-04-02,b'))[0]).toEqual({
      ...{ column: 'DOB', field: 'dob' },
    });
  });

  it('gives neither of two columns to the day that both may be', async () => {
    const columns = await proposed('Date of Admission,Admission Date', '01/04/2024,02/04/2024');
    expect(columns.map(({ field }) => field)).toEqual([null, null]);
  });

  it.each([
    ['Enrolment Date', 'enrolled_on'],
    ['Date of Withdrawal', 'withdrawn_on'],
    ['Day of joining', 'joined_on'],
    ['Date of issue', 'issued_on'],
    ['Submission date', 'submitted_at'],
    ['Date of Payment', 'paid_on'],
  ])('takes %s and %s for the day of one event, where their words say so', (heading, field) => {
    expect(eventOf(heading) === eventOf(field)).toBe(field !== 'paid_on');
  });

  it.each([
    ['Class/Sec', ['10-A', '10-B'], '-', ['class', 'section']],
    ['Class/Sec', ['X/B', 'IX/A'], '/', ['class', 'section']],
    ['Class/Sec', ['10A', '9 B', '8-C'], '', ['class', 'section']],
    ['Std', ['10A', '10B'], '', ['class', 'section']],
    ['Class & Section', ['10 A', '9  B'], ' ', ['class', 'section']],
    ['Std-Div', ['5 - A', '5 - B', 'Nursery'], '-', ['class', 'section']],
    ['Class Section', ['10-A'], '-', ['class', 'section']],
    ['कक्षा/अनुभाग', ['१०-अ'], '-', ['class', 'section']],
    ['Class, Section and Roll No', ['10-A-7', '10-A-8'], '-', ['class', 'section', 'roll_no']],
    ['Father / Mother Name', ['Ram Lal / Sita Lal'], '/', ['father_name', 'mother_name']],
  ])('parts the column %s of %j at %j, for the fields %j', async (column, cells, separator, fields) => {
    const rows = cells.map((cell) => `"${cell}",b`);
    const of = fields.length;
    const parts = fields.map((field, at) => ({
      ...{ column, field },
      part: { separator, number: at + 1, of },
    }));
    expect(await proposed(`"${column}",zzz`, ...rows)).toEqual([...parts, { column: 'zzz', field: null }]);
  });

  it.each([
    // The cells are something whole, have no parts, or other ones than the heading names.
    ['Class/Sec', '01/02/2026'],
    ['Class/Sec', 'XA'],
    ['Class/Sec', '10-A-7'],
    ['Phone/Email', '98765 43210'],
    // Both words are of one field, one is of none, or what stands there can be no value of it.
    ['Mobile/Phone', '98765 43210 / 98765 43211'],
    ['Class/House', '10-Red'],
    ['Class/DOB', '10-Red'],
  ])('parts the column %s of %s not', async (column, cell) => {
    expect(await proposed(`${column},zzz`, `${cell},b`)).toMatchObject([{ field: null }, { field: null }]);
  });

  it('parts no column where another has one of the fields', async () => {
    const columns = await proposed('Class/Sec,Section', '10-A,A');
    expect(columns.map(({ field }) => field)).toEqual([null, 'section']);
  });

  it('reads a part as its cells are written', async () => {
    expect(await proposed('Gender/DOB,zzz', 'M|31/03/2015,b', 'F|01/04/2015,b')).toEqual([
      {
        ...{ column: 'Gender/DOB', field: 'gender', part: { separator: '|', number: 1, of: 2 } },
        values: { M: 'male', F: 'female' },
      },
      {
        ...{ column: 'Gender/DOB', field: 'dob', part: { separator: '|', number: 2, of: 2 } },
        format: 'DD/MM/YYYY',
      },
      { column: 'zzz', field: null },
    ]);
  });

  it('gives a field to one column, the nearest', async () => {
    const columns = await proposed('Student Name,name', 'a,b');
    expect(columns.map(({ field }) => field)).toEqual([null, 'name']);
  });

  it('knows allowed values in capitals and by their first letter', async () => {
    expect(await proposed('Gender,Status', 'Male,A', 'FEMALE,active', 'Femal,Withdrawn')).toMatchObject([
      { field: 'gender', values: { Male: 'male', FEMALE: 'female' } },
      { field: 'status', values: { A: 'active', Withdrawn: 'withdrawn' } },
    ]);
  });
});
