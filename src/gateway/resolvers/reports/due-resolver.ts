import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Extensions, Info, Mutation, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../base/json/json.js';
import { MonthScalar } from '../../../base/scalars/month-scalar.js';
import {
  type DueRaising,
  type RaiseDuesInput,
  RaisedDues,
} from '../../../school/reports/receipts/due-raising.js';
import type { RecordStore } from '../../../store/record-store.js';
import { perField } from '../records/record-resolver.js';
import { TRANSACTIONAL_FIELD } from '../records/transactional.js';
import { writeOnce } from '../records/write-once.js';
import type { RequestContext } from '../request-context.js';

@Resolver()
export class DueResolver {
  readonly #services: { readonly dueRaising: DueRaising; readonly store: RecordStore };

  constructor(services: { readonly dueRaising: DueRaising; readonly store: RecordStore }) {
    this.#services = services;
  }

  /** Raises dues, once per `Idempotency-Key`. */
  async raise(context: RequestContext, input: RaiseDuesInput): Promise<RaisedDues> {
    const { dueRaising, store } = this.#services;
    return await writeOnce<RaisedDues, JsonObject>(store, context, {
      writes: ['fee_due'],
      request: () => ['raiseDues', input.month, input.class ?? null, input.dryRun === true],
      run: (scope, options) => dueRaising.raise(scope, input, options.within),
      keep: (done) => JSON.parse(JSON.stringify(done)),
      recall: (kept) => kept as unknown as RaisedDues,
    });
  }

  @Mutation(() => RaisedDues, {
    description:
      'Makes the demands of a month by the fee plan (collection `fee_plan`) for all students on the ' +
      'roll, all or none. A demand that was made before, and is not cancelled, is not made again. With ' +
      '`dryRun` it changes nothing and returns the counts and totals. `undoChange` takes all of it back. ' +
      'For those who may create dues and read the fee plan and all students. Errors: INVALID_VALUE, ' +
      'FORBIDDEN, NOT_FOUND without a fee plan for the month, LIMIT_EXCEEDED above ' +
      'MAX_RECORDS_PER_WRITE: raise the dues class by class.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  async raiseDues(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg('month', () => MonthScalar, { description: 'The month, YYYY-MM.' }) month: string,
    @Arg('class', () => String, { nullable: true, description: 'One class. Default: every class.' })
    className: string | null | undefined,
    @Arg('dryRun', () => Boolean, {
      nullable: true,
      description: 'Change nothing, and return what would be done.',
    })
    dryRun: boolean | null | undefined,
  ): Promise<RaisedDues> {
    return await this.raise(perField(context, info), { month, class: className, dryRun });
  }
}
