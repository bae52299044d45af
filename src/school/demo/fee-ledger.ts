/**
 * The payments of one student's family in a session: the dues, the concessions, and the receipts with their
 * mistakes.
 *
 * The whole session is simulated, and the writers of records leave out events after today, so that payments
 * do not depend on the day of the seed.
 */
import type { Enrolment } from './enrolment.js';
import { type FeeHeadName, listDues, monthIndexOf, type PlannedDue } from './planned-fee.js';
import { Random } from './random.js';
import type { SchoolMoment } from './school-plan.js';
import { type EpochDay, epochDay, parseEpochDay, type SessionCalendar } from './session-calendar.js';

type PaymentType = 'cash' | 'cheque' | 'card' | 'neft';

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
  readonly rollback?: PlannedRollback;
  readonly replaces?: PlannedReceipt;
}

interface PlannedRollback {
  readonly day: EpochDay;
  readonly second: number;
  readonly type: 'entry_error' | 'bounce' | 'refund' | 'duplicate';
  readonly reason: string;
}

interface PlannedConcession {
  /** Absent: every head. */
  readonly head: FeeHeadName | undefined;
  readonly kind: 'percent' | 'amount';
  /** Tenths of a percent, or paise. */
  readonly value: number;
  readonly fromMonth: number;
  readonly type: 'sibling' | 'staff' | 'merit' | 'RTE' | 'hardship';
  readonly reason: string;
  readonly grantedOn: EpochDay;
  readonly revokedOn: EpochDay | undefined;
}

interface Account {
  readonly enrolment: Enrolment;
  readonly dues: readonly PlannedDue[];
  readonly concessions: readonly PlannedConcession[];
}

export function planFeeLedger(enrolment: Enrolment, calendar: SessionCalendar, moment: SchoolMoment) {
  const random = new Random(moment.seed, 'fees', calendar.session, enrolment.student.sequence);
  const concessions = planConcessions(enrolment, calendar, random);
  const dues = listDues(enrolment, calendar, moment);
  const payments = new Payments({ enrolment, dues, concessions }, calendar, random);
  const isPastSession = calendar.startYear < moment.startYear;
  for (const visit of planVisits(random, { enrolment, calendar, isPastSession })) payments.pay(visit);
  const { receipts } = payments;
  return {
    ...{ enrolment, dues, concessions, receipts },
    /** The amount due and unpaid on a day, in paise. */
    overdueOn(day: EpochDay): number {
      const lines = receipts
        .filter((receipt) => receipt.day <= day && (!receipt.rollback || receipt.rollback.day > day))
        .flatMap((receipt) => receipt.lines);
      const open = dues.map((due) => {
        if (due.dueDay > day || (due.cancelledOn ?? day + 1) <= day) return 0;
        const paid = lines.filter((line) => line.head === due.head && line.monthIndex === due.monthIndex);
        const owed = due.amount - concessionOf(due, concessions, day);
        return Math.max(
          0,
          paid.reduce((open, { amount }) => open - amount, owed),
        );
      });
      return open.reduce((sum, amount) => sum + amount, 0);
    },
  };
}

/** Some are granted in mid-session for months already paid, a few are taken back. */
function planConcessions(
  { student, from }: Enrolment,
  calendar: SessionCalendar,
  random: Random,
): readonly PlannedConcession[] {
  const early = Math.max(calendar.start + random.integer(1, 8), from);
  const july = epochDay(calendar.startYear, 7, random.integer(10, 25));
  const october = epochDay(calendar.startYear, 10, random.integer(5, 28));
  const planned: Omit<PlannedConcession, 'revokedOn'>[] = [];
  const grant = (
    type: PlannedConcession['type'],
    value: number,
    reason: string,
    rest: Partial<PlannedConcession> = {},
  ) => {
    const usual = { head: 'Tuition', kind: 'percent', fromMonth: 0, grantedOn: early } as const;
    planned.push({ ...usual, type, value, reason, ...rest });
  };
  const hasRightToEducation = student.family.category === 'EWS' && random.isChance(0.6);
  if (hasRightToEducation)
    grant('RTE', 1000, 'Right to Education Act, section 12(1)(c)', { head: undefined });
  if (student.siblingIndex > 0 && random.isChance(0.8) && !hasRightToEducation)
    grant('sibling', 100, 'Elder brother or sister at the school');
  if (random.isChance(0.015)) grant('staff', 500, 'Child of a member of staff');
  if (random.isChance(0.03) && from < july)
    grant('merit', 125, 'First in the final examination of last year', { grantedOn: july });
  if (random.isChance(0.02) && from < october)
    grant('hardship', 75_000, 'Hardship, by decision of the management', {
      ...{ kind: 'amount', fromMonth: 6, grantedOn: october },
    });
  return planned.map((concession) => {
    const isRevoked = concession.type !== 'RTE' && random.isChance(0.05);
    return {
      ...concession,
      revokedOn: isRevoked ? concession.grantedOn + random.integer(40, 150) : undefined,
    };
  });
}

/**
 * The concession of a due as on a day, in paise: fixed amounts and percents of the base, rounded half up, at
 * most the due.
 *
 * @see reports "Terms used by all"
 */
function concessionOf(due: PlannedDue, concessions: readonly PlannedConcession[], asOn: EpochDay): number {
  const inForce = concessions.filter(
    ({ grantedOn, revokedOn = asOn + 1, head = due.head, fromMonth }) =>
      grantedOn <= asOn && revokedOn > asOn && head === due.head && fromMonth <= due.monthIndex,
  );
  const sumOf = (of: PlannedConcession['kind']) =>
    inForce.reduce((sum, { kind, value }) => sum + (kind === of ? value : 0), 0);
  return Math.min(due.amount, sumOf('amount') + Math.floor((due.amount * sumOf('percent') + 500) / 1000));
}

/** A visit to the cashier: the months to pay, and the part of the tuition. */
interface Visit {
  readonly day: EpochDay;
  readonly upToMonth: number;
  readonly tuitionShare: number;
}

function planVisits(
  random: Random,
  context: { enrolment: Enrolment; calendar: SessionCalendar; isPastSession: boolean },
): readonly Visit[] {
  const { enrolment, calendar, isPastSession } = context;
  const habit = random.weighted({
    ...{ monthly: 42, quarterly: 29, yearly: 6, late: 10, inParts: 5, stops: isPastSession ? 1 : 8 },
  });
  const stopsAfter = random.integer(1, 9);
  const joined = monthIndexOf(calendar, enrolment.from);
  return calendar.months.flatMap((month, index): Visit[] => {
    const first = parseEpochDay(`${month}-01`);
    const early = first + random.integer(0, index === 0 ? 13 : 9);
    const late = first + 9 + random.integer(3, 34);
    const share = random.pick([0.5, 0.6, 0.75, 1] as const);
    if (index < joined || (habit === 'stops' && index > stopsAfter)) return [];
    if (habit === 'yearly' && index !== joined) return [];
    if (habit === 'quarterly' && index !== joined && index % 3 !== 0) return [];
    const upTo = { quarterly: index - (index % 3) + 2, yearly: 11 } as Readonly<Record<string, number>>;
    const isPart = habit === 'inParts' ? index < 11 : habit === 'stops' && index === stopsAfter;
    const day = Math.max(habit === 'late' ? late : early, enrolment.from);
    return [{ day, upToMonth: upTo[habit] ?? index, tuitionShare: isPart ? share : 1 }];
  });
}

/** The receipts of one student, visit by visit; what is paid of each due decides what the next visit pays. */
class Payments {
  readonly receipts: PlannedReceipt[] = [];
  readonly #account: Account;
  readonly #calendar: SessionCalendar;
  readonly #random: Random;
  readonly #paidByDue = new Map<string, number>();
  /** No visit before this day: a receipt of the past is still to be rolled back. */
  #earliest: EpochDay;

  constructor(account: Account, calendar: SessionCalendar, random: Random) {
    this.#account = account;
    this.#calendar = calendar;
    this.#random = random;
    this.#earliest = account.enrolment.from;
  }

  pay(visit: Visit): void {
    const { enrolment } = this.#account;
    const day = this.#calendar.officeDay(Math.max(visit.day, this.#earliest));
    if (day > enrolment.to) return;
    const lines = this.#linesFor(visit, day);
    if (lines.length === 0) return;
    const random = this.#random;
    const paymentType = random.weighted({ cash: 42, cheque: 24, card: 15, neft: 19 });
    const receipt: PlannedReceipt = {
      ...{ enrolment, day, paymentType, lines },
      second: random.integer(9 * 3600, 14 * 3600),
      instrumentNo: this.#instrumentNo(paymentType),
      cashier: random.integer(0, 2),
    };
    const accident = random.next();
    if (paymentType === 'cheque' && accident < 0.035) this.#bounce(receipt);
    else if (accident > 0.993) this.#enterWrongly(receipt);
    else if (accident > 0.99) this.#enterTwice(receipt);
    else if (accident > 0.988) this.#refund(receipt);
    else this.#keep(receipt);
  }

  #linesFor(visit: Visit, day: EpochDay): PlannedLine[] {
    const { dues, concessions } = this.#account;
    const finedMonths = new Set<number>();
    return dues.flatMap((due): PlannedLine[] => {
      const { head, monthIndex, dueDay } = due;
      if (monthIndex > visit.upToMonth || due.cancelledOn !== undefined) return [];
      const open = due.amount - concessionOf(due, concessions, day) - this.#paidOf(due);
      if (open <= 0) return [];
      const isPart = head === 'Tuition' && visit.tuitionShare < 1 && monthIndex === visit.upToMonth;
      const amount = isPart ? Math.ceil((open * visit.tuitionShare) / 5000) * 5000 : open;
      const isFined = day > dueDay && !finedMonths.has(monthIndex);
      if (isFined) finedMonths.add(monthIndex);
      const fine = day - dueDay > 30 ? 10_000 : 5_000;
      return [{ head, monthIndex, amount: Math.min(amount, open), fine: isFined ? fine : 0 }];
    });
  }

  #paidOf({ head, monthIndex }: Pick<PlannedLine, 'head' | 'monthIndex'>): number {
    return this.#paidByDue.get(`${head}/${monthIndex}`) ?? 0;
  }

  #keep(receipt: PlannedReceipt): void {
    this.receipts.push(receipt);
    for (const line of receipt.lines)
      this.#paidByDue.set(`${line.head}/${line.monthIndex}`, this.#paidOf(line) + line.amount);
  }

  /** The bank returns the cheque after some days; most families then pay in another way. */
  #bounce(cheque: PlannedReceipt): void {
    const random = this.#random;
    const day = this.#calendar.officeDay(cheque.day + random.integer(3, 6));
    const fault = random.pick([
      'funds insufficient',
      'signature differs',
      'payment stopped by drawer',
    ] as const);
    const replaces = this.#rollBack(cheque, { day, type: 'bounce', reason: `Cheque returned: ${fault}` });
    this.#earliest = day + 9;
    const paymentType = random.pick(['cash', 'neft'] as const);
    const replacementDay = this.#calendar.officeDay(day + random.integer(1, 7));
    if (random.isChance(0.15) || replacementDay > this.#account.enrolment.to) return;
    const [first, ...others] = cheque.lines as [PlannedLine, ...PlannedLine[]];
    this.#keep({
      ...cheque,
      day: replacementDay,
      paymentType,
      instrumentNo: this.#instrumentNo(paymentType),
      lines: [{ ...first, fine: first.fine + 25_000 }, ...others],
      replaces,
    });
  }

  /** The cashier types a wrong amount, sees it within the hour and writes the receipt anew. */
  #enterWrongly(right: PlannedReceipt): void {
    const [first, ...others] = right.lines as [PlannedLine, ...PlannedLine[]];
    const wrong = { ...right, lines: [{ ...first, amount: first.amount + 90_000 }, ...others] };
    const second = right.second + this.#random.integer(300, 2400);
    const why = { day: right.day, second, type: 'entry_error', reason: 'Wrong amount entered' } as const;
    this.#keep({ ...right, second: second + 180, replaces: this.#rollBack(wrong, why) });
  }

  #enterTwice(receipt: PlannedReceipt): void {
    this.#keep(receipt);
    const { day, second } = receipt;
    const seenOn = this.#random.isChance(0.5) ? day : this.#calendar.officeDay(day + 1);
    const why = { day: seenOn, second: second + 4000, type: 'duplicate', reason: 'Entered twice' } as const;
    this.#rollBack({ ...receipt, second: second + 70 }, why);
  }

  /** Weeks later, often in the next month, the money is given back and the dues are open again. */
  #refund(receipt: PlannedReceipt): void {
    const day = this.#calendar.officeDay(receipt.day + this.#random.integer(12, 40));
    const reason = 'Paid for the wrong child, refunded by cheque';
    this.#rollBack(receipt, { day, type: 'refund', reason });
    this.#earliest = day + 1;
  }

  #rollBack(
    receipt: PlannedReceipt,
    why: Omit<PlannedRollback, 'second'> & { readonly second?: number },
  ): PlannedReceipt {
    const second = why.second ?? this.#random.integer(10 * 3600, 15 * 3600);
    const rolledBack = { ...receipt, rollback: { ...why, second } };
    this.receipts.push(rolledBack);
    return rolledBack;
  }

  #instrumentNo(paymentType: PaymentType): string | undefined {
    if (paymentType === 'cash') return undefined;
    if (paymentType === 'cheque') return this.#random.digits(6);
    if (paymentType === 'neft') return `N${this.#random.digits(12)}`;
    return `${this.#random.digits(4)}-${this.#random.digits(6)}`;
  }
}
