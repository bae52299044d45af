/** The input and result types of receipts in GraphQL. */
import { Field, InputType } from 'type-graphql';
import type { ExactNumber } from '../../../base/json/json.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { DecimalScalar } from '../../../base/scalars/decimal-scalar.js';
import { MonthScalar } from '../../../base/scalars/month-scalar.js';
import * as column from '../engine/columns.js';
import { type PaymentType, paymentType, type RollbackType, rollbackType } from '../engine/parameter-types.js';

@InputType({ description: 'What is paid of one fee head of one month.' })
export class ReceiptLineInput {
  @Field(() => String, { description: 'The fee head; the student has a due of it for the month.' })
  readonly feeHead!: string;
  @Field(() => MonthScalar, { description: 'The month of the due.' }) readonly month!: string;
  @Field(() => DecimalScalar, {
    description:
      'Paid of the fee, in the currency of the school: at most what is owed of it, and 0 only beside a fine.',
  })
  readonly amount!: ExactNumber;
  @Field(() => DecimalScalar, { nullable: true, description: 'Fine paid with it. Default: none.' })
  readonly fine?: ExactNumber | null;
}

@InputType({
  description: 'Money received from a student: either the lines it is for, or an amount to allocate.',
})
export class RecordReceiptInput {
  @Field(() => String, { description: '`_id` of the student.' }) readonly studentId!: string;
  @Field(() => paymentType.graphql, { description: 'How it was paid.' }) readonly paymentType!: PaymentType;
  @Field(() => String, { nullable: true, description: 'Number of the cheque, card slip or transfer.' })
  readonly instrumentNo?: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Allocated to what the student owes, the oldest due date first. Instead of `lines`.',
  })
  readonly amount?: ExactNumber | null;
  @Field(() => [ReceiptLineInput], { nullable: true, description: 'What it is for. Instead of `amount`.' })
  readonly lines?: readonly ReceiptLineInput[] | null;
  @Field(() => String, {
    nullable: true,
    description: 'Series of the receipt number. Default: the property `receiptSeries`, else "R-".',
  })
  readonly series?: string | null;
  @Field(() => DateTime, {
    nullable: true,
    description:
      'When it was received: not in the future, nor before the admission, nor in closed books (property ' +
      '`books_closed_until`). Default: now.',
  })
  readonly date?: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Number of the rolled-back receipt this one replaces.',
  })
  readonly replaces?: string | null;
}

@InputType({ description: 'Why a receipt is rolled back.' })
export class RollBackReceiptInput {
  @Field(() => String, { description: 'Number of the receipt.' }) readonly receiptNo!: string;
  @Field(() => String, { description: 'Why, in words.' }) readonly reason!: string;
  @Field(() => rollbackType.graphql, { description: 'The kind of reason.' }) readonly type!: RollbackType;
}

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
  @column.money('Demand less concession less payments.') readonly open!: string;
}
