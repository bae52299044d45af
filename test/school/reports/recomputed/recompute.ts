/**
 * What the reports should say, computed anew from the raw records in plain TypeScript, without SQL and
 * without code of the reports.
 */
import { Decimal } from 'decimal.js';

export interface RawRecord {
  readonly _id: string;
  // biome-ignore lint/suspicious/noExplicitAny: records as they come, read field by field
  readonly [field: string]: any;
}

/** All records of a school, by collection, as REST gives them. */
export type RawSchool = Readonly<Record<string, readonly RawRecord[]>>;

export interface StudentBalance {
  readonly due: string;
  readonly concession: string;
  readonly paid: string;
  readonly balance: string;
  readonly credit: string;
}

interface Item {
  student: string;
  month: string;
  head: string;
  due: Decimal;
  concession: Decimal;
  paid: Decimal;
}

/** The first and the last day on the roll. */
function rollOf(student: RawRecord, today: string): readonly [string, string] {
  const isGone = student.status === 'withdrawn' || student.status === 'transferred';
  return [student.admitted_on, student.left_on ?? (isGone ? addDays(today, -1) : '9999-12-31')];
}

interface Stay {
  readonly from: string;
  readonly to: string;
  readonly class: string;
  readonly section: string;
}

/** The earlier stays and the present one, in order. */
function staysOf(student: RawRecord, today: string): readonly Stay[] {
  const earlier: readonly Stay[] = student.earlier_stays ?? [];
  const [first, to] = rollOf(student, today);
  const from = [first, ...earlier.map((stay) => addDays(stay.to, 1))].toSorted().at(-1) ?? first;
  const present = { from, to, class: student.class, section: student.section };
  return [...earlier.toSorted((one, other) => one.from.localeCompare(other.from)), present];
}

export function isOnRoll(student: RawRecord, day: string, today: string): boolean {
  return staysOf(student, today).some(({ from, to }) => from <= day && day <= to);
}

/**
 * What of each student, month and head was asked for and paid, as on today. `isDemanded` says which dues
 * count.
 */
export function itemsOf(
  school: RawSchool,
  today: string,
  isDemanded: (due: RawRecord) => boolean,
): readonly Item[] {
  const items = new Map<string, Item>();
  const itemOf = (student: string, month: string, head: string) => {
    const key = JSON.stringify([student, month, head]);
    const known = items.get(key);
    if (known) return known;
    const made = {
      student,
      month,
      head,
      due: new Decimal(0),
      concession: new Decimal(0),
      paid: new Decimal(0),
    };
    items.set(key, made);
    return made;
  };
  for (const due of school.fee_due ?? []) {
    if (!isDemanded(due) || hasEnded(due, school, today) || (due.cancelled_on ?? '9999') <= today) continue;
    const item = itemOf(due.student.value, due.month, due.fee_head);
    item.due = item.due.plus(due.amount);
    item.concession = item.concession.plus(concessionOf(due, school, today));
  }
  for (const receipt of school.fee_receipt ?? []) {
    if (receipt.status !== 'active') continue;
    for (const line of receipt.lines) {
      const item = itemOf(receipt.student.value, line.month, line.fee_head);
      item.paid = item.paid.plus(line.amount);
    }
  }
  return [...items.values()];
}

/** The demand of a student who has left ends with the month of leaving, until the month of coming back. */
export function hasEnded(due: RawRecord, school: RawSchool, today: string): boolean {
  const student = school.registration?.find(({ _id }) => _id === due.student.value);
  if (!student) return false;
  const stays = staysOf(student, today);
  const begun = stays.filter(({ from }, index) => from <= today || stays.length === 1 || index === 0);
  return begun.some(({ to }, index) => {
    const next = begun[index + 1];
    if (to >= today || (next && next.from <= addDays(to, 1))) return false;
    return due.month > to.slice(0, 7) && due.month < (next?.from ?? '9999').slice(0, 7);
  });
}

function concessionOf(due: RawRecord, school: RawSchool, today: string): Decimal {
  const granted = (school.fee_concession ?? []).filter(
    (one) =>
      one.name.value === due.student.value &&
      one.session === due.session &&
      one.from_month <= due.month &&
      due.month <= one.to_month &&
      (one.fee_head === undefined || one.fee_head === due.fee_head) &&
      (one.revoked_on ?? '9999') > today,
  );
  const whole = granted.reduce(
    (sum, { kind, value }) =>
      sum.plus(kind === 'amount' ? new Decimal(value) : new Decimal(value).times(due.amount).dividedBy(100)),
    new Decimal(0),
  );
  return Decimal.min(whole, due.amount).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
}

export function balanceOf(items: readonly Item[]): StudentBalance {
  const sum = (value: (item: Item) => Decimal) =>
    items.reduce((all, item) => all.plus(value(item)), new Decimal(0)).toFixed(2);
  const owed = ({ due, concession, paid }: Item) => due.minus(concession).minus(paid);
  return {
    due: sum(({ due }) => due),
    concession: sum(({ concession }) => concession),
    paid: sum(({ paid }) => paid),
    balance: sum((item) => Decimal.max(owed(item), 0)),
    credit: sum((item) => Decimal.max(owed(item).negated(), 0)),
  };
}

/**
 * Of each student of the list: the working days on the roll, those without a mark, and those that count
 * present.
 */
export function daysOf(
  school: RawSchool,
  range: { readonly first: string; readonly last: string },
  today: string,
) {
  return (school.registration ?? []).map((student) => {
    const marks = (school.attendance ?? [])
      .filter((mark) => mark.student.value === student._id)
      .map((mark) => ({ day: String(mark.created).slice(0, 10), class: mark.class, status: mark.status }))
      .sort((a, b) => a.day.localeCompare(b.day));
    const counts = { student: student._id, workingDays: 0, presentDays: 0, unmarked: 0 };
    for (let day = range.first; day <= range.last && day <= today; day = addDays(day, 1)) {
      const stays = staysOf(student, today);
      const starts = stays.length === 1 ? [] : stays.map((stay) => ({ day: stay.from, class: stay.class }));
      // A mark comes behind the start of a stay on its day.
      const places = [...starts, ...marks].sort((one, other) => one.day.localeCompare(other.day));
      const before = places.filter((place) => place.day <= day).at(-1);
      const className = (before ?? places[0])?.class ?? student.class;
      if (!isOnRoll(student, day, today) || !isWorking(school, className, day)) continue;
      counts.workingDays += 1;
      const mark = marks.find((one) => one.day === day);
      if (mark === undefined) counts.unmarked += 1;
      else counts.presentDays += PRESENCE[mark.status] ?? 0;
    }
    return counts;
  });
}

const PRESENCE: Readonly<Record<string, number>> = { present: 1, late: 1, half_day: 0.5 };

function isWorking(school: RawSchool, className: string, day: string): boolean {
  const holidays = (school.holiday ?? []).filter(
    ({ date, classes = [] }) => date === day && (classes.length === 0 || classes.includes(className)),
  );
  if (holidays.some(({ working }) => working === true)) return true;
  return new Date(`${day}T00:00:00Z`).getUTCDay() !== 0 && holidays.length === 0;
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
