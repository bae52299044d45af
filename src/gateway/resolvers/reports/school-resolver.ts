/** The acts of a school on many records: receipts, promotions and dues. */
import type { JsonObject } from '../../../base/json/json.js';
import { member, nullable } from '../../../base/scalars/declared-type.js';
import { PromoteStudentsInput, Promotion } from '../../../school/reports/promotion/promotion.js';
import type { Promotions } from '../../../school/reports/promotion/promotions.js';
import { type DueRaising, RaisedDues } from '../../../school/reports/receipts/due-raising.js';
import {
  Receipt,
  RecordReceiptInput,
  RollBackReceiptInput,
  StudentDueRow,
} from '../../../school/reports/receipts/receipt.js';
import type { Receipts } from '../../../school/reports/receipts/receipts.js';
import type { FormatPart } from '../../../services/formats/format-export.js';
import type { FormatName } from '../../../services/formats/format-mapping.js';
import { type FormatZip, openFormatZip } from '../../../services/formats/format-zip.js';
import type { Domains } from '../../../store/catalog/domains.js';
import type { RecordStore } from '../../../store/record-store.js';
import { writeOnce } from '../records/write-once.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

interface SchoolServices {
  readonly receipts: Receipts;
  readonly promotions: Promotions;
  readonly dueRaising: DueRaising;
  readonly store: RecordStore;
  readonly domains: Domains;
  readonly keepRemovedDays: number;
}

export const RAISE_DUES_ARGUMENTS = {
  month: member.month('The month, YYYY-MM.'),
  class: nullable.text('One class. Default: every class.'),
  dryRun: nullable.flag('Change nothing, and return what would be done.'),
};

/** How an answer is kept for an `Idempotency-Key`. */
function kept<T>() {
  return {
    keep: (done: T): JsonObject => JSON.parse(JSON.stringify(done)),
    recall: (stored: JsonObject) => stored as unknown as T,
  };
}

/** The files of a format of another program, as one zip file. @see openFormatZip */
async function exportFormat(
  services: SchoolServices,
  context: RequestContext,
  format: FormatName,
  part: FormatPart,
): Promise<FormatZip> {
  return await openFormatZip(services, requireScope(context), format, part);
}

const optionsOf = ({ idempotencyKey, transaction }: RequestContext) => ({
  idempotencyKey,
  within: transaction,
});

/** Nothing else creates or changes a receipt. */
export const SchoolResolver = serviceResolver(({ query, transactional }: FieldRows<SchoolServices>) => ({
  exportFormat,
  studentDues: query(
    member.list(
      StudentDueRow,
      'What a student owes by fee head and month, the oldest due date first: what `recordReceipt` ' +
        'allocates an amount to. For the roles admin, accountant. Errors: FORBIDDEN, NOT_FOUND.',
    ),
    {
      studentId: member.text('`_id` of the student.'),
      all: member.flag('Whether to include dues that are paid in full.', { defaultValue: false }),
    },
    ({ receipts }, scope, { studentId, all }) => receipts.dues(scope, studentId, all ? 'all' : 'open'),
  ),
  recordReceipt: transactional(
    member.of(
      Receipt,
      'Stores a receipt with the next number of its series, its lines allocated to what the student ' +
        'owes. For the roles admin, accountant.',
    ),
    { receipt: member.of(RecordReceiptInput, 'What was received, from whom, for what.') },
    ({ receipts }, scope, { receipt }, { context }) => receipts.record(scope, receipt, optionsOf(context)),
  ),
  rollBackReceipt: transactional(
    member.of(
      Receipt,
      'Rolls a receipt back, once, and records who did so, when and why. It stays in the ' +
        'books, and its number is not reused. For the roles admin, accountant.',
    ),
    { rollback: member.of(RollBackReceiptInput, 'Which receipt, and why.') },
    ({ receipts }, scope, { rollback }, { context }) =>
      receipts.rollBack(scope, rollback, optionsOf(context)),
  ),
  promoteStudents: transactional(
    member.of(
      Promotion,
      'Moves classes from a session to the next, all students or none, and keeps the place of each in ' +
        '`earlier_stays`. With `dryRun` it changes nothing and returns every student with the old and the ' +
        'new place. `undoChange` takes all of it back. For those who may change students. Errors: ' +
        'NOT_FOUND for a class without students, CONFLICT when all are in the new session already.',
    ),
    { promotion: member.of(PromoteStudentsInput, 'The classes to promote, and their new classes.') },
    ({ promotions, store }, _scope, { promotion }, { context }) =>
      writeOnce(store, context, {
        ...kept<Promotion>(),
        writes: ['registration'],
        request: () => ['promote', JSON.stringify(promotion)],
        run: (scope, options) => promotions.promote(scope, promotion, options),
      }),
  ),
  raiseDues: transactional(
    member.of(
      RaisedDues,
      'Makes the demands of a month by the fee plan (collection `fee_plan`) for all students on the ' +
        'roll, all or none. A demand that was made before, and is not cancelled, is not made again. With ' +
        '`dryRun` it changes nothing and returns the counts and totals. `undoChange` takes all of it back. ' +
        'For those who may create dues and read the fee plan and all students. Errors: INVALID_VALUE, ' +
        'FORBIDDEN, NOT_FOUND without a fee plan for the month, LIMIT_EXCEEDED above ' +
        'MAX_RECORDS_PER_WRITE: raise the dues class by class.',
    ),
    RAISE_DUES_ARGUMENTS,
    ({ dueRaising, store }, _scope, input, { context }) =>
      writeOnce(store, context, {
        ...kept<RaisedDues>(),
        writes: ['fee_due'],
        request: () => ['raiseDues', input.month, input.class ?? null, input.dryRun === true],
        run: (scope, options) => dueRaising.raise(scope, input, options.within),
      }),
  ),
}));
