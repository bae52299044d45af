import { describe, expect, it } from '@jest/globals';
import { classGradeBook, gradeBook } from '../../../src/school/reports/grade-book.js';
import { CLERK, FARIDA, KAVITA, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const HALF_YEAR = { session: '2026-27', term: 'halfyear' };

describe('gradeBook refuses', () => {
  it.each([
    [{ ...HALF_YEAR, admissionNo: 'A-109', session: '2026-28' }, 'session'],
    [{ ...HALF_YEAR, admissionNo: 'A-109', term: 'midyear' }, 'term'],
    [HALF_YEAR, 'admission_no'],
  ])('%j by the name of the parameter', async (sent, parameter) => {
    await expect(school.run(gradeBook, sent)).rejects.toMatchObject({
      status: 400,
      errors: [expect.objectContaining({ parameter })],
    });
  });

  it('a term other than the two, naming both', async () => {
    await expect(
      school.run(gradeBook, { ...HALF_YEAR, admissionNo: 'A-109', term: 'midyear' }),
    ).rejects.toThrow('term is "midyear"; expected one of halfyear, finalyear');
  });

  it('an admission number nobody has', async () => {
    await expect(school.run(gradeBook, { ...HALF_YEAR, admissionNo: 'A-999' })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('a role without the right', async () => {
    await expect(school.run(gradeBook, { ...HALF_YEAR, admissionNo: 'A-109' }, CLERK)).rejects.toMatchObject({
      status: 403,
    });
  });

  it('a teacher of another section, as it refuses a number nobody has', async () => {
    await expect(school.run(gradeBook, { ...HALF_YEAR, admissionNo: 'A-101' }, FARIDA)).rejects.toMatchObject(
      { status: 404 },
    );
  });
});

describe('gradeBook of the twelve students', () => {
  it('takes 90.5 % as A2 and leaves an exempt subject out', async () => {
    const { rows, totals, warnings } = await school.run(gradeBook, { ...HALF_YEAR, admissionNo: 'A-109' });
    expect(rows).toEqual([
      {
        subject: 'English',
        components: [
          { name: 'Written', marks: '72', max: 80, weight: 80 },
          { name: 'Oral', marks: '18.5', max: 20, weight: 20 },
        ],
        // Of 90.5, 90 and 15; Lata has 86: 281.5 / 4 = 70.375.
        ...{
          percent: 90.5,
          grade: 'A2',
          state: 'graded',
          passed: true,
          sectionHighest: 90.5,
          sectionAverage: 70.38,
        },
      },
      {
        subject: 'Mathematics',
        components: [{ name: 'Written', marks: '90', max: 100, weight: 100 }],
        // (90 + 85 + 33) / 3.
        ...{
          percent: 90,
          grade: 'A2',
          state: 'graded',
          passed: true,
          sectionHighest: 90,
          sectionAverage: 69.33,
        },
      },
      {
        subject: 'Science',
        components: [
          { name: 'Theory', marks: '60', max: 70, weight: 70 },
          { name: 'Practical', marks: '25', max: 30, weight: 30 },
        ],
        // (85 + 90.5 + 50 + 60) / 4 = 71.375.
        ...{
          percent: 85,
          grade: 'A2',
          state: 'graded',
          passed: true,
          sectionHighest: 90.5,
          sectionAverage: 71.38,
        },
      },
      {
        subject: 'Art',
        components: [{ name: 'Project', marks: 'EX', max: 50, weight: 100 }],
        // (88.5 + 60 + 50) / 3 = 66.1666…
        ...{
          percent: null,
          grade: null,
          state: 'exempt',
          passed: null,
          sectionHighest: 88.5,
          sectionAverage: 66.17,
        },
      },
    ]);
    expect(totals).toEqual({
      ...{ studentId: 'stu-09', admissionNo: 'A-109', name: 'Ishan Bose', class: '10', section: 'A' },
      ...{ percent: 88.5, grade: 'A2', result: 'pass', rank: 1, sectionSize: 4, classRank: 1, classSize: 4 },
      ...{ remarks: 'Attentive; practise handwriting', published: true },
    });
    expect(warnings).toEqual([]);
  });

  it('counts a paper missed as 0 and shows it as AB', async () => {
    const { rows, totals } = await school.run(gradeBook, { ...HALF_YEAR, admissionNo: 'A-111' });
    expect(rows[0]).toMatchObject({
      components: [{ marks: 'AB' }, { marks: '15' }],
      ...{ percent: 15, grade: 'E', passed: false },
    });
    expect(rows[1]).toMatchObject({ percent: 33, grade: 'D', passed: true });
    expect(totals).toMatchObject({ percent: 39.5, grade: 'D', result: 'compartment', rank: 3 });
  });

  it('never takes what is not entered as 0', async () => {
    const { rows, totals } = await school.run(gradeBook, { ...HALF_YEAR, admissionNo: 'A-112' });
    expect(rows[1]).toMatchObject({
      components: [{ name: 'Written', marks: '–', max: 100, weight: 100 }],
      ...{ percent: null, grade: null, state: 'incomplete', passed: null },
    });
    expect(totals).toMatchObject({
      percent: null,
      grade: null,
      result: 'incomplete',
      rank: null,
      sectionSize: 4,
      published: false,
    });
  });

  it('leaves marks written as a text out, with a warning', async () => {
    const { rows, totals, warnings } = await school.run(
      gradeBook,
      { ...HALF_YEAR, admissionNo: 'A-103' },
      KAVITA,
    );
    expect(rows[1]).toMatchObject({ subject: 'Mathematics', state: 'incomplete', percent: null });
    expect(totals).toMatchObject({ name: 'चित्रा देवी', result: 'incomplete' });
    expect(warnings).toEqual([
      { collection: 'result', reason: 'marks is not a number', count: 1, ids: ['res-03'] },
    ]);
  });

  it('is of the session asked for, and empty where there is no result', async () => {
    const before = await school.run(gradeBook, {
      session: '2025-26',
      term: 'finalyear',
      admissionNo: 'A-109',
    });
    expect(before.totals).toMatchObject({ class: '9', percent: 100, grade: 'A1', rank: 1, sectionSize: 1 });
    const none = await school.run(gradeBook, { ...HALF_YEAR, term: 'finalyear', admissionNo: 'A-109' });
    expect(none).toMatchObject({
      rows: [],
      totals: { admissionNo: 'A-109', name: 'Ishan Bose', percent: null, result: null },
    });
  });

  it('reads so', async () => {
    expect(await school.review(gradeBook, { ...HALF_YEAR, admissionNo: 'A-109' })).toMatchSnapshot();
  });
});

describe('classGradeBook refuses', () => {
  it.each([
    [{ ...HALF_YEAR, class: '10', term: '' }, 400],
    [{ ...HALF_YEAR, class: '11' }, 404],
    [{ ...HALF_YEAR, class: '10', section: 'B' }, 404],
  ])('%j', async (sent, status) => {
    await expect(school.run(classGradeBook, sent)).rejects.toMatchObject({ status });
  });

  it('a role without the right, and a teacher of another section', async () => {
    const sent = { ...HALF_YEAR, class: '5', section: 'A' };
    await expect(school.run(classGradeBook, sent, CLERK)).rejects.toMatchObject({ status: 403 });
    await expect(school.run(classGradeBook, sent, FARIDA)).rejects.toMatchObject({ status: 403 });
  });
});

/** A line in short: overall, result and rank. */
function line(row: object) {
  const { name, percent, grade, result, rank, sectionSize, classRank, classSize } = row as Record<
    string,
    unknown
  >;
  return [name, percent, grade, result, rank, sectionSize, classRank, classSize];
}

describe('classGradeBook of the twelve students', () => {
  it('gives two the first rank and the next the third', async () => {
    const { rows, totals, warnings } = await school.run(classGradeBook, { ...HALF_YEAR, class: '10' });
    expect(rows.map(line)).toEqual([
      ['Ishan Bose', 88.5, 'A2', 'pass', 1, 4, 1, 4],
      ['Jaya Nair', 88.5, 'A2', 'pass', 1, 4, 1, 4],
      ['Kabir Das', 39.5, 'D', 'compartment', 3, 4, 3, 4],
      ['Lata Joshi', null, null, 'incomplete', null, 4, null, 4],
    ]);
    expect(rows[1]).toEqual({
      ...{ section: 'A', rollNo: 2, studentId: 'stu-10', admissionNo: 'A-110', name: 'Jaya Nair' },
      subjects: [
        { subject: 'English', percent: 90, grade: 'A2', state: 'graded', wasAbsent: false },
        { subject: 'Mathematics', percent: 85, grade: 'A2', state: 'graded', wasAbsent: false },
        { subject: 'Science', percent: 90.5, grade: 'A2', state: 'graded', wasAbsent: false },
        { subject: 'Art', percent: 88.5, grade: 'A2', state: 'graded', wasAbsent: false },
      ],
      ...{
        percent: 88.5,
        grade: 'A2',
        result: 'pass',
        rank: 1,
        sectionSize: 4,
        classRank: 1,
        classSize: 4,
        published: true,
      },
    });
    expect(totals).toEqual({
      ...{ students: 4, pass: 2, compartment: 1, fail: 0, incomplete: 1 },
      // (88.5 + 88.5 + 39.5) / 3 = 72.1666…
      ...{ highest: 88.5, average: 72.17 },
      subjects: [
        { subject: 'English', graded: 4, highest: 90.5, average: 70.38, passed: 3, incomplete: 0 },
        { subject: 'Mathematics', graded: 3, highest: 90, average: 69.33, passed: 3, incomplete: 1 },
        { subject: 'Science', graded: 4, highest: 90.5, average: 71.38, passed: 4, incomplete: 0 },
        { subject: 'Art', graded: 3, highest: 88.5, average: 66.17, passed: 3, incomplete: 0 },
      ],
    });
    expect(warnings).toEqual([]);
  });

  it('rounds half up at two places, and ranks within section and class', async () => {
    const { rows, totals, warnings } = await school.run(classGradeBook, { ...HALF_YEAR, class: '5' });
    expect(rows.map(line)).toEqual([
      ['Aarav Sharma', 58.33, 'C1', 'pass', 1, 3, 1, 4],
      ['Bhavna Rao', 48.77, 'C2', 'compartment', 2, 3, 2, 4],
      ['चित्रा देवी', null, null, 'incomplete', null, 3, null, 4],
      ['Dev Patel', 22.22, 'E', 'fail', 1, 1, 3, 4],
    ]);
    expect(rows[0]).toMatchObject({
      subjects: [
        { subject: 'Hindi', percent: 66.67, grade: 'B2' },
        { subject: 'Mathematics', percent: 50, grade: 'C2' },
        { subject: 'Environment', percent: null, grade: null, state: 'exempt' },
      ],
    });
    expect(rows[1]).toMatchObject({
      subjects: [
        { subject: 'Hindi', percent: 33.33, grade: 'D' },
        { subject: 'Mathematics', percent: 32.99, grade: 'E' },
        { subject: 'Environment', percent: 80, grade: 'B1' },
      ],
    });
    expect(totals).toMatchObject({
      ...{ students: 4, pass: 1, compartment: 1, fail: 1, incomplete: 1, highest: 58.33, average: 43.11 },
      subjects: [
        // 66.67, 33.33, 30 and 16.67: 146.666… / 4.
        { subject: 'Hindi', graded: 4, highest: 66.67, average: 36.67, passed: 2, incomplete: 0 },
        // 50, 32.99 and 20: 102.99 / 3.
        { subject: 'Mathematics', graded: 3, highest: 50, average: 34.33, passed: 1, incomplete: 1 },
        // 80, 70 and 30.
        { subject: 'Environment', graded: 3, highest: 80, average: 60, passed: 2, incomplete: 0 },
      ],
    });
    expect(warnings).toEqual([
      { collection: 'result', reason: 'marks is not a number', count: 1, ids: ['res-03'] },
    ]);
  });

  it('keeps the rank of the whole class where a teacher sees one section', async () => {
    const { rows, totals } = await school.run(classGradeBook, { ...HALF_YEAR, class: '5' }, FARIDA);
    expect(rows.map(line)).toEqual([['Dev Patel', 22.22, 'E', 'fail', 1, 1, 3, 4]]);
    expect(totals).toMatchObject({ students: 1, fail: 1 });
  });

  it('has a column a subject in CSV', async () => {
    const run = await classGradeBook.run(school.services, school.scope(), { ...HALF_YEAR, class: '10' });
    let csv = '';
    for await (const chunk of run.answer({ format: 'csv' }).body) csv += String(chunk);
    expect(csv.split('\r\n').slice(0, 2)).toEqual([
      'Section,Roll no,Student id,Admission ' +
        'no,Name,English,Mathematics,Science,Art,Percent,Grade,Result,Rank,Section size,Class ' +
        'rank,Class size,Published',
      'A,1,stu-09,A-109,Ishan Bose,90.50,90.00,85.00,,88.50,A2,pass,1,4,1,4,true',
    ]);
  });

  it('reads so', async () => {
    expect(await school.review(classGradeBook, { ...HALF_YEAR, class: '10' })).toMatchSnapshot();
  });
});

describe('classGradeBook by settings of the school', () => {
  const dense = useTwelveStudents({
    rankMethod: 'dense',
    passPercent: 40,
    grades: [
      { from: 60, grade: 'First' },
      { from: 40, grade: 'Second' },
    ],
  });

  it('ranks densely, grades by its own bounds, passes from its own percentage', async () => {
    const { rows } = await dense.run(classGradeBook, { ...HALF_YEAR, class: '10' });
    expect(rows.map(line)).toEqual([
      ['Ishan Bose', 88.5, 'First', 'pass', 1, 4, 1, 4],
      ['Jaya Nair', 88.5, 'First', 'pass', 1, 4, 1, 4],
      ['Kabir Das', 39.5, null, 'compartment', 2, 4, 2, 4],
      ['Lata Joshi', null, null, 'incomplete', null, 4, null, 4],
    ]);
  });
});
