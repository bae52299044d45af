/**
 * What the demo school charges: its fee heads, and the dues of a student for a session. Amounts are in paise,
 * so that sums are exact.
 */

import type { Enrolment } from './enrolment.js';
import { dayOfMonth, type EpochDay, parseEpochDay } from './epoch-day.js';
import type { DemoClass } from './school-plan.js';
import type { SessionCalendar } from './session-calendar.js';
import type { SchoolMoment } from './students.js';

export const FEE_HEADS = [
  { name: 'Tuition', isOptional: false },
  { name: 'Computer', isOptional: false },
  { name: 'Transport', isOptional: true },
  { name: 'Annual charges', isOptional: false },
  { name: 'Examination', isOptional: false },
  { name: 'Activity', isOptional: false },
  { name: 'Admission', isOptional: false },
] as const;

export type FeeHeadName = (typeof FEE_HEADS)[number]['name'];

export interface PlannedDue {
  readonly head: FeeHeadName;
  /** 0 is the first month of the session. */
  readonly monthIndex: number;
  readonly amount: number;
  readonly dueDay: EpochDay;
  readonly cancelledOn: EpochDay | undefined;
}

/**
 * All dues of the session, by month, then in the order of the heads. Those of months after the student left
 * are cancelled on the day of leaving.
 */
export function listDues(
  enrolment: Enrolment,
  calendar: SessionCalendar,
  moment: SchoolMoment,
): readonly PlannedDue[] {
  const yearsAgo = moment.startYear - calendar.startYear;
  const joined = monthIndexOf(calendar, enrolment.from);
  const left = monthIndexOf(calendar, enrolment.to);
  const hasLeft = enrolment.student.leftOn !== undefined && enrolment.to < calendar.end;
  return calendar.months.flatMap((month, monthIndex) => {
    if (monthIndex < joined) return [];
    const usual = parseEpochDay(`${month}-${monthIndex === 0 ? '15' : '10'}`);
    const dueDay = monthIndex === joined ? Math.max(usual, enrolment.from + 10) : usual;
    return FEE_HEADS.flatMap(({ name }): PlannedDue[] => {
      const amount = monthlyAmount(name, enrolment, { monthIndex, joined });
      if (amount === 0) return [];
      return [
        {
          head: name,
          monthIndex,
          amount: earlierAmount(amount, yearsAgo),
          dueDay,
          cancelledOn: hasLeft && monthIndex > left ? enrolment.to : undefined,
        },
      ];
    });
  });
}

export function monthIndexOf(calendar: SessionCalendar, day: EpochDay): number {
  const first = parseEpochDay(`${calendar.months[0] ?? ''}-01`);
  let index = 0;
  for (let at = first; at <= day - dayOfMonth(day); index++) at += daysOfMonth(at);
  return index;
}

function daysOfMonth(first: EpochDay): number {
  for (let length = 28; ; length++) if (dayOfMonth(first + length) === 1) return length;
}

function monthlyAmount(
  head: FeeHeadName,
  enrolment: Enrolment,
  months: { monthIndex: number; joined: number },
): number {
  const { klass, student } = enrolment;
  const { monthIndex, joined } = months;
  switch (head) {
    case 'Tuition':
      return TUITION[klass.category] ?? 285_000;
    case 'Computer':
      return hasComputer(klass) ? 27_525 : 0;
    case 'Transport':
      return monthIndex === 1 ? 0 : (student.family.route?.fare ?? 0);
    case 'Annual charges':
      return monthIndex === joined ? 540_000 : 0;
    case 'Examination':
      return monthIndex === 5 || monthIndex === 10 ? 65_000 : 0;
    case 'Activity':
      return monthIndex % 3 === 0 ? 48_000 : 0;
    case 'Admission':
      return enrolment.isNew && monthIndex === joined ? 1_000_000 : 0;
  }
}

const TUITION: Readonly<Record<string, number>> = {
  'Pre-primary': 240_000,
  Primary: 285_000,
  Middle: 325_050,
  Secondary: 374_575,
  Senior: 418_025,
};

function hasComputer(klass: DemoClass): boolean {
  return klass.category !== 'Pre-primary' && !['1', '2'].includes(klass.name);
}

/** Fees rose by 6 % of today's a year, to half a rupee. */
function earlierAmount(amount: number, yearsAgo: number): number {
  return yearsAgo === 0 ? amount : Math.round((amount * Math.max(40, 100 - 6 * yearsAgo)) / 5000) * 50;
}
