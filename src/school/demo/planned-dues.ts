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
      return TUITION[klass.category] ?? TUITION.Primary;
    case 'Computer':
      return hasComputer(klass) ? COMPUTER : 0;
    case 'Transport':
      return monthIndex === 1 ? 0 : (student.family.route?.fare ?? 0);
    case 'Annual charges':
      return monthIndex === joined ? ANNUAL : 0;
    case 'Examination':
      return monthIndex === 5 || monthIndex === 10 ? EXAMINATION : 0;
    case 'Activity':
      return monthIndex % 3 === 0 ? ACTIVITY : 0;
    case 'Admission':
      return enrolment.isNew && monthIndex === joined ? ADMISSION : 0;
  }
}

const COMPUTER = 27_525;
const ANNUAL = 540_000;
const EXAMINATION = 65_000;
const ACTIVITY = 48_000;
const ADMISSION = 1_000_000;
const MONTHS = Array.from({ length: 12 });

const TUITION: Readonly<Record<string, number>> & { readonly Primary: number } = {
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

/** What of the fee plan is charged to whom: `listDues` as entries. `months` are indexes; absent: all. */
export interface PlannedFee {
  readonly head: FeeHeadName;
  readonly amount: number;
  readonly className?: string;
  readonly months?: readonly number[];
  readonly route?: string;
  readonly isForNewcomers?: boolean;
}

export function listPlannedFees(
  classes: readonly DemoClass[],
  routes: readonly { readonly name: string; readonly fare: number }[],
): readonly PlannedFee[] {
  const everyMonth = [...MONTHS.keys()];
  return [
    ...classes.map((klass) => ({
      ...{ head: 'Tuition' as const, className: klass.name },
      amount: TUITION[klass.category] ?? TUITION.Primary,
    })),
    ...classes
      .filter(hasComputer)
      .map(({ name }) => ({ head: 'Computer' as const, className: name, amount: COMPUTER })),
    ...routes.map(({ name, fare }) => ({
      ...{ head: 'Transport' as const, route: name, amount: fare },
      months: everyMonth.filter((index) => index !== 1),
    })),
    { head: 'Annual charges', amount: ANNUAL, months: [0] },
    { head: 'Annual charges', amount: ANNUAL, isForNewcomers: true },
    { head: 'Examination', amount: EXAMINATION, months: [5, 10] },
    { head: 'Activity', amount: ACTIVITY, months: everyMonth.filter((index) => index % 3 === 0) },
    { head: 'Admission', amount: ADMISSION, isForNewcomers: true },
  ];
}
