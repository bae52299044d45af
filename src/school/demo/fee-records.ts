/** Records of fee heads, dues, concessions and receipts. */

import type { JsonObject } from '../../base/json/json.js';
import type { PlannedConcession } from './concessions.js';
import { type DemoRecord, demoRecord, present, rupees } from './demo-record.js';
import type { NumberedReceipt, SessionYear } from './demo-school.js';
import { clock, dayText, type EpochDay, instantText } from './epoch-day.js';
import type { PlannedReceipt } from './fee-ledger.js';
import { FEE_HEADS, listPlannedFees } from './planned-dues.js';
import { BUS_ROUTES } from './school-plan.js';

export function* feeHeadRecords(createdAt: string): Iterable<DemoRecord> {
  for (const [index, head] of FEE_HEADS.entries()) {
    yield demoRecord(`head-${head.name.toLowerCase().replace(' ', '-')}`, createdAt, {
      name: head.name,
      order: index + 1,
      optional: head.isOptional,
    });
  }
}

/** The fee plan of the present session; the dues of earlier ones were made by plans that nobody keeps. */
export function* feePlanRecords(year: SessionYear, createdAt: string): Iterable<DemoRecord> {
  const { school, calendar } = year;
  if (calendar.startYear !== school.moment.startYear) return;
  for (const [index, fee] of listPlannedFees(school.plan.classes, BUS_ROUTES).entries()) {
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
export function* feeDueRecords(year: SessionYear): Iterable<DemoRecord> {
  const { calendar } = year;
  for (const { enrolment, dues } of year.ledgers) {
    const { student, klass } = enrolment;
    if (enrolment.from > year.lastDay) continue;
    const createdAt = instantText(enrolment.from, clock(11, 0));
    const section = enrolment.sectionOn(enrolment.from).name;
    for (const due of dues) {
      const month = calendar.months[due.monthIndex] ?? '';
      const head = FEE_HEADS.findIndex(({ name }) => name === due.head) + 1;
      yield demoRecord(`due-${month}-${student.id.slice(4)}-${head}`, createdAt, {
        student: student.reference,
        class: klass.name,
        section,
        session: calendar.session,
        month,
        fee_head: due.head,
        amount: rupees(due.amount),
        due_date: dayText(due.dueDay),
        cancelled_on: due.cancelledOn === undefined ? undefined : dayText(due.cancelledOn),
      });
    }
  }
}

export function* feeConcessionRecords(year: SessionYear): Iterable<DemoRecord> {
  for (const { enrolment, concessions } of year.ledgers) {
    for (const [index, concession] of concessions.entries()) {
      if (concession.grantedOn > year.lastDay) continue;
      const id = `con-${year.calendar.session}-${enrolment.student.id.slice(4)}-${index + 1}`;
      const createdAt = instantText(concession.grantedOn, clock(12, 0));
      yield demoRecord(id, createdAt, {
        name: enrolment.student.reference,
        ...concessionMembers(concession, year),
        approved_by: year.school.staff.principal.reference,
      });
    }
  }
}

function concessionMembers(concession: PlannedConcession, year: SessionYear): JsonObject {
  const { months, session } = year.calendar;
  const { revokedOn } = concession;
  return present({
    fee_head: concession.head,
    kind: concession.kind,
    value: concession.kind === 'percent' ? concession.value / 10 : rupees(concession.value),
    session,
    from_month: months[concession.fromMonth],
    to_month: months[concession.toMonth],
    type: concession.type,
    reason: concession.reason,
    revoked_on: isKnown(revokedOn, year) ? dayText(revokedOn) : undefined,
  });
}

export function* feeReceiptRecords(year: SessionYear): Iterable<DemoRecord> {
  const numbers = new Map<PlannedReceipt, string>();
  for (const { receipt, receiptNo } of year.receipts) numbers.set(receipt, receiptNo);
  for (const numbered of year.receipts) yield receiptRecord(numbered, { year, numbers });
}

function receiptRecord(
  numbered: NumberedReceipt,
  context: { year: SessionYear; numbers: ReadonlyMap<PlannedReceipt, string> },
): DemoRecord {
  const { receipt, receiptNo } = numbered;
  const { year, numbers } = context;
  const { staff } = year.school;
  const { enrolment, replaces } = receipt;
  const rollback = isKnown(receipt.rollback?.day, year) ? receipt.rollback : undefined;
  const date = instantText(receipt.day, receipt.second);
  const record = demoRecord(`rcp-${receiptNo.slice(2).padStart(7, '0')}`, date, {
    receipt_no: receiptNo,
    date,
    student: enrolment.student.reference,
    class: enrolment.klass.name,
    section: enrolment.sectionOn(receipt.day).name,
    session: year.calendar.session,
    payment_type: receipt.paymentType,
    instrument_no: receipt.instrumentNo,
    lines: receipt.lines.map((line) =>
      present({
        fee_head: line.head,
        month: year.calendar.months[line.monthIndex],
        amount: rupees(line.amount),
        fine: line.fine > 0 ? rupees(line.fine) : undefined,
      }),
    ),
    total: rupees(receipt.lines.reduce((sum, { amount, fine }) => sum + amount + fine, 0)),
    collected_by: (staff.accountants[receipt.cashier % staff.accountants.length] ?? staff.principal)
      .reference,
    status: rollback ? 'rolled_back' : 'active',
    rolled_back_on: rollback && instantText(rollback.day, rollback.second),
    rolled_back_by: rollback && staff.accountants[0].reference,
    rollback_reason: rollback?.reason,
    rollback_type: rollback?.type,
    replaces: replaces && numbers.get(replaces),
  });
  return rollback ? { ...record, updatedAt: instantText(rollback.day, rollback.second) } : record;
}

/** Whether a day has come yet. */
function isKnown(day: EpochDay | undefined, year: SessionYear): day is EpochDay {
  return day !== undefined && day <= year.school.moment.today;
}
