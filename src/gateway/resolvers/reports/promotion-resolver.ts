import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Extensions, Info, Mutation, Resolver } from 'type-graphql';
import { type JsonObject } from '../../../base/json/json.js';
import { PromoteStudentsInput, Promotion } from '../../../school/reports/promotion/promotion.js';
import type { Promotions } from '../../../school/reports/promotion/promotions.js';
import type { RecordStore } from '../../../store/record-store.js';
import { perField } from '../records/record-resolver.js';
import { TRANSACTIONAL_FIELD } from '../records/transactional.js';
import { writeOnce } from '../records/write-once.js';
import type { RequestContext } from '../request-context.js';

@Resolver()
export class PromotionResolver {
  readonly #promotions: Promotions;
  readonly #store: RecordStore;

  constructor({ promotions, store }: { readonly promotions: Promotions; readonly store: RecordStore }) {
    this.#promotions = promotions;
    this.#store = store;
  }

  /** Promotes students, once per `Idempotency-Key`. */
  async promote(context: RequestContext, promotion: PromoteStudentsInput): Promise<Promotion> {
    return await writeOnce<Promotion, JsonObject>(this.#store, context, {
      writes: ['registration'],
      request: () => ['promote', JSON.stringify(promotion)],
      run: (scope, options) => this.#promotions.promote(scope, promotion, options),
      keep: (done) => JSON.parse(JSON.stringify(done)),
      recall: (kept) => kept as unknown as Promotion,
    });
  }

  @Mutation(() => Promotion, {
    description:
      'Moves classes from a session to the next, all students or none, and keeps the place of each in ' +
      '`earlier_stays`. With `dryRun` it changes nothing and returns every student with the old and the new ' +
      'place. `undoChange` takes all of it back. For those who may change students. Errors: NOT_FOUND for ' +
      'a class without students, CONFLICT when all are in the new session already.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  async promoteStudents(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg('promotion', () => PromoteStudentsInput, { description: 'The classes, and where they go.' })
    promotion: PromoteStudentsInput,
  ): Promise<Promotion> {
    return await this.promote(perField(context, info), promotion);
  }
}
