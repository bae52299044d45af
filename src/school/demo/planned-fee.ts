/**
 * The fees of the demo school: its fee heads, its fee plan, and the dues of a student for a session. Amounts
 * are in paise, so that sums are exact.
 */
import type { Enrolment } from './enrolment.js';
import { BUS_ROUTES, type DemoClass, type SchoolMoment } from './school-plan.js';
import { dayText, type EpochDay, parseEpochDay, type SessionCalendar } from './session-calendar.js';

export const FEE_HEADS = [
  'Tuition',
  'Computer',
  'Transport',
  'Annual charges',
  'Examination',
  'Activity',
  'Admission',
] as const;

export type FeeHeadName = (typeof FEE_HEADS)[number];

/** An entry of the fee plan. `months` are indexes from the first month of the session; absent: all. */
export interface PlannedFee {
  readonly head: FeeHeadName;
  readonly amount: number;
  readonly className?: string;
  readonly months?: readonly number[];
  readonly route?: string;
  /** Charged to students admitted in the session, in the month of admission. */
  readonly isForNewcomers?: boolean;
}

export function listPlannedFees(classes: readonly DemoClass[]): readonly PlannedFee[] {
  return [
    ...classes.map(
      (klass): PlannedFee => ({
        ...{ head: 'Tuition', className: klass.name, amount: TUITION[klass.category] ?? 0 },
      }),
    ),
    ...classes
      .filter(({ category, name }) => category !== 'Pre-primary' && !['1', '2'].includes(name))
      .map(({ name }): PlannedFee => ({ head: 'Computer', className: name, amount: 27_525 })),
    ...BUS_ROUTES.map(
      ({ name, fare }): PlannedFee => ({
        ...{ head: 'Transport', route: name, amount: fare, months: [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
      }),
    ),
    { head: 'Annual charges', amount: ANNUAL, months: [0] },
    { head: 'Annual charges', amount: ANNUAL, isForNewcomers: true },
    { head: 'Examination', amount: 65_000, months: [5, 10] },
    { head: 'Activity', amount: 48_000, months: [0, 3, 6, 9] },
    { head: 'Admission', amount: 1_000_000, isForNewcomers: true },
  ];
}

const ANNUAL = 540_000;

const TUITION: Readonly<Record<string, number>> = {
  'Pre-primary': 240_000,
  Primary: 285_000,
  Middle: 325_050,
  Secondary: 374_575,
  Senior: 418_025,
};

export type PlannedDue = ReturnType<typeof listDues>[number];

/**
 * All dues of the session, by month (0 is its first), then in the order of the heads. Those of months after
 * the student left are cancelled on the day of leaving.
 */
export function listDues(enrolment: Enrolment, calendar: SessionCalendar, moment: SchoolMoment) {
  const { klass, student, from, to } = enrolment;
  const yearsAgo = moment.startYear - calendar.startYear;
  const joined = monthIndexOf(calendar, from);
  const left = monthIndexOf(calendar, to);
  const hasLeft = student.leftOn !== undefined && to < calendar.end;
  const fees = listPlannedFees([klass]).filter(({ route }) => !route || route === student.family.route);
  const isCharged = ({ head, months, isForNewcomers }: PlannedFee, monthIndex: number): boolean => {
    // Whoever joins in mid-session pays the annual charges then, in place of April.
    if (head === 'Annual charges') return !isForNewcomers && monthIndex === joined;
    if (isForNewcomers) return enrolment.isNew && monthIndex === joined;
    return months?.includes(monthIndex) ?? true;
  };
  return calendar.months.flatMap((month, monthIndex) => {
    if (monthIndex < joined) return [];
    const usual = parseEpochDay(`${month}-${monthIndex === 0 ? '15' : '10'}`);
    const dueDay = monthIndex === joined ? Math.max(usual, from + 10) : usual;
    const cancelledOn = hasLeft && monthIndex > left ? to : undefined;
    return fees
      .filter((fee) => isCharged(fee, monthIndex))
      .map(({ head, amount }) => ({
        ...{ head, monthIndex, amount: earlierAmount(amount, yearsAgo), dueDay, cancelledOn },
      }));
  });
}

export function monthIndexOf(calendar: SessionCalendar, day: EpochDay): number {
  return calendar.months.indexOf(dayText(day).slice(0, 7));
}

/** Fees rose by 6 % of today's a year, to half a rupee. */
function earlierAmount(amount: number, yearsAgo: number): number {
  return yearsAgo === 0 ? amount : Math.round((amount * Math.max(40, 100 - 6 * yearsAgo)) / 5000) * 50;
}
