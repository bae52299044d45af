/**
 * The root fields for bulk writes of one collection: `createTasks`, `updateTasks`, `deleteTasks`,
 * `upsertTask`, `upsertTasks`.
 */
import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Extensions, FieldResolver, Info, Int, Mutation, Resolver, Root } from 'type-graphql';
import { isExactNumber, type JsonObject, type JsonValue } from '../../../../base/json/json.js';
import { toTypeName, withArticle } from '../../../../base/languages/graphql-names.js';
import type { Path } from '../../../../base/model/path.js';
import type { UpdateOperation } from '../../../../base/model/update-operation.js';
import { type Argument, argumentsType, type TypeClass } from '../../../../base/scalars/declared-type.js';
import { assertMembersReadable } from '../../../../store/reading/assert-members-readable.js';
import { toSort } from '../../../resolvers/page-arguments.js';
import type { Matching } from '../../../resolvers/records/bulk/bulk-writes.js';
import {
  type RecordBatch,
  selectedRecords,
  shownCount,
} from '../../../resolvers/records/bulk/record-batch.js';
import { OrderByInput } from '../../../resolvers/records/generic-record.js';
import { CI_ARGUMENT, FORCE_ARGUMENT } from '../../../resolvers/records/oquery-arguments.js';
import { perField, scanningField } from '../../../resolvers/records/record-resolver.js';
import { TRANSACTIONAL_FIELD } from '../../../resolvers/records/transactional.js';
import { type RequestContext, requireScope } from '../../../resolvers/request-context.js';
import { type InputValues, toStoredFields, toStoredInput } from '../stored-input.js';
import { typedForm } from '../typed-form.js';
import type { TypedCollection, TypedModel, TypedObject } from '../typed-model.js';
import type { TypedResolverClass, TypedServices } from '../typed-resolver.js';
import type { TypedSource } from '../typed-source.js';
import type { TypedTypes } from '../typed-types.js';
import { type SelectingArguments, toSelected, type WhereInputs } from '../where-inputs.js';
import { createBulkTypes } from './bulk-types.js';

/** Selects the records to change. */
const MULTIPLY =
  'Numbers to multiply by, exactly. The product in a field of a declared `multipleOf` (money: 0.01) is ' +
  'rounded to it, half away from 0.';

interface Condition extends SelectingArguments {
  readonly orderBy?: readonly OrderByInput[] | null;
  readonly limit?: number | null;
  readonly allowAll?: boolean | null;
}

interface UpdateArguments extends Condition {
  readonly set?: InputValues | null;
  readonly increment?: InputValues | null;
  readonly multiply?: InputValues | null;
  readonly min?: InputValues | null;
  readonly max?: InputValues | null;
  readonly push?: InputValues | null;
  readonly addToSet?: InputValues | null;
  readonly pull?: InputValues | null;
}

export function createTypedBulkResolver(
  typed: TypedCollection,
  options: {
    readonly model: TypedModel;
    readonly types: TypedTypes;
    readonly whereInputs: WhereInputs;
  },
): TypedResolverClass {
  const { model, types, whereInputs } = options;
  const { collection, plural, object } = typed;
  const { typeName } = object;
  const many = toTypeName(plural);
  const form = typedForm(typed, model);
  const recordType = types.record(typed);
  const { batch: batchType, keys, numbers, bounds, lists } = createBulkTypes(typed, types);
  const createInput = types.createInput(typed, 'Create');
  const updateInput = types.createInput(typed, 'Update');
  const condition = conditionArguments(whereInputs.ofCollection(typed), types.orderBy(typed) ?? OrderByInput);
  // Records without a number, for example, have nothing to increment.
  const changes = (type: TypeClass | undefined, description: string) =>
    type && { type, nullable: true, description };
  const updateArguments = argumentsType({
    ...condition,
    set: changes(updateInput, 'New values of fields; null removes one.'),
    increment: changes(numbers, 'Numbers to add, exactly; a missing one counts as 0.'),
    multiply: changes(numbers, MULTIPLY),
    min: changes(bounds, 'Values that replace greater values, or are set if the field is missing.'),
    max: changes(bounds, 'Values that replace lesser values, or are set if the field is missing.'),
    push: changes(lists, 'Values to append to lists.'),
    addToSet: changes(lists, 'As `push`, without the values that a list already holds.'),
    pull: changes(lists, 'Values to remove from lists.'),
  });
  const deleteArguments = argumentsType(condition);

  const toRequest = (args: Condition) => ({
    ...toSelected(args, typed),
    sort: toSort(args.orderBy),
    limit: args.limit ?? undefined,
  });

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
      @Arg('first', () => Int, { nullable: true, description: 'The most to return.' }) first?: number | null,
    ): readonly TypedSource[] {
      return batch.records.slice(0, shownCount(first, this.#services.pages)).map((one) => form.toNode(one));
    }

    @Mutation(() => batchType, {
      name: `create${many}`,
      description:
        `Stores ${plural}, all or none. The header \`Idempotency-Key\` makes a repeated request give ` +
        'the first answer.',
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async createMany(
      @Ctx() context: RequestContext,
      @Arg('records', () => [createInput], { description: 'The fields of each.' })
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
      description:
        `Changes all ${plural} that match, in one transaction: all or none. Changes of many callers at ` +
        'once are all kept.',
    })
    @Extensions({ ...TRANSACTIONAL_FIELD, ...scanningField(toRequest) })
    async updateMany(
      @Ctx() context: RequestContext,
      @Args(() => updateArguments) args: UpdateArguments,
      @Info() info: GraphQLResolveInfo,
    ): Promise<RecordBatch> {
      const { set, increment, multiply, min, max, push, addToSet, pull } = args;
      return await this.#services.bulk.update(perField(context, info), {
        ...this.#toMatching(args, context, info),
        update: toTypedOperations({ set, increment, multiply, min, max, push, addToSet, pull }, object),
      });
    }

    @Mutation(() => batchType, {
      name: `delete${many}`,
      description:
        `Removes all ${plural} that match, in one transaction. Read by their ids they are GONE, lists ` +
        'skip them.',
    })
    @Extensions({ ...TRANSACTIONAL_FIELD, ...scanningField(toRequest) })
    async deleteMany(
      @Ctx() context: RequestContext,
      @Args(() => deleteArguments) args: Condition,
      @Info() info: GraphQLResolveInfo,
      @Arg('force', () => Boolean, FORCE_ARGUMENT) force?: boolean | null,
    ): Promise<RecordBatch> {
      const matching = { ...this.#toMatching(args, context, info), force: force ?? undefined };
      return await this.#services.bulk.delete(perField(context, info), matching);
    }

    @Mutation(() => batchType, {
      name: `upsert${many}`,
      description:
        `Stores ${plural} by a key, in one transaction: where there is one with the key, the fields ` +
        'sent are changed, null removing one; else it is made.',
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async upsertMany(
      @Ctx() context: RequestContext,
      @Arg('records', () => [createInput], {
        description: 'The fields of each record, including those of the key.',
      })
      records: readonly InputValues[],
      @Arg('by', () => keys, { defaultValue: '_id', description: 'The key.' }) by: string,
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
      description:
        `Stores ${withArticle(typeName)} by a key: where there is one with the key, the fields sent ` +
        'are changed, null removing one; else it is made.',
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async upsertOne(
      @Ctx() context: RequestContext,
      @Arg('data', () => createInput, { description: 'The fields, including those of the key.' })
      data: InputValues,
      @Arg('by', () => keys, { defaultValue: '_id', description: 'The key of the records.' }) by: string,
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
      return {
        ...toRequest(condition),
        allowAll: condition.allowAll ?? false,
        shown: this.#shown(context, info),
      };
    }

    /** Checked before the write: an answer that would be refused must not leave a change behind. */
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
      assertMembersReadable(form.members(nodes, info), collection.name, {
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

/** The arguments that select the records to change. */
function conditionArguments(where: TypeClass, sortKey: TypeClass): Readonly<Record<string, Argument>> {
  return {
    where: {
      type: where,
      nullable: true,
      description: 'Which records: conditions on the fields, all of which hold.',
    },
    oquery: {
      type: String,
      nullable: true,
      description:
        'Which records: a filter as in the REST interface, by stored field names. Holds together ' +
        'with `where`.',
    },
    ci: CI_ARGUMENT,
    orderBy: {
      type: [sortKey],
      nullable: true,
      description: 'The order in which records are selected; by id if left out.',
    },
    limit: {
      type: Int,
      nullable: true,
      description:
        'The most records to change, the first in the order. Left out: all, rejected if there' +
        ' are too many.',
    },
    allowAll: {
      type: Boolean,
      nullable: true,
      description: 'Selects every record. Without it, a condition is required.',
    },
  };
}

/** The arguments of `updateTasks`; null counts as not sent. */
interface BulkChanges {
  readonly set?: InputValues | null | undefined;
  readonly increment?: InputValues | null | undefined;
  readonly multiply?: InputValues | null | undefined;
  readonly min?: InputValues | null | undefined;
  readonly max?: InputValues | null | undefined;
  readonly push?: InputValues | null | undefined;
  readonly addToSet?: InputValues | null | undefined;
  readonly pull?: InputValues | null | undefined;
}

/** Converts the inputs of a typed bulk update to operations of the store, by stored names. */
function toTypedOperations(changes: BulkChanges, object: TypedObject): readonly UpdateOperation[] {
  const leaves = (values: InputValues | null | undefined) => (values ? leavesOf(values, object) : []);
  return [
    ...(changes.set ? setOperations(changes.set, object) : []),
    ...leaves(changes.increment).map(({ path, value }) => arithmetic('increment', path, value)),
    ...leaves(changes.multiply).map(({ path, value }) => arithmetic('multiply', path, value)),
    ...leaves(changes.min).map(({ path, value }): UpdateOperation => ({ kind: 'min', path, value })),
    ...leaves(changes.max).map(({ path, value }): UpdateOperation => ({ kind: 'max', path, value })),
    ...leaves(changes.push).map(
      ({ path, value }): UpdateOperation => ({
        kind: 'push',
        path,
        values: toList(value),
      }),
    ),
    ...leaves(changes.addToSet).map(
      ({ path, value }): UpdateOperation => ({
        kind: 'addToSet',
        path,
        values: toList(value),
      }),
    ),
    ...leaves(changes.pull).map(
      ({ path, value }): UpdateOperation => ({
        kind: 'pull',
        path,
        matches: toList(value),
      }),
    ),
  ];
}

/** Replaces whole fields, objects too; null removes one. */
function setOperations(values: InputValues, object: TypedObject): readonly UpdateOperation[] {
  return object.fields.flatMap(({ name, field, value }): UpdateOperation[] => {
    const sent = values[name];
    if (sent === undefined) return [];
    const path = [field.name];
    return [
      sent === null ? { kind: 'unset', path } : { kind: 'set', path, value: toStoredInput(sent, value) },
    ];
  });
}

interface Leaf {
  readonly path: Path;
  readonly value: JsonValue;
}

/** The values, with their paths through objects. */
function leavesOf(values: InputValues, object: TypedObject, base: Path = []): readonly Leaf[] {
  return object.fields.flatMap(({ name, field, value }): readonly Leaf[] => {
    const sent = values[name];
    if (sent === undefined || sent === null) return [];
    const path = [...base, field.name];
    if (value.kind === 'object' && !field.isList && isInput(sent)) return leavesOf(sent, value.object, path);
    return [{ path, value: toStoredInput(sent, value) }];
  });
}

function arithmetic(kind: 'increment' | 'multiply', path: Path, value: JsonValue): UpdateOperation {
  if (typeof value === 'number' || isExactNumber(value)) return { kind, path, by: value };
  throw new Error('the schema lets numbers through alone');
}

function toList(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value];
}

function isInput(sent: unknown): sent is InputValues {
  return typeof sent === 'object' && sent !== null;
}
