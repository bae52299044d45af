/** The root fields that write many records of one collection: `createTasks`, `updateTasks`, `deleteTasks`, `upsertTask`, `upsertTasks`. */

import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Ctx,
  createParameterDecorator,
  Extensions,
  FieldResolver,
  Info,
  Int,
  Mutation,
  Resolver,
  Root,
} from 'type-graphql';
import type { JsonObject } from '../../../json.js';
import type { Matching } from '../../../resolvers/records/bulk/bulk-writes.js';
import {
  type RecordBatch,
  selectedRecords,
  shownCount,
} from '../../../resolvers/records/bulk/record-batch.js';
import { OrderByInput, type SortDirection } from '../../../resolvers/records/generic-record.js';
import { CI_ARGUMENT } from '../../../resolvers/records/oquery-arguments.js';
import { perField } from '../../../resolvers/records/record-resolver.js';
import { assertShownFields } from '../../../resolvers/records/shown-fields.js';
import { TRANSACTIONAL_FIELD } from '../../../resolvers/records/transactional.js';
import { type RequestContext, requireScope } from '../../../resolvers/request-context.js';
import { toTypeName, withArticle } from '../graphql-names.js';
import { typedForm } from '../typed-form.js';
import { type InputValues, toStoredFields } from '../typed-input.js';
import type { TypedCollection, TypedModel } from '../typed-model.js';
import type { AsPlainValue, TypedResolverClass, TypedServices } from '../typed-resolver.js';
import type { TypedSource } from '../typed-source.js';
import type { TypeClass, TypedTypes } from '../typed-types.js';
import { toStoredWhere, type WhereInputs } from '../typed-where.js';
import { toTypedOperations } from './bulk-operations.js';
import { createBulkTypes } from './bulk-types.js';

interface OrderByValue {
  readonly field: string;
  readonly direction: SortDirection;
}

/** What says which records are meant. */
interface Condition {
  readonly where: object | null | undefined;
  readonly oquery: string | null | undefined;
  readonly ci: boolean | null | undefined;
  readonly orderBy: readonly OrderByValue[] | null | undefined;
  readonly limit: number | null | undefined;
  readonly allowAll: boolean | null | undefined;
}

const WHERE = { nullable: true, description: 'Which records: conditions on the fields, all of which hold.' };
const OQUERY = {
  nullable: true,
  description:
    'Which records: a filter as in the REST interface, by stored field names. Holds together with `where`.',
};
const ORDER_BY = { nullable: true, description: 'The order in which records are taken; by id if left out.' };
const LIMIT = {
  nullable: true,
  description: 'At most so many, the first of the order. Left out: all, refused where they are too many.',
};
const ALLOW_ALL = {
  nullable: true,
  description: 'Every record is meant: without it, a condition is needed.',
};

export function createTypedBulkResolver(
  typed: TypedCollection,
  options: {
    readonly model: TypedModel;
    readonly types: TypedTypes;
    readonly whereInputs: WhereInputs;
    readonly asPlainValue: AsPlainValue;
  },
): TypedResolverClass {
  const { model, types, whereInputs, asPlainValue } = options;
  const { collection, plural, object } = typed;
  const { typeName } = object;
  const many = toTypeName(plural);
  const form = typedForm(typed, model);
  const recordType = types.record(typed);
  const { batch: batchType, keys, numbers, bounds, lists } = createBulkTypes(typed, types);
  const whereInput = asPlainValue(whereInputs.ofCollection(typed));
  const sortKey = asPlainValue(types.orderBy(typed) ?? OrderByInput);
  const createInput = asPlainValue(types.createInput(typed, 'Create'));
  const updateInput = asPlainValue(types.createInput(typed, 'Update'));
  const changes = (name: string, input: TypeClass | undefined, description: string) =>
    input === undefined ? ABSENT : Arg(name, asPlainValue(input), { nullable: true, description });

  @Resolver(() => batchType)
  class TypedBulkResolver {
    readonly #services: TypedServices;

    constructor(services: TypedServices) {
      this.#services = services;
    }

    @FieldResolver(() => [recordType], {
      description: 'The first of the records, as they are now; removed ones as they were.',
    })
    records(
      @Root() batch: RecordBatch,
      @Arg('first', () => Int, { nullable: true, description: 'At most so many.' }) first?: number | null,
    ): readonly TypedSource[] {
      return batch.records.slice(0, shownCount(first, this.#services.pages)).map((one) => form.toNode(one));
    }

    @Mutation(() => batchType, {
      name: `create${many}`,
      description: `Stores ${plural}, all or none. The header \`Idempotency-Key\` makes a repeated request give the first answer.`,
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async createMany(
      @Ctx() context: RequestContext,
      @Arg('records', () => [createInput()], { description: 'The fields of each.' })
      records: readonly InputValues[],
      @Info() info: GraphQLResolveInfo,
    ): Promise<RecordBatch> {
      return await this.#services.bulk.create(perField(context, info), {
        collection: collection.name,
        records: records.map(toStored),
        shown: this.#shown(context, info),
      });
    }

    @Mutation(() => batchType, {
      name: `update${many}`,
      description: `Changes all ${plural} that match, in one transaction: all or none. Changes of many callers at once are all kept.`,
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async updateMany(
      @Ctx() context: RequestContext,
      @Arg('where', whereInput, WHERE) where: object | null | undefined,
      @Arg('oquery', () => String, OQUERY) oquery: string | null | undefined,
      @Arg('ci', () => Boolean, CI_ARGUMENT) ci: boolean | null | undefined,
      @Arg('orderBy', () => [sortKey()], ORDER_BY) orderBy: readonly OrderByValue[] | null | undefined,
      @Arg('limit', () => Int, LIMIT) limit: number | null | undefined,
      @Arg('allowAll', () => Boolean, ALLOW_ALL) allowAll: boolean | null | undefined,
      @Arg('set', updateInput, { nullable: true, description: 'New values of fields; null removes one.' })
      set: InputValues | null | undefined,
      @changes('increment', numbers, 'Numbers to add, exactly; a missing one counts as 0.')
      increment: InputValues | null | undefined,
      @changes('multiply', numbers, 'Numbers to multiply by, exactly.')
      multiply: InputValues | null | undefined,
      @changes('min', bounds, 'Values to take where they are less than the one there, or none is there.')
      min: InputValues | null | undefined,
      @changes('max', bounds, 'Values to take where they are greater than the one there, or none is there.')
      max: InputValues | null | undefined,
      @changes('push', lists, 'Values to put at the end of lists.')
      push: InputValues | null | undefined,
      @changes('addToSet', lists, 'As `push`, leaving out what a list holds already.')
      addToSet: InputValues | null | undefined,
      @changes('pull', lists, 'Values to take out of lists.')
      pull: InputValues | null | undefined,
      @Info() info: GraphQLResolveInfo,
    ): Promise<RecordBatch> {
      const sent = { set, increment, multiply, min, max, push, addToSet, pull };
      const condition = { where, oquery, ci, orderBy, limit, allowAll };
      return await this.#services.bulk.update(perField(context, info), {
        ...this.#toMatching(condition, context, info),
        update: toTypedOperations(sent, object),
      });
    }

    @Mutation(() => batchType, {
      name: `delete${many}`,
      description: `Removes all ${plural} that match, in one transaction. Read by their ids they are GONE, lists skip them.`,
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async deleteMany(
      @Ctx() context: RequestContext,
      @Arg('where', whereInput, WHERE) where: object | null | undefined,
      @Arg('oquery', () => String, OQUERY) oquery: string | null | undefined,
      @Arg('ci', () => Boolean, CI_ARGUMENT) ci: boolean | null | undefined,
      @Arg('orderBy', () => [sortKey()], ORDER_BY) orderBy: readonly OrderByValue[] | null | undefined,
      @Arg('limit', () => Int, LIMIT) limit: number | null | undefined,
      @Arg('allowAll', () => Boolean, ALLOW_ALL) allowAll: boolean | null | undefined,
      @Info() info: GraphQLResolveInfo,
    ): Promise<RecordBatch> {
      const condition = { where, oquery, ci, orderBy, limit, allowAll };
      const matching = this.#toMatching(condition, context, info);
      return await this.#services.bulk.delete(perField(context, info), matching);
    }

    @Mutation(() => batchType, {
      name: `upsert${many}`,
      description: `Stores ${plural} by a key, in one transaction: where there is one with the key, the fields sent are changed, null removing one; else it is made.`,
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async upsertMany(
      @Ctx() context: RequestContext,
      @Arg('records', () => [createInput()], {
        description: 'The fields of each, those of the key among them.',
      })
      records: readonly InputValues[],
      @Arg('by', () => keys, { defaultValue: '_id', description: 'What tells them apart.' }) by: string,
      @Info() info: GraphQLResolveInfo,
    ): Promise<RecordBatch> {
      return await this.#services.bulk.upsert(perField(context, info), {
        collection: collection.name,
        records: records.map(toStored),
        by,
        shown: this.#shown(context, info),
      });
    }

    @Mutation(() => recordType, {
      name: `upsert${typeName}`,
      description: `Stores ${withArticle(typeName)} by a key: where there is one with the key, the fields sent are changed, null removing one; else it is made.`,
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async upsertOne(
      @Ctx() context: RequestContext,
      @Arg('data', createInput, { description: 'The fields, those of the key among them.' })
      data: InputValues,
      @Arg('by', () => keys, { defaultValue: '_id', description: 'What tells records apart.' }) by: string,
      @Info() info: GraphQLResolveInfo,
    ): Promise<TypedSource> {
      this.#assertShown(context, info, info.fieldNodes);
      const { records } = await this.#services.bulk.upsert(perField(context, info), {
        collection: collection.name,
        records: [toStored(data)],
        by,
        shown: 1,
      });
      const [record] = records;
      if (!record) throw new Error('an upsert gave no record');
      return form.toNode(record);
    }

    #toMatching(condition: Condition, context: RequestContext, info: GraphQLResolveInfo): Matching {
      const { where, oquery, ci, orderBy, limit, allowAll } = condition;
      return {
        collection: collection.name,
        where: where ? toStoredWhere(where, object) : undefined,
        oquery: oquery ?? undefined,
        isInsensitive: ci ?? undefined,
        sort: orderBy?.map((key) => ({ path: key.field.split('.'), direction: key.direction })),
        limit: limit ?? undefined,
        allowAll: allowAll ?? false,
        shown: this.#shown(context, info),
      };
    }

    /**
     * This is checked before anything is written: an answer that would be refused must not leave a change
     * behind.
     */
    #shown(context: RequestContext, info: GraphQLResolveInfo): number {
      const { nodes, count } = selectedRecords(batchType.name, info, this.#services.pages);
      if (nodes.length > 0) this.#assertShown(context, info, nodes);
      return count;
    }

    #assertShown(
      context: RequestContext,
      info: GraphQLResolveInfo,
      nodes: GraphQLResolveInfo['fieldNodes'],
    ): void {
      assertShownFields(form.members(nodes, info), collection.name, {
        scope: requireScope(context),
        catalog: this.#services.catalog,
      });
    }
  }

  function toStored(data: InputValues): JsonObject {
    const { id } = data;
    const fields = toStoredFields(data, object);
    return typeof id === 'string' ? { _id: id, ...fields } : fields;
  }

  return TypedBulkResolver;
}

/** It takes the place of an argument for fields that the records do not have. */
const ABSENT = createParameterDecorator(() => undefined);
