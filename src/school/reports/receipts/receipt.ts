/** The input and result types of receipts in GraphQL. */

import { inputType, member, nullable, type ValueOf } from '../../../base/scalars/declared-type.js';
import { column, rowType } from '../engine/columns.js';
import { paymentType, rollbackType } from '../engine/parameter-types.js';

export const ReceiptLineInput = inputType('ReceiptLineInput', 'A payment for one fee head of one month.', {
  feeHead: member.text('The fee head; the student has a due of it for the month.'),
  month: member.month('The month of the due.'),
  amount: member.decimal(
    'Paid of the fee, in the currency of the school: at most what is owed of it, and 0 only beside a fine.',
  ),
  fine: nullable.decimal('Fine paid with it. Default: none.'),
});
export type ReceiptLineInput = ValueOf<typeof ReceiptLineInput>;

export const RecordReceiptInput = inputType(
  'RecordReceiptInput',
  'Money received from a student: either the lines it is for, or an amount to allocate.',
  {
    studentId: member.text('`_id` of the student.'),
    paymentType: member.of(paymentType.graphql, 'The payment type.'),
    instrumentNo: nullable.text('Number of the cheque, card slip or transfer; required for a cheque.'),
    instrumentBank: nullable.text('The bank that a cheque is drawn on.'),
    instrumentDate: nullable.day('The day on a cheque, slip or transfer.'),
    amount: nullable.decimal(
      'Allocated to what the student owes, the oldest due date first. Instead of `lines`.',
    ),
    lines: nullable.list(ReceiptLineInput, 'The fees that are paid. Instead of `amount`.'),
    series: nullable.text('Series of the receipt number. Default: the property `receiptSeries`, else "R-".'),
    date: nullable.isoInstant(
      'When it was received: not in the future, nor before the admission, nor in closed books (property ' +
        '`books_closed_until`). Default: now.',
    ),
    replaces: nullable.text(
      'Number of the rolled-back receipt this one replaces; no other receipt in force may.',
    ),
  },
);
export type RecordReceiptInput = ValueOf<typeof RecordReceiptInput>;

export const RollBackReceiptInput = inputType('RollBackReceiptInput', 'Why a receipt is rolled back.', {
  receiptNo: member.text('Number of the receipt.'),
  reason: member.text('Why, in words.'),
  type: member.of(rollbackType.graphql, 'The kind of reason.'),
});
export type RollBackReceiptInput = ValueOf<typeof RollBackReceiptInput>;

const ReceiptLine = rowType('ReceiptLine', 'A payment of a receipt for one fee.', {
  feeHead: column.text('The fee head.'),
  month: column.month('The month of the due.'),
  amount: column.money('Paid of the fee.'),
  fine: column.money('Fine paid with it.'),
});

export const Receipt = rowType('Receipt', 'Money received from a student.', {
  id: column.text('`_id` of the record.'),
  receiptNo: column.text('Receipt number; without gaps in its series.'),
  date: column.instant('When it was received.'),
  studentId: column.text('`_id` of the student.'),
  student: column.nullable.text('Name of the student.'),
  class: column.text('Class of the student.'),
  section: column.text('Section of the student.'),
  session: column.text('The session.'),
  paymentType: column.text('cash, cheque, card or neft.'),
  instrumentNo: column.nullable.text('Number of the cheque, card slip or transfer.'),
  lines: column.rows(ReceiptLine, 'The fees that are paid.'),
  total: column.money('Lines and fines together.'),
  status: column.text('active or rolled_back.'),
  rolledBackOn: column.nullable.instant('When it was rolled back.'),
  rollbackReason: column.nullable.text('Why it was rolled back.'),
  rollbackType: column.nullable.text('The kind of reason.'),
  replaces: column.nullable.text('Number of the receipt it replaces.'),
});
export type Receipt = ValueOf<typeof Receipt>;

export const StudentDueRow = rowType(
  'StudentDue',
  'The balance of a student for one fee head of one month.',
  {
    month: column.month('The month of the due.'),
    feeHead: column.text('The fee head.'),
    dueDate: column.day('The last day to pay without a fine.'),
    amount: column.money('The demand.'),
    concession: column.money('The concession in force.'),
    paid: column.money('Paid.'),
    open: column.money('Demand less concession less payments; 0 where more was paid.'),
  },
);
