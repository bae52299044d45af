import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Extensions, Info, Mutation, Query, Resolver } from 'type-graphql';
import {
  Receipt,
  RecordReceiptInput,
  RollBackReceiptInput,
  StudentDueRow,
} from '../../../school/reports/receipts/receipt.js';
import type { ReceiptOptions, Receipts } from '../../../school/reports/receipts/receipts.js';
import type { StudentDue } from '../../../school/reports/receipts/student-dues.js';
import { perField } from '../records/record-resolver.js';
import { TRANSACTIONAL_FIELD } from '../records/transactional.js';
import { type RequestContext, requireScope } from '../request-context.js';

/** Records and rolls back receipts; nothing else creates or changes one. */
@Resolver()
export class ReceiptResolver {
  readonly #receipts: Receipts;

  constructor(services: { readonly receipts: Receipts }) {
    this.#receipts = services.receipts;
  }

  @Query(() => [StudentDueRow], {
    description:
      'What a student owes by fee head and month, the oldest due date first: what `recordReceipt` ' +
      'allocates an amount to. For the roles admin, accountant. Errors: FORBIDDEN, NOT_FOUND.',
  })
  async studentDues(
    @Arg('studentId', () => String, { description: '`_id` of the student.' }) studentId: string,
    @Arg('all', () => Boolean, { defaultValue: false, description: 'Also what is paid in full.' })
    all: boolean,
    @Ctx() context: RequestContext,
  ): Promise<readonly StudentDue[]> {
    return await this.#receipts.dues(requireScope(context), studentId, all ? 'all' : 'open');
  }

  @Mutation(() => Receipt, {
    description:
      'Stores a receipt with the next number of its series, its lines allocated to what the student ' +
      'owes. For the roles admin, accountant.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  recordReceipt(
    @Arg('receipt', () => RecordReceiptInput, { description: 'What was received, from whom, for what.' })
    receipt: RecordReceiptInput,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Receipt> {
    return this.#receipts.record(requireScope(context), receipt, optionsOf(context, info));
  }

  @Mutation(() => Receipt, {
    description:
      'Rolls a receipt back, once, and records who did so, when and why. It stays in the ' +
      'books, and its number is not reused. For the roles admin, accountant.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  rollBackReceipt(
    @Arg('rollback', () => RollBackReceiptInput, { description: 'Which receipt, and why.' })
    rollback: RollBackReceiptInput,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Receipt> {
    return this.#receipts.rollBack(requireScope(context), rollback, optionsOf(context, info));
  }
}

function optionsOf(context: RequestContext, info: GraphQLResolveInfo): ReceiptOptions {
  return { idempotencyKey: perField(context, info).idempotencyKey, within: context.transaction };
}
