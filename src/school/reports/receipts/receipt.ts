/** The input and result types of receipts in GraphQL. */

import type { ExactNumber } from '../../../base/json/json.js';
import { inputType, member, nullable, type ValueOf } from '../../../base/scalars/declared-type.js';
import * as column from '../engine/columns.js';
import { type PaymentType, paymentType, type RollbackType, rollbackType } from '../engine/parameter-types.js';

export const ReceiptLineInput = inputType('ReceiptLineInput', 'What is paid of one fee head of one month.', {
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
    paymentType: member.of(paymentType.graphql as Readonly<Record<string, PaymentType>>, 'How it was paid.'),
    instrumentNo: nullable.text('Number of the cheque, card slip or transfer.'),
    instrumentBank: nullable.text('The bank that a cheque is drawn on.'),
    instrumentDate: nullable.day('The day on a cheque, slip or transfer.'),
    amount: nullable.decimal(
      'Allocated to what the student owes, the oldest due date first. Instead of `lines`.',
    ),
    lines: nullable.list(ReceiptLineInput, 'What it is for. Instead of `amount`.'),
    series: nullable.text('Series of the receipt number. Default: the property `receiptSeries`, else "R-".'),
    date: nullable.isoInstant(
      'When it was received: not in the future, nor before the admission, nor in closed books (property ' +
        '`books_closed_until`). Default: now.',
    ),
    replaces: nullable.text('Number of the rolled-back receipt this one replaces.'),
  },
);
export type RecordReceiptInput = ValueOf<typeof RecordReceiptInput>;

export const RollBackReceiptInput = inputType('RollBackReceiptInput', 'Why a receipt is rolled back.', {
  receiptNo: member.text('Number of the receipt.'),
  reason: member.text('Why, in words.'),
  type: member.of(rollbackType.graphql as Readonly<Record<string, RollbackType>>, 'The kind of reason.'),
});
export type RollBackReceiptInput = ValueOf<typeof RollBackReceiptInput>;

@column.rowType('ReceiptLine', 'What a receipt is for.')
export class ReceiptLine {
  @column.text('The fee head.') readonly feeHead!: string;
  @column.month('The month of the due.') readonly month!: string;
  @column.money('Paid of the fee.') readonly amount!: ExactNumber;
  @column.money('Fine paid with it.') readonly fine!: ExactNumber;
}

@column.rowType('Receipt', 'Money received from a student.')
export class Receipt {
  @column.text('`_id` of the record.') readonly id!: string;
  @column.text('Receipt number; without gaps in its series.') readonly receiptNo!: string;
  @column.instant('When it was received.') readonly date!: string;
  @column.text('`_id` of the student.') readonly studentId!: string;
  @column.text('Name of the student.', { nullable: true }) readonly student!: string | null;
  @column.text('Class of the student.') readonly class!: string;
  @column.text('Section of the student.') readonly section!: string;
  @column.text('The session.') readonly session!: string;
  @column.text('cash, cheque, card or neft.') readonly paymentType!: string;
  @column.text('Number of the cheque, card slip or transfer.', { nullable: true }) readonly instrumentNo!:
    | string
    | null;
  @column.rows(() => ReceiptLine, 'What it is for.') readonly lines!: readonly ReceiptLine[];
  @column.money('Lines and fines together.') readonly total!: ExactNumber;
  @column.text('active or rolled_back.') readonly status!: string;
  @column.instant('When it was rolled back.', { nullable: true }) readonly rolledBackOn!: string | null;
  @column.text('Why it was rolled back.', { nullable: true }) readonly rollbackReason!: string | null;
  @column.text('The kind of reason.', { nullable: true }) readonly rollbackType!: string | null;
  @column.text('Number of the receipt it replaces.', { nullable: true }) readonly replaces!: string | null;
}

@column.rowType('StudentDue', 'What a student owes of one fee head of one month.')
export class StudentDueRow {
  @column.month('The month of the due.') readonly month!: string;
  @column.text('The fee head.') readonly feeHead!: string;
  @column.day('The last day to pay without a fine.') readonly dueDate!: string;
  @column.money('The demand.') readonly amount!: string;
  @column.money('The concession in force.') readonly concession!: string;
  @column.money('Paid.') readonly paid!: string;
  @column.money('Demand less concession less payments; 0 where more was paid.') readonly open!: string;
}
