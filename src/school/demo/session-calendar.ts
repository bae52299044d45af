/**
 * Days of the demo school as numbers (days since 1970-01-01), because a generator counts them by the million;
 * and the days of one session (April to March): months, holidays, a vacation across months, working days. The
 * school is in India: its clock is UTC+05:30 all year, so no time-zone data is needed.
 */
import { getOrMake } from '../../base/process/get-or-make.js';

export type EpochDay = number;

const DAY_MS = 86_400_000;
const INDIA_OFFSET_MS = 330 * 60_000;

export function epochDay(year: number, month: number, dayOfMonth: number): EpochDay {
  return Date.UTC(year, month - 1, dayOfMonth) / DAY_MS;
}

/** `YYYY-MM-DD` to its number. */
export function parseEpochDay(text: string): EpochDay {
  return Date.parse(`${text}T00:00:00Z`) / DAY_MS;
}

/** `YYYY-MM-DD`. */
export function dayText(day: EpochDay): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The UTC text of a second of the school's day: 0 is midnight in India. */
export function instantText(day: EpochDay, secondOfDay: number): string {
  return new Date(day * DAY_MS + secondOfDay * 1000 - INDIA_OFFSET_MS).toISOString();
}

/** 0 is Sunday. */
export function weekday(day: EpochDay): number {
  return (day + 4) % 7;
}

export function dayOfMonth(day: EpochDay): number {
  return new Date(day * DAY_MS).getUTCDate();
}

/** `hh:mm` of the school's day in seconds. */
export function clock(hours: number, minutes: number): number {
  return hours * 3600 + minutes * 60;
}

export function listEpochDays(first: EpochDay, last: EpochDay): EpochDay[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

interface DemoHoliday {
  readonly day: EpochDay;
  readonly name: string;
  /** Empty: the whole school. */
  readonly classes: readonly string[];
  readonly isWorking: boolean;
}

export type SessionCalendar = ReturnType<typeof sessionCalendar>;

/** The session a day falls in, by the year it starts in. */
export function sessionStartYear(day: EpochDay): number {
  const year = Number(dayText(day).slice(0, 4));
  return day >= epochDay(year, 4, 1) ? year : year - 1;
}

export function sessionName(startYear: number): string {
  return `${startYear}-${String((startYear + 1) % 100).padStart(2, '0')}`;
}

const SUMMER_VACATION = 'Summer vacation';

/**
 * Weekly offs are Sundays and the second and fourth Saturdays. The office is closed on Sundays and holidays
 * of the whole school, and open in the summer vacation. @see reports "Terms used by all"
 */
export function sessionCalendar(startYear: number) {
  const start = epochDay(startYear, 4, 1);
  /** The last day, itself included. */
  const end = epochDay(startYear + 1, 3, 31);
  const holidays = listHolidays(startYear).filter(({ day }) => day >= start && day <= end);
  const daysOf = (isMeant: (holiday: DemoHoliday) => boolean) =>
    new Set(holidays.filter(isMeant).map(({ day }) => day));
  const isWholeSchool = ({ isWorking, classes }: DemoHoliday) => !isWorking && classes.length === 0;
  const closed = daysOf(isWholeSchool);
  const festivals = daysOf((holiday) => isWholeSchool(holiday) && holiday.name !== SUMMER_VACATION);
  const opened = daysOf(({ isWorking }) => isWorking);
  const workingDaysByClass = new Map<string, readonly EpochDay[]>();
  const isOfficeDay = (day: EpochDay): boolean => weekday(day) !== 0 && !festivals.has(day);
  return {
    session: sessionName(startYear),
    ...{ startYear, start, end, holidays },
    /** `YYYY-MM`, April first. */
    months: Array.from({ length: 12 }, (_, index) => dayText(epochDay(startYear, index + 4, 1)).slice(0, 7)),
    /** The working days of a class, from the first to the last of the session. */
    workingDays(className: string): readonly EpochDay[] {
      return getOrMake(workingDaysByClass, className, () => {
        const own = daysOf(({ classes }) => classes.includes(className));
        return listEpochDays(start, end).filter(
          (day) => opened.has(day) || !(isWeeklyOff(day) || closed.has(day) || own.has(day)),
        );
      });
    },
    /** The day if the office takes money on it, else the next such day, or the last of the session. */
    officeDay(wish: EpochDay): EpochDay {
      let day = Math.min(wish, end);
      while (!isOfficeDay(day) && day < end) day++;
      while (!isOfficeDay(day)) day--;
      return day;
    },
  };
}

function isWeeklyOff(day: EpochDay): boolean {
  const saturday = Math.ceil(dayOfMonth(day) / 7);
  return weekday(day) === 0 || (weekday(day) === 6 && (saturday === 2 || saturday === 4));
}

function listHolidays(startYear: number): DemoHoliday[] {
  const next = startYear + 1;
  const diwali = diwaliOf(startYear);
  const span = (first: EpochDay, last: EpochDay, name: string) =>
    listEpochDays(first, last).map((day): [EpochDay, string] => [day, name]);
  const named: [EpochDay, string][] = [
    [epochDay(startYear, 4, 14), 'Dr. Ambedkar Jayanti'],
    [epochDay(startYear, 5, 1), 'Maharashtra Day'],
    ...span(epochDay(startYear, 5, 8), epochDay(startYear, 6, 14), SUMMER_VACATION),
    [epochDay(startYear, 8, 15), 'Independence Day'],
    [diwali - 72, 'Raksha Bandhan'],
    [diwali - 65, 'Janmashtami'],
    [diwali - 55, 'Ganesh Chaturthi'],
    [epochDay(startYear, 10, 2), 'Gandhi Jayanti'],
    [diwali - 19, 'Dussehra'],
    ...span(diwali - 2, diwali + 4, 'Diwali vacation'),
    [diwali + 15, 'Guru Nanak Jayanti'],
    ...span(epochDay(startYear, 12, 25), epochDay(next, 1, 1), 'Winter vacation'),
    [epochDay(next, 1, 14), 'Makar Sankranti'],
    [epochDay(next, 1, 26), 'Republic Day'],
    [diwali + 117, 'Maha Shivaratri'],
    [diwali + 134, 'Holi'],
    ...eidDays(epochDay(startYear, 4, 1), epochDay(next, 3, 31)),
  ];
  const nameByDay = new Map(named.toReversed());
  const free = (days: readonly EpochDay[], holiday: Omit<DemoHoliday, 'day'>): DemoHoliday[] =>
    days.filter((day) => !nameByDay.has(day)).map((day) => ({ day, ...holiday }));
  const saturdays = [saturdayOf(startYear, 7, 2), saturdayOf(startYear, 9, 4), saturdayOf(next, 2, 2)];
  return [
    ...[...nameByDay].map(([day, name]) => ({ day, name, classes: [], isWorking: false })),
    ...free(saturdays, { name: 'Working Saturday', classes: [], isWorking: true }),
    ...free(listEpochDays(epochDay(next, 2, 16), epochDay(next, 2, 18)), {
      ...{ name: 'Preparation for board examinations', classes: ['10', '12'], isWorking: false },
    }),
    ...free([epochDay(startYear, 11, 14)], {
      ...{ name: "Children's Day picnic", classes: ['1', '2', '3'], isWorking: false },
    }),
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
  const count = Math.ceil((epochDay(year, 10, 14) - knownNewMoon) / lunation);
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
