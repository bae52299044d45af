/** Records of fee heads, the fee plan, dues, concessions and receipts. */
import { defined } from '../../base/json/json.js';
import { type DemoRecord, demoRecord, rupees } from './demo-record.js';
import type { PlannedReceipt } from './fee-ledger.js';
import { FEE_HEADS, listPlannedFees } from './planned-fee.js';
import { clock, dayText, type EpochDay, instantText } from './session-calendar.js';
import type { SessionYear } from './session-year.js';

export function* feeHeadRecords(createdAt: string): Iterable<DemoRecord> {
  for (const [index, name] of FEE_HEADS.entries()) {
    const optional = name === 'Transport';
    const id = `head-${name.toLowerCase().replace(' ', '-')}`;
    yield demoRecord(id, createdAt, { name, order: index + 1, optional });
  }
}

/** The fee plan of the present session; the dues of earlier ones were made by plans that nobody keeps. */
export function* feePlanRecords({ school, calendar }: SessionYear, createdAt: string): Iterable<DemoRecord> {
  if (calendar.startYear !== school.startYear) return;
  for (const [index, fee] of listPlannedFees(school.plan.classes).entries()) {
    yield demoRecord(`plan-${calendar.session}-${index + 1}`, createdAt, {
      session: calendar.session,
      class: fee.className,
      fee_head: fee.head,
      months: fee.months?.map((month) => calendar.months[month] ?? ''),
      amount: rupees(fee.amount),
      due_day: fee.months?.length === 1 ? 15 : 10,
      route: fee.route,
      newcomers: fee.isForNewcomers === true,
    });
  }
}

/** The whole session's demand is raised at its start, a newcomer's on the day of admission. */
export function* feeDueRecords({ calendar, ledgers, lastDay }: SessionYear): Iterable<DemoRecord> {
  for (const { enrolment, dues } of ledgers) {
    const { student, klass, from } = enrolment;
    if (from > lastDay) continue;
    for (const due of dues) {
      const month = calendar.months[due.monthIndex] ?? '';
      const head = FEE_HEADS.indexOf(due.head) + 1;
      yield demoRecord(`due-${month}-${student.id.slice(4)}-${head}`, instantText(from, clock(11, 0)), {
        student: student.reference,
        class: klass.name,
        section: enrolment.sectionOn(from).name,
        session: calendar.session,
        month,
        fee_head: due.head,
        amount: rupees(due.amount),
        due_date: dayText(due.dueDay),
        cancelled_on: due.cancelledOn && dayText(due.cancelledOn),
      });
    }
  }
}

export function* feeConcessionRecords(year: SessionYear): Iterable<DemoRecord> {
  const { months, session } = year.calendar;
  for (const { enrolment, concessions } of year.ledgers) {
    for (const [index, { head, kind, value, fromMonth, ...rest }] of concessions.entries()) {
      const { grantedOn, revokedOn, type, reason } = rest;
      if (grantedOn > year.lastDay) continue;
      const id = `con-${session}-${enrolment.student.id.slice(4)}-${index + 1}`;
      yield demoRecord(id, instantText(grantedOn, clock(12, 0)), {
        name: enrolment.student.reference,
        fee_head: head,
        kind,
        value: kind === 'percent' ? value / 10 : rupees(value),
        session,
        from_month: months[fromMonth],
        to_month: months[11],
        ...{ type, reason },
        revoked_on: isKnown(revokedOn, year) ? dayText(revokedOn) : undefined,
        approved_by: year.school.staff.principal.reference,
      });
    }
  }
}

export function* feeReceiptRecords(year: SessionYear): Iterable<DemoRecord> {
  const { accountants } = year.school.staff;
  const numbers = new Map<PlannedReceipt, string>();
  for (const { receipt, receiptNo } of year.receipts) numbers.set(receipt, receiptNo);
  for (const { receipt, receiptNo } of year.receipts) {
    const { enrolment, replaces, lines } = receipt;
    const rollback = isKnown(receipt.rollback?.day, year) ? receipt.rollback : undefined;
    const date = instantText(receipt.day, receipt.second);
    const rolledBackAt = rollback && instantText(rollback.day, rollback.second);
    const record = demoRecord(`rcp-${receiptNo.slice(2).padStart(7, '0')}`, date, {
      receipt_no: receiptNo,
      date,
      student: enrolment.student.reference,
      class: enrolment.klass.name,
      section: enrolment.sectionOn(receipt.day).name,
      session: year.calendar.session,
      payment_type: receipt.paymentType,
      instrument_no: receipt.instrumentNo,
      lines: lines.map(({ head, monthIndex, amount, fine }) =>
        defined({
          fee_head: head,
          month: year.calendar.months[monthIndex],
          amount: rupees(amount),
          fine: fine > 0 ? rupees(fine) : undefined,
        }),
      ),
      total: rupees(lines.reduce((sum, { amount, fine }) => sum + amount + fine, 0)),
      collected_by: accountants[receipt.cashier % accountants.length]?.reference,
      status: rollback ? 'rolled_back' : 'active',
      rolled_back_on: rolledBackAt,
      rolled_back_by: rollback && accountants[0]?.reference,
      rollback_reason: rollback?.reason,
      rollback_type: rollback?.type,
      replaces: replaces && numbers.get(replaces),
    });
    yield { ...record, ...(rolledBackAt && { updatedAt: rolledBackAt }) };
  }
}

/** Whether a day has come yet. */
function isKnown(day: EpochDay | undefined, year: SessionYear): day is EpochDay {
  return day !== undefined && day <= year.school.today;
}
