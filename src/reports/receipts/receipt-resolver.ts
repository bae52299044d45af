import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { type RequestContext, requireScope } from '../../graphql/request-context.js';
import { Receipt, RecordReceiptInput, RollBackReceiptInput } from './receipt-types.js';
import type { Receipts } from './receipts.js';

/** Writing and rolling back receipts, the only ways a receipt comes about or changes. */
@Resolver()
export class ReceiptResolver {
  readonly #receipts: Receipts;

  constructor(receipts: Receipts) {
    this.#receipts = receipts;
  }

  @Mutation(() => Receipt, {
    description:
      'Stores a receipt with the next number of its series, its lines allocated to what the student owes. For the roles admin, accountant.',
  })
  recordReceipt(
    @Arg('receipt', () => RecordReceiptInput, { description: 'What was received, from whom, for what.' })
    receipt: RecordReceiptInput,
    @Ctx() context: RequestContext,
  ): Promise<Receipt> {
    return this.#receipts.record(requireScope(context), receipt, context.idempotencyKey);
  }

  @Mutation(() => Receipt, {
    description:
      'Rolls a receipt back, once, with who, when and why. It stays in the books; its number is not used again. For the roles admin, accountant.',
  })
  rollBackReceipt(
    @Arg('rollback', () => RollBackReceiptInput, { description: 'Which receipt, and why.' })
    rollback: RollBackReceiptInput,
    @Ctx() context: RequestContext,
  ): Promise<Receipt> {
    return this.#receipts.rollBack(requireScope(context), rollback, context.idempotencyKey);
  }
}
