/**
 * Names of things that do not exist are refused by every report that takes them; a report of nobody would
 * look like good news.
 */
import { describe, expect, it } from '@jest/globals';
import type { Report } from '../../../../src/school/reports/engine/report.js';
import { reports } from '../../../../src/school/reports/registry.js';
import { ADMIN, FARIDA, useTwelveStudents } from '../../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

/** What a report cannot do without, so that the name alone is at fault. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'fee-defaulters': { start_month: '2026-10', end_month: '2026-12' },
  'class-attendance': { start: '2026-05', end: '2026-05' },
  'class-grade-book': { session: '2026-27', term: 'halfyear' },
};

function reportsTaking(parameter: string): readonly [string, Report][] {
  return reports
    .filter(({ parameters }) => Object.values(parameters).some(({ restName }) => restName === parameter))
    .map((report) => [report.name, report]);
}

async function refusalOf(report: Report, sent: Readonly<Record<string, string>>) {
  const all = { ...NEEDED[report.name], ...sent };
  const fault: unknown = await school.run(report, all).then(
    () => undefined,
    (error: unknown) => error,
  );
  return fault;
}

describe('a class that the school does not have', () => {
  it.each(reportsTaking('class'))('is refused by %s', async (_name, report) => {
    expect(await refusalOf(report, { class: '13' })).toMatchObject({
      status: 404,
      message: 'There is no class "13".',
      errors: [expect.objectContaining({ parameter: 'class', expected: 'one of UKG, 1, 5, 10', sent: '13' })],
    });
  });
});

describe('a section that the class does not have', () => {
  it.each(reportsTaking('section'))('is refused by %s', async (_name, report) => {
    expect(await refusalOf(report, { class: '5', section: 'Z' })).toMatchObject({
      status: 404,
      message: 'Class 5 has no section "Z"; it has A, B.',
      errors: [expect.objectContaining({ parameter: 'section', expected: 'one of A, B', sent: 'Z' })],
    });
  });

  it.each(['fee-defaulters', 'outstanding-ageing', 'day-sheet'])(
    'is refused by %s without a class too',
    async (name) => {
      const report = reports.find((one) => one.name === name);
      if (!report) throw new Error(`${name} is a report`);
      expect(await refusalOf(report, { section: 'Z' })).toMatchObject({
        status: 404,
        message: 'No class has a section "Z"; there are A, B.',
      });
      await expect(school.run(report, { ...NEEDED[name], section: 'B' })).resolves.toBeDefined();
    },
  );
});

describe('other names', () => {
  it.each([
    ['fee-defaulters', 'fee_head', 'Tution', 'There is no fee head "Tution". Did you mean "Tuition"?'],
    ['teachers', 'department', 'Sceince', 'There is no department "Sceince". Did you mean "Science"?'],
    ['teachers', 'roles', 'techer', 'Nobody has a role with "techer". Did you mean "teacher"?'],
  ])('%s refuses the %s %s', async (name, parameter, sent, message) => {
    const report = reports.find((one) => one.name === name);
    if (!report) throw new Error(`${name} is a report`);
    expect(await refusalOf(report, { [parameter]: sent })).toMatchObject({
      status: 404,
      message,
      errors: [{ parameter, sent, detail: message, expected: expect.stringMatching(/^one of .*, /) }],
    });
  });
});

describe('a word that is none of those allowed', () => {
  it.each(
    reports.flatMap((report) =>
      Object.values(report.parameters)
        .filter(({ type }) => type.allowed !== undefined)
        .map(({ restName, type }) => [report.name, restName, type.allowed ?? [], report] as const),
    ),
  )('is refused by %s as %s, with %j', async (_name, restName, allowed, report) => {
    const near = `${allowed[0]}x`;
    expect(await refusalOf(report, { [restName]: near })).toMatchObject({
      status: 400,
      message: expect.stringContaining(`Did you mean "${allowed[0]}"?`),
      errors: expect.arrayContaining([expect.objectContaining({ parameter: restName, sent: near })]),
    });
  });
});

describe('a teacher', () => {
  it('is told that a section is not taught, by the day sheet too', async () => {
    const daySheet = reports.find(({ name }) => name === 'day-sheet');
    if (!daySheet) throw new Error('there is a day sheet');
    await expect(school.run(daySheet, { class: '5', section: 'A' }, FARIDA)).rejects.toMatchObject({
      status: 403,
      message: 'Teachers see the sections they teach, and section A of class 5 is none of them.',
    });
    await expect(school.run(daySheet, { section: 'B' }, FARIDA)).resolves.toBeDefined();
    await expect(school.run(daySheet, { class: '5', section: 'A' }, ADMIN)).resolves.toBeDefined();
  });
});
