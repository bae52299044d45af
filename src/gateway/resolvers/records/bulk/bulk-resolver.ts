/**
 * Writes of many records of any collection, each in one transaction. A declared collection also has its own
 * fields, e.g. `updateTasks`.
 */

import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Extensions, FieldResolver, Info, Int, Mutation, Resolver, Root } from 'type-graphql';
import type { JsonValue } from '../../../../base/json/json.js';
import {
  argumentsType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../../base/scalars/declared-type.js';
import { GraphqlJsonScalar } from '../../../../base/scalars/json-scalar.js';
import type { PageSizes } from '../../page-arguments.js';
import type { RequestContext } from '../../request-context.js';
import { toGenericRecord } from '../generic-form.js';
import { GenericRecord, OrderByInput } from '../generic-record.js';
import { CI_ARGUMENT, FORCE_ARGUMENT } from '../oquery-arguments.js';
import { perField, scanningField, toGenericRequest, toObject } from '../record-resolver.js';
import { TRANSACTIONAL_FIELD } from '../transactional.js';
import { type BulkServices, BulkWrites, type Matching } from './bulk-writes.js';
import { type RecordBatch, selectedRecords, shownCount } from './record-batch.js';
import { toUpdateOperations, UpdateArguments } from './update-arguments.js';

const GenericBatch = objectType('RecordBatch', 'What a write of many records did.', {
  count: member.whole('Records created, changed or removed.'),
  created: member.whole('Of them, new ones.'),
  matched: member.whole('Records that were there and matched, also those that the change left as they were.'),
});

const MatchingArguments = argumentsType({
  collection: member.text('The collection, e.g. "task".'),
  where: nullable.json('Which records: a structured filter by stored field names, as for `records`.'),
  oquery: nullable.text('Which records: a filter as in the REST interface.'),
  ci: CI_ARGUMENT,
  orderBy: nullable.list(OrderByInput, 'The order in which records are selected; by id if left out.'),
  limit: nullable.whole(
    'The most records to change, the first in the order. Left out: all, rejected if there' + ' are too many.',
  ),
  allowAll: nullable.flag('Selects every record of the collection. Without it, a condition is required.'),
});
type MatchingArguments = ValueOf<typeof MatchingArguments>;

const toMatchingRequest = (args: MatchingArguments) => ({
  ...toGenericRequest(args),
  limit: args.limit ?? undefined,
});

/** A batch with its collection, for the resolvers of its fields. */
interface BatchSource extends RecordBatch {
  readonly collection: string;
}

@Resolver(() => GenericBatch)
export class BulkResolver {
  readonly #pages: PageSizes;
  /** The methods behind these fields; the typed fields use them too. */
  readonly writes: BulkWrites;

  constructor(services: BulkServices & { readonly pages: PageSizes }) {
    this.writes = new BulkWrites(services);
    this.#pages = services.pages;
  }

  @FieldResolver(() => [GenericRecord], {
    description: 'The first of the records, as they are now; removed ones as they were.',
  })
  records(
    @Root() batch: BatchSource,
    @Arg('first', () => Int, { nullable: true, description: 'The most to return.' }) first?: number | null,
  ): readonly GenericRecord[] {
    return batch.records
      .slice(0, shownCount(first, this.#pages))
      .map((record) => toGenericRecord(record, batch.collection));
  }

  @Mutation(() => GenericBatch, {
    description:
      'Changes all records that match, in one transaction: all or none. Numbers are counted exactly.',
  })
  @Extensions({ ...TRANSACTIONAL_FIELD, ...scanningField(toMatchingRequest) })
  async updateRecords(
    @Ctx() context: RequestContext,
    @Args(() => MatchingArguments) args: MatchingArguments,
    @Args(() => UpdateArguments) changes: UpdateArguments,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BatchSource> {
    const request = { ...this.#toMatching(args, info), update: toUpdateOperations(changes) };
    const batch = await this.writes.update(perField(context, info), request);
    return { ...batch, collection: args.collection };
  }

  @Mutation(() => GenericBatch, {
    description:
      'Removes all records that match, in one transaction. Reading them by their ids then ' +
      'fails with GONE, and lists skip them. Errors: CONFLICT with the number of records that point to them.',
  })
  @Extensions({ ...TRANSACTIONAL_FIELD, ...scanningField(toMatchingRequest) })
  async deleteRecords(
    @Ctx() context: RequestContext,
    @Args(() => MatchingArguments) args: MatchingArguments,
    @Info() info: GraphQLResolveInfo,
    @Arg('force', () => Boolean, FORCE_ARGUMENT) force?: boolean | null,
  ): Promise<BatchSource> {
    const request = { ...this.#toMatching(args, info), force: force ?? undefined };
    const batch = await this.writes.delete(perField(context, info), request);
    return { ...batch, collection: args.collection };
  }

  @Mutation(() => GenericBatch, {
    description:
      'Stores records by a key, in one transaction. If a record with the key exists, the ' +
      'fields sent are changed. Otherwise a record is created.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  async upsertRecords(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'The collection, e.g. "task".' }) collection: string,
    @Arg('data', () => [GraphqlJsonScalar], {
      description: 'The fields of each record by their stored names.',
    })
    data: readonly JsonValue[],
    @Arg('by', () => String, {
      defaultValue: '_id',
      description:
        'The key of the records: `_id`, a unique field, or a rule of fields that are unique ' + 'together.',
    })
    by: string,
    @Info() info: GraphQLResolveInfo,
  ): Promise<BatchSource> {
    const records = data.map((one, index) => toObject(one, `data.${index}`));
    const shown = this.#shown(info);
    const batch = await this.writes.upsert(perField(context, info), { collection, records, by, shown });
    return { ...batch, collection };
  }

  #toMatching(args: MatchingArguments, info: GraphQLResolveInfo): Matching {
    return {
      ...toMatchingRequest(args),
      allowAll: args.allowAll ?? false,
      shown: this.#shown(info),
    };
  }

  #shown(info: GraphQLResolveInfo): number {
    return selectedRecords('RecordBatch', info, this.#pages).count;
  }
}
