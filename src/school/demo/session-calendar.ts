/**
 * The days of one session (April to March) of the demo school: months, holidays, a vacation across months,
 * working days.
 */
import { dayOfMonth, dayText, type EpochDay, epochDay, monthText, weekday } from './epoch-day.js';

interface DemoHoliday {
  readonly day: EpochDay;
  readonly name: string;
  /** Empty: the whole school. */
  readonly classes: readonly string[];
  readonly isWorking: boolean;
}

export interface SessionCalendar {
  /** `YYYY-YY`. */
  readonly session: string;
  readonly startYear: number;
  readonly start: EpochDay;
  /** The last day, itself included. */
  readonly end: EpochDay;
  /** `YYYY-MM`, April first. */
  readonly months: readonly string[];
  readonly holidays: readonly DemoHoliday[];
  /** The working days of a class, from the first to the last of the session. */
  workingDays(className: string): readonly EpochDay[];
  /**
   * Whether the office takes money: any day but Sundays and holidays of the whole school. Vacations are
   * office days.
   */
  isOfficeDay(day: EpochDay): boolean;
}

/** The session a day falls in, by the year it starts in. */
export function sessionStartYear(day: EpochDay): number {
  const year = Number(dayText(day).slice(0, 4));
  return day >= epochDay(year, 4, 1) ? year : year - 1;
}

export function sessionName(startYear: number): string {
  return `${startYear}-${String((startYear + 1) % 100).padStart(2, '0')}`;
}

/**
 * Weekly offs are Sundays and the second and fourth Saturdays. @see reports "Terms used by all"
 */
export function sessionCalendar(startYear: number): SessionCalendar {
  const start = epochDay(startYear, 4, 1);
  const end = epochDay(startYear + 1, 3, 31);
  const months: string[] = [];
  for (let index = 0; index < 12; index++) {
    months.push(monthText(epochDay(startYear + (index < 9 ? 0 : 1), ((index + 3) % 12) + 1, 1)));
  }
  const holidays = listHolidays(startYear).filter(({ day }) => day >= start && day <= end);
  const closed = new Set(holidays.filter(isWholeSchool).map(({ day }) => day));
  const festivals = new Set(holidays.filter(isOfficeHoliday).map(({ day }) => day));
  const opened = new Set(holidays.filter(({ isWorking }) => isWorking).map(({ day }) => day));
  const workingDaysByClass = new Map<string, readonly EpochDay[]>();

  return {
    session: sessionName(startYear),
    startYear,
    start,
    end,
    months,
    holidays,
    workingDays(className) {
      let days = workingDaysByClass.get(className);
      if (days === undefined) {
        const own = new Set(
          holidays.filter(({ classes }) => classes.includes(className)).map(({ day }) => day),
        );
        days = listEpochDays(start, end).filter(
          (day) => opened.has(day) || !(isWeeklyOff(day) || closed.has(day) || own.has(day)),
        );
        workingDaysByClass.set(className, days);
      }
      return days;
    },
    isOfficeDay: (day) => weekday(day) !== 0 && !festivals.has(day),
  };
}

function isWholeSchool(holiday: DemoHoliday): boolean {
  return !holiday.isWorking && holiday.classes.length === 0;
}

function isOfficeHoliday(holiday: DemoHoliday): boolean {
  return isWholeSchool(holiday) && holiday.name !== SUMMER_VACATION;
}

function isWeeklyOff(day: EpochDay): boolean {
  if (weekday(day) === 0) return true;
  if (weekday(day) !== 6) return false;
  const saturday = Math.ceil(dayOfMonth(day) / 7);
  return saturday === 2 || saturday === 4;
}

export function listEpochDays(first: EpochDay, last: EpochDay): EpochDay[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

const SUMMER_VACATION = 'Summer vacation';

function listHolidays(startYear: number): DemoHoliday[] {
  const next = startYear + 1;
  const diwali = diwaliOf(startYear);
  const named: [EpochDay, string][] = [
    [epochDay(startYear, 4, 14), 'Dr. Ambedkar Jayanti'],
    [epochDay(startYear, 5, 1), 'Maharashtra Day'],
    ...listEpochDays(epochDay(startYear, 5, 8), epochDay(startYear, 6, 14)).map((day): [EpochDay, string] => [
      day,
      SUMMER_VACATION,
    ]),
    [epochDay(startYear, 8, 15), 'Independence Day'],
    [diwali - 72, 'Raksha Bandhan'],
    [diwali - 65, 'Janmashtami'],
    [diwali - 55, 'Ganesh Chaturthi'],
    [epochDay(startYear, 10, 2), 'Gandhi Jayanti'],
    [diwali - 19, 'Dussehra'],
    ...listEpochDays(diwali - 2, diwali + 4).map((day): [EpochDay, string] => [day, 'Diwali vacation']),
    [diwali + 15, 'Guru Nanak Jayanti'],
    ...listEpochDays(epochDay(startYear, 12, 25), epochDay(next, 1, 1)).map((day): [EpochDay, string] => [
      day,
      'Winter vacation',
    ]),
    [epochDay(next, 1, 14), 'Makar Sankranti'],
    [epochDay(next, 1, 26), 'Republic Day'],
    [diwali + 117, 'Maha Shivaratri'],
    [diwali + 134, 'Holi'],
    ...eidDays(epochDay(startYear, 4, 1), epochDay(next, 3, 31)),
  ];
  const nameByDay = new Map<EpochDay, string>();
  for (const [day, name] of named) if (!nameByDay.has(day)) nameByDay.set(day, name);
  const whole = [...nameByDay].map(([day, name]) => ({ day, name, classes: [], isWorking: false }));
  const free = (day: EpochDay): boolean => !nameByDay.has(day);
  return [
    ...whole,
    ...[saturdayOf(startYear, 7, 2), saturdayOf(startYear, 9, 4), saturdayOf(next, 2, 2)]
      .filter(free)
      .map((day) => ({ day, name: 'Working Saturday', classes: [], isWorking: true })),
    ...listEpochDays(epochDay(next, 2, 16), epochDay(next, 2, 18))
      .filter(free)
      .map((day) => ({
        day,
        name: 'Preparation for board examinations',
        classes: ['10', '12'],
        isWorking: false,
      })),
    ...[epochDay(startYear, 11, 14)]
      .filter(free)
      .map((day) => ({ day, name: "Children's Day picnic", classes: ['1', '2', '3'], isWorking: false })),
  ].sort((left, right) => left.day - right.day);
}

/** The `n`th Saturday of a month. */
function saturdayOf(year: number, month: number, n: number): EpochDay {
  const first = epochDay(year, month, 1);
  return first + ((6 - weekday(first) + 7) % 7) + (n - 1) * 7;
}

/**
 * The new moon between 14 October and 13 November, by the mean length of a lunation; a day off now and then.
 */
function diwaliOf(year: number): EpochDay {
  const lunation = 29.530588853;
  const knownNewMoon = epochDay(2000, 1, 6) + 0.76;
  const earliest = epochDay(year, 10, 14);
  const count = Math.ceil((earliest - knownNewMoon) / lunation);
  return Math.floor(knownNewMoon + count * lunation);
}

/** Both Eids of the lunar calendar, counted from 20 March 2026 by the mean length of its year. */
function eidDays(start: EpochDay, end: EpochDay): [EpochDay, string][] {
  const days: [EpochDay, string][] = [];
  const known = epochDay(2026, 3, 20);
  for (let year = Math.floor((start - known) / 354.367) - 1; ; year++) {
    const fitr = Math.round(known + year * 354.367);
    if (fitr > end) return days;
    if (fitr >= start) days.push([fitr, 'Eid al-Fitr']);
    if (fitr + 68 >= start && fitr + 68 <= end) days.push([fitr + 68, 'Eid al-Adha']);
  }
}
