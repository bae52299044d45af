/**
 * How one student's family pays in a session: the dues, the concessions, and the receipts with what went
 * wrong with them.
 *
 * The whole session is played through and what is later than today left out by the writers of records: how a
 * family pays does not depend on the day of the seed.
 */
import { concessionOf, type PlannedConcession, planConcessions } from './concessions.js';
import type { Enrolment } from './enrolment.js';
import { type EpochDay, parseEpochDay } from './epoch-day.js';
import { type FeeHeadName, listDues, monthIndexOf, type PlannedDue } from './planned-dues.js';
import { Random } from './random.js';
import type { SessionCalendar } from './session-calendar.js';
import type { SchoolMoment } from './students.js';

type PaymentType = 'cash' | 'cheque' | 'card' | 'neft';
type RollbackType = 'entry_error' | 'bounce' | 'refund' | 'duplicate';

interface PlannedLine {
  readonly head: FeeHeadName;
  readonly monthIndex: number;
  /** Paise. */
  readonly amount: number;
  readonly fine: number;
}

export interface PlannedReceipt {
  readonly enrolment: Enrolment;
  readonly day: EpochDay;
  readonly second: number;
  readonly paymentType: PaymentType;
  readonly instrumentNo: string | undefined;
  readonly lines: readonly PlannedLine[];
  /** The number of the cashier, from 0. */
  readonly cashier: number;
  readonly rollback: PlannedRollback | undefined;
  readonly replaces: PlannedReceipt | undefined;
}

interface PlannedRollback {
  readonly day: EpochDay;
  readonly second: number;
  readonly type: RollbackType;
  readonly reason: string;
}

export interface FeeLedger {
  readonly enrolment: Enrolment;
  readonly dues: readonly PlannedDue[];
  readonly concessions: readonly PlannedConcession[];
  readonly receipts: readonly PlannedReceipt[];
  /** The amount due and unpaid on a day, in paise. */
  overdueOn(day: EpochDay): number;
}

export function planLedger(enrolment: Enrolment, calendar: SessionCalendar, moment: SchoolMoment): FeeLedger {
  const random = new Random(moment.seed, 'fees', calendar.session, enrolment.student.sequence);
  const concessions = planConcessions(enrolment, calendar, random);
  const dues = listDues(enrolment, calendar, moment);
  const payments = new Payments({ random, calendar, enrolment, dues, concessions });
  const isPastSession = calendar.startYear < moment.startYear;
  for (const visit of planVisits(random, { enrolment, calendar, isPastSession })) payments.pay(visit);
  return {
    enrolment,
    dues,
    concessions,
    receipts: payments.receipts,
    overdueOn: (day) => overdueOn(day, dues, { concessions, receipts: payments.receipts }),
  };
}

/** A visit to the cashier: which months are meant to be paid, and how much of the tuition. */
interface Visit {
  readonly day: EpochDay;
  readonly upToMonth: number;
  readonly tuitionShare: number;
}

type Habit = 'monthly' | 'quarterly' | 'yearly' | 'late' | 'inParts' | 'stops';

function planVisits(
  random: Random,
  context: { enrolment: Enrolment; calendar: SessionCalendar; isPastSession: boolean },
): readonly Visit[] {
  const { enrolment, calendar, isPastSession } = context;
  const habit = random.weighted<Habit>([
    [42, 'monthly'],
    [29, 'quarterly'],
    [6, 'yearly'],
    [10, 'late'],
    [5, 'inParts'],
    [isPastSession ? 1 : 8, 'stops'],
  ]);
  const stopsAfter = random.integer(1, 9);
  const joined = monthIndexOf(calendar, enrolment.from);
  const visits: Visit[] = [];
  calendar.months.forEach((month, monthIndex) => {
    const first = parseEpochDay(`${month}-01`);
    const early = first + random.integer(0, monthIndex === 0 ? 13 : 9);
    const late = first + 9 + random.integer(3, 34);
    const share = random.pick([0.5, 0.6, 0.75, 1] as const);
    if (monthIndex < joined || (habit === 'stops' && monthIndex > stopsAfter)) return;
    const upToMonth = paidUpTo(habit, { monthIndex, joined });
    if (upToMonth === undefined) return;
    const isPart = habit === 'inParts' ? monthIndex < 11 : habit === 'stops' && monthIndex === stopsAfter;
    const day = Math.max(habit === 'late' ? late : early, enrolment.from);
    visits.push({ day, upToMonth, tuitionShare: isPart ? share : 1 });
  });
  return visits;
}

/** The last month paid for by a visit in a month; `undefined`: no visit. */
function paidUpTo(habit: Habit, months: { monthIndex: number; joined: number }): number | undefined {
  const { monthIndex, joined } = months;
  switch (habit) {
    case 'quarterly':
      return monthIndex === joined || monthIndex % 3 === 0 ? monthIndex - (monthIndex % 3) + 2 : undefined;
    case 'yearly':
      return monthIndex === joined ? 11 : undefined;
    case 'monthly':
    case 'late':
    case 'inParts':
    case 'stops':
      return monthIndex;
  }
}

/** The receipts of one student, visit by visit; what is paid of each due decides what the next visit pays. */
class Payments {
  readonly receipts: PlannedReceipt[] = [];
  readonly #random: Random;
  readonly #calendar: SessionCalendar;
  readonly #enrolment: Enrolment;
  readonly #dues: readonly PlannedDue[];
  readonly #concessions: readonly PlannedConcession[];
  readonly #paidByDue = new Map<PlannedDue, number>();
  /** No visit before this day: a receipt of the past is still to be rolled back. */
  #earliest: EpochDay;

  constructor(context: {
    random: Random;
    calendar: SessionCalendar;
    enrolment: Enrolment;
    dues: readonly PlannedDue[];
    concessions: readonly PlannedConcession[];
  }) {
    this.#random = context.random;
    this.#calendar = context.calendar;
    this.#enrolment = context.enrolment;
    this.#dues = context.dues;
    this.#concessions = context.concessions;
    this.#earliest = context.enrolment.from;
  }

  pay(visit: Visit): void {
    const day = this.#officeDay(Math.max(visit.day, this.#earliest));
    if (day > this.#enrolment.to) return;
    const lines = this.#linesFor(visit, day);
    if (lines.length === 0) return;
    const random = this.#random;
    const paymentType = random.weighted<PaymentType>([
      [42, 'cash'],
      [24, 'cheque'],
      [15, 'card'],
      [19, 'neft'],
    ]);
    const receipt: PlannedReceipt = {
      enrolment: this.#enrolment,
      day,
      second: random.integer(9 * 3600, 14 * 3600),
      paymentType,
      instrumentNo: this.#instrumentNo(paymentType),
      lines,
      cashier: random.integer(0, 2),
      rollback: undefined,
      replaces: undefined,
    };
    const accident = random.next();
    if (paymentType === 'cheque' && accident < 0.035) this.#bounce(receipt);
    else if (accident > 0.993) this.#enterWrongly(receipt);
    else if (accident > 0.99) this.#enterTwice(receipt);
    else if (accident > 0.988) this.#refund(receipt);
    else this.#keep(receipt);
  }

  #linesFor(visit: Visit, day: EpochDay): PlannedLine[] {
    const finedMonths = new Set<number>();
    return this.#dues.flatMap((due): PlannedLine[] => {
      if (due.monthIndex > visit.upToMonth || due.cancelledOn !== undefined) return [];
      const open = due.amount - concessionOf(due, this.#concessions, day) - (this.#paidByDue.get(due) ?? 0);
      if (open <= 0) return [];
      const isPart = due.head === 'Tuition' && visit.tuitionShare < 1 && due.monthIndex === visit.upToMonth;
      const amount = isPart ? Math.ceil((open * visit.tuitionShare) / 5000) * 5000 : open;
      const isFined = day > due.dueDay && !finedMonths.has(due.monthIndex);
      if (isFined) finedMonths.add(due.monthIndex);
      const fine = day - due.dueDay > 30 ? 10_000 : 5_000;
      return [
        {
          head: due.head,
          monthIndex: due.monthIndex,
          amount: Math.min(amount, open),
          fine: isFined ? fine : 0,
        },
      ];
    });
  }

  #keep(receipt: PlannedReceipt): void {
    this.receipts.push(receipt);
    for (const line of receipt.lines) this.#addPaid(line, line.amount);
  }

  /** The bank returns the cheque after some days; most families then pay in another way. */
  #bounce(cheque: PlannedReceipt): void {
    const random = this.#random;
    const day = this.#officeDay(cheque.day + random.integer(3, 6));
    const reason = random.pick([
      'Cheque returned: funds insufficient',
      'Cheque returned: signature differs',
      'Cheque returned: payment stopped by drawer',
    ] as const);
    const bounced = this.#rolledBack(cheque, { day, type: 'bounce', reason });
    this.#earliest = day + 9;
    const paymentType = random.pick(['cash', 'neft'] as const);
    const replacementDay = this.#officeDay(day + random.integer(1, 7));
    if (random.isChance(0.15) || replacementDay > this.#enrolment.to) return;
    const charge = 25_000;
    this.#keep({
      ...cheque,
      day: replacementDay,
      paymentType,
      instrumentNo: this.#instrumentNo(paymentType),
      lines: cheque.lines.map((line, index) => ({ ...line, fine: line.fine + (index === 0 ? charge : 0) })),
      replaces: bounced,
    });
  }

  /** The cashier types a wrong amount, sees it within the hour and writes the receipt anew. */
  #enterWrongly(right: PlannedReceipt): void {
    const lines = right.lines.map((line, index) =>
      index === 0 ? { ...line, amount: line.amount + 90_000 } : line,
    );
    const second = right.second + this.#random.integer(300, 2400);
    const reason = 'Wrong amount entered';
    const wrong = this.#rolledBack(
      { ...right, lines },
      { day: right.day, second, type: 'entry_error', reason },
    );
    this.#keep({ ...right, second: second + 180, replaces: wrong });
  }

  #enterTwice(receipt: PlannedReceipt): void {
    this.#keep(receipt);
    const day = this.#random.isChance(0.5) ? receipt.day : this.#officeDay(receipt.day + 1);
    const twin = { ...receipt, second: receipt.second + 70 };
    this.#rolledBack(twin, {
      day,
      second: receipt.second + 4000,
      type: 'duplicate',
      reason: 'Entered twice',
    });
  }

  /** Weeks later, often in the next month, the money is given back and the dues are open again. */
  #refund(receipt: PlannedReceipt): void {
    const day = this.#officeDay(receipt.day + this.#random.integer(12, 40));
    this.#rolledBack(receipt, {
      day,
      type: 'refund',
      reason: 'Paid for the wrong child, refunded by cheque',
    });
    this.#earliest = day + 1;
  }

  #rolledBack(
    receipt: PlannedReceipt,
    rollback: { day: EpochDay; second?: number; type: RollbackType; reason: string },
  ): PlannedReceipt {
    const second = rollback.second ?? this.#random.integer(10 * 3600, 15 * 3600);
    const rolledBack = { ...receipt, rollback: { ...rollback, second } };
    this.receipts.push(rolledBack);
    return rolledBack;
  }

  #addPaid(line: PlannedLine, amount: number): void {
    const due = this.#dues.find(
      ({ head, monthIndex }) => head === line.head && monthIndex === line.monthIndex,
    );
    if (due) this.#paidByDue.set(due, (this.#paidByDue.get(due) ?? 0) + amount);
  }

  #officeDay(wish: EpochDay): EpochDay {
    const { end } = this.#calendar;
    let day = Math.min(wish, end);
    while (!this.#calendar.isOfficeDay(day) && day < end) day++;
    while (!this.#calendar.isOfficeDay(day)) day--;
    return day;
  }

  #instrumentNo(paymentType: PaymentType): string | undefined {
    switch (paymentType) {
      case 'cash':
        return undefined;
      case 'cheque':
        return this.#random.digits(6);
      case 'card':
        return `${this.#random.digits(4)}-${this.#random.digits(6)}`;
      case 'neft':
        return `N${this.#random.digits(12)}`;
    }
  }
}

function overdueOn(
  day: EpochDay,
  dues: readonly PlannedDue[],
  paid: { concessions: readonly PlannedConcession[]; receipts: readonly PlannedReceipt[] },
): number {
  const counting = paid.receipts.filter(
    (receipt) => receipt.day <= day && (receipt.rollback === undefined || receipt.rollback.day > day),
  );
  let overdue = 0;
  for (const due of dues) {
    if (due.dueDay > day || (due.cancelledOn !== undefined && due.cancelledOn <= day)) continue;
    let open = due.amount - concessionOf(due, paid.concessions, day);
    for (const { lines } of counting) {
      for (const line of lines) {
        if (line.head === due.head && line.monthIndex === due.monthIndex) open -= line.amount;
      }
    }
    overdue += Math.max(0, open);
  }
  return overdue;
}
