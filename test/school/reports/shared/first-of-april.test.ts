/** The first minute of a session, before anybody is promoted: every report counts the same students. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../src/base/json/json.js';
import { classAttendance } from '../../../../src/school/reports/class-attendance.js';
import type { SentParameters } from '../../../../src/school/reports/engine/parameters.js';
import type { Report } from '../../../../src/school/reports/engine/report.js';
import { feeDefaulters, outstandingAgeing } from '../../../../src/school/reports/fee-defaulters.js';
import { classesByCategory, strength } from '../../../../src/school/reports/strength.js';
import { attendanceShortage, studentAttendance } from '../../../../src/school/reports/student-attendance.js';
import { teacherWorkload } from '../../../../src/school/reports/teachers.js';
import { type ReportAnswer, runReport, useReports } from '../use-reports.js';

// Five past midnight of Thursday, 1 April 2027, in India.
const test = useReports('2027-03-31T18:35:00.000Z');

const PLACE = { class: '5', section: 'A', session: '2026-27' };
const WAS = { ...PLACE, roll_no: 7, from: '2025-04-01', to: '2027-03-31' };
const STUDENTS: Readonly<Record<string, JsonObject>> = {
  one: PLACE,
  two: PLACE,
  promoted: { class: '6', section: 'B', session: '2027-28', earlier_stays: [WAS] },
  leftInMarch: { ...PLACE, left_on: '2027-03-30', status: 'withdrawn' },
  leftUnknown: { ...PLACE, status: 'withdrawn' },
  leftLongAgo: { ...PLACE, session: '2024-25', left_on: '2025-03-31', status: 'withdrawn' },
  joins: { class: '6', section: 'B', session: '2027-28', admitted_on: '2027-04-01' },
};
const UNPROMOTED = {
  collection: 'registration',
  reason: 'not promoted to 2027-28 yet: counted in the class of 2026-27',
  count: 2,
  ids: ['one', 'two'],
};

beforeAll(async () => {
  const sections = (name: string) => [{ name, class_teacher: { value: 'kavita' }, capacity: 40 }];
  await test.insert('class', [
    { _id: 'c5', name: '5', category: 'Primary', order: 5, sections: sections('A') },
    { _id: 'c6', name: '6', category: 'Middle', order: 6, sections: sections('B') },
  ]);
  await test.insert('pltf_user', [{ _id: 'kavita', name: 'Kavita', active: true, roles: ['teacher'] }]);
  await test.insert(
    'registration',
    Object.entries(STUDENTS).map(([id, student]) => ({
      ...{ _id: id, sequence: id, name: id, admitted_on: '2024-04-01', status: 'active' },
      ...student,
    })),
  );
  await test.insert(
    'fee_due',
    Object.keys(STUDENTS).map((id) => ({
      ...{ _id: `due-${id}`, student: { value: id }, session: '2026-27', month: '2026-10' },
      ...{ fee_head: 'Tuition', amount: 100, due_date: '2026-10-10' },
    })),
  );
  await test.mark([
    { student: 'promoted', day: '2027-03-30', class: '5', status: 'absent' },
    { student: 'one', day: '2027-03-30', class: '5', status: 'present' },
  ]);
});

const run = (report: Report, sent: SentParameters) => runReport(test.services, report, sent);

const placesOf = ({ rows }: ReportAnswer) =>
  rows.map(({ studentId, class: name, section }) => `${studentId} ${name}${section}`).toSorted();

describe('on 1 April, before all are promoted', () => {
  it.each<[string, Report, JsonObject]>([
    ['strength', strength, { strength: 4 }],
    ['class details', classesByCategory, { strength: 4 }],
    ['teacher workload', teacherWorkload, { students: 4 }],
  ])('%s counts everybody, and names who is not promoted', async (_name, report, totals) => {
    const answer = await run(report, {});
    expect(answer.totals).toMatchObject(totals);
    expect(answer.warnings).toEqual([UNPROMOTED]);
  });

  it.each<[string, Report, SentParameters]>([
    ['defaulters', feeDefaulters, { start_month: '2026-10', end_month: '2026-10' }],
    ['ageing', outstandingAgeing, {}],
  ])('%s lists them in their class of that day', async (_name, report, sent) => {
    const today = await run(report, sent);
    expect(placesOf(today)).toEqual(['joins 6B', 'one 5A', 'promoted 6B', 'two 5A']);
    expect(today.warnings).toEqual([UNPROMOTED]);
    const before = await run(report, { ...sent, as_on: '2027-03-31', class: '5' });
    expect(placesOf(before)).toEqual(['leftUnknown 5A', 'one 5A', 'promoted 5A', 'two 5A']);
    expect(before.warnings).toEqual([]);
  });

  it.each<[string, Report, SentParameters]>([
    ['the register', classAttendance, { class: '5', start: '2027-04-01', end: '2027-04-30' }],
    ['attendance', studentAttendance, { class: '5', start: '2027-04-01', end: '2027-04-30' }],
    ['shortage', attendanceShortage, { class: '5', start: '2027-04-01', end: '2027-04-30' }],
  ])('%s of the old class still has those who are not promoted', async (_name, report, sent) => {
    const old = await run(report, sent);
    expect(old.rows.map(({ studentId }) => studentId).toSorted()).toEqual(['one', 'two']);
    expect(old.warnings).toEqual([UNPROMOTED]);
    const next = await run(report, { ...sent, class: '6' });
    expect(next.rows.map(({ studentId }) => studentId).toSorted()).toEqual(['joins', 'promoted']);
    expect(next.warnings).toEqual([]);
  });

  it('a report of March has everybody in the class of March', async () => {
    const { rows, warnings } = await run(classAttendance, { class: '5', start: '2027-03', end: '2027-03' });
    expect(rows.map(({ studentId }) => studentId).toSorted()).toEqual([
      'leftInMarch',
      'leftUnknown',
      'one',
      'promoted',
      'two',
    ]);
    expect(warnings).toEqual([]);
    const past = await run(strength, { session: '2026-27' });
    expect(past.rows).toEqual([expect.objectContaining({ class: '5', section: 'A', strength: 4 })]);
    expect(past.totals).toMatchObject({ strength: 4, left: 1 });
    expect(past.warnings).toEqual([]);
  });
});
