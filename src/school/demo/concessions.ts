/** The concessions of the demo school's students, and their share of a due. */

import type { Enrolment } from './enrolment.js';
import { type EpochDay, epochDay } from './epoch-day.js';
import type { FeeHeadName, PlannedDue } from './planned-dues.js';
import type { Random } from './random.js';
import type { SessionCalendar } from './session-calendar.js';

export interface PlannedConcession {
  /** Absent: every head. */
  readonly head: FeeHeadName | undefined;
  readonly kind: 'percent' | 'amount';
  /** Tenths of a percent, or paise. */
  readonly value: number;
  readonly fromMonth: number;
  readonly toMonth: number;
  readonly type: 'sibling' | 'staff' | 'merit' | 'RTE' | 'hardship';
  readonly reason: string;
  readonly grantedOn: EpochDay;
  readonly revokedOn: EpochDay | undefined;
}

/** Some are granted in mid-session for months already paid, a few are taken back. */
export function planConcessions(
  enrolment: Enrolment,
  calendar: SessionCalendar,
  random: Random,
): readonly PlannedConcession[] {
  const early = Math.max(calendar.start + random.integer(1, 8), enrolment.from);
  const july = epochDay(calendar.startYear, 7, random.integer(10, 25));
  const october = epochDay(calendar.startYear, 10, random.integer(5, 28));
  const wholeSession = { fromMonth: 0, toMonth: 11, grantedOn: early };
  const planned: Omit<PlannedConcession, 'revokedOn'>[] = [];
  const hasRightToEducation = enrolment.student.family.category === 'EWS' && random.isChance(0.6);
  if (hasRightToEducation) {
    const reason = 'Right to Education Act, section 12(1)(c)';
    planned.push({ ...wholeSession, head: undefined, kind: 'percent', value: 1000, type: 'RTE', reason });
  }
  if (enrolment.student.siblingIndex > 0 && random.isChance(0.8) && !hasRightToEducation) {
    const reason = 'Elder brother or sister at the school';
    planned.push({ ...wholeSession, head: 'Tuition', kind: 'percent', value: 100, type: 'sibling', reason });
  }
  if (random.isChance(0.015)) {
    const reason = 'Child of a member of staff';
    planned.push({ ...wholeSession, head: 'Tuition', kind: 'percent', value: 500, type: 'staff', reason });
  }
  if (random.isChance(0.03) && enrolment.from < july) {
    const reason = 'First in the final examination of last year';
    planned.push({
      head: 'Tuition',
      kind: 'percent',
      value: 125,
      fromMonth: 0,
      toMonth: 11,
      type: 'merit',
      reason,
      grantedOn: july,
    });
  }
  if (random.isChance(0.02) && enrolment.from < october) {
    const reason = 'Hardship, by decision of the management';
    planned.push({
      head: 'Tuition',
      kind: 'amount',
      value: 75_000,
      fromMonth: 6,
      toMonth: 11,
      type: 'hardship',
      reason,
      grantedOn: october,
    });
  }
  return planned.map((concession) => ({
    ...concession,
    revokedOn:
      concession.type !== 'RTE' && random.isChance(0.05)
        ? concession.grantedOn + random.integer(40, 150)
        : undefined,
  }));
}

/**
 * The concession of a due as on a day, in paise: fixed amounts and percents of the base, rounded half up, at
 * most the due.
 *
 * @see reports "Terms used by all"
 */
export function concessionOf(
  due: PlannedDue,
  concessions: readonly PlannedConcession[],
  asOn: EpochDay,
): number {
  let tenthsOfPercent = 0;
  let fixed = 0;
  for (const concession of concessions) {
    const isInForce =
      concession.grantedOn <= asOn &&
      (concession.revokedOn === undefined || concession.revokedOn > asOn) &&
      (concession.head === undefined || concession.head === due.head) &&
      concession.fromMonth <= due.monthIndex &&
      due.monthIndex <= concession.toMonth;
    if (!isInForce) continue;
    if (concession.kind === 'percent') tenthsOfPercent += concession.value;
    else fixed += concession.value;
  }
  return Math.min(due.amount, fixed + Math.floor((due.amount * tenthsOfPercent + 500) / 1000));
}
