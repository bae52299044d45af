/**
 * The operations on records, each written once. This table gives the fields for any collection (`records`,
 * `createRecord`) and those of each declared one (`tasks`, `createTask`).
 */

import type { FieldNode } from 'graphql';
import type { JsonObject } from '../../../base/json/json.js';
import type { WhereNames } from '../../../base/languages/where.js';
import { toPath } from '../../../base/model/path.js';
import type { RecordVerb } from '../../../base/model/scope.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import {
  type Argument,
  member,
  nullable,
  objectType,
  type TypeClass,
} from '../../../base/scalars/declared-type.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { assertMembersReadable } from '../../../store/reading/record-set-statements.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import { listShapePaths, type Member } from '../../../store/sql/shape.js';
import {
  FORCE_ARGUMENT,
  PAGE_ARGUMENTS,
  type PageArguments,
  type PageSizes,
  RENAME_ARGUMENT,
  toPageRequest,
  toSort,
} from '../../resolvers/page-arguments.js';
import { type OrderByInput, UpdateMode } from '../../resolvers/records/generic-record.js';
import {
  type RecordForm,
  type SelectedPage,
  selectedRecords,
  shownCount,
  toPageShape,
} from '../../resolvers/records/page-shape.js';
import { PRINTABLE_FIELD, type Print } from '../../resolvers/records/printable.js';
import {
  perField,
  type RecordBatch,
  type RecordResolver,
  type RecordsRequest,
  scanningField,
  theOne,
} from '../../resolvers/records/record-resolver.js';
import { type SelectionInfo, SelectionMemory } from '../../resolvers/records/selection.js';
import { TRANSACTIONAL_FIELD } from '../../resolvers/records/transactional.js';
import { toUpdateOperations, type UpdateArguments } from '../../resolvers/records/update-arguments.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import type { ArgumentTable, FieldCall, RunTimeField } from '../../resolvers/run-time-types.js';
import type { NeededRight } from '../../resolvers/services/caller-reach.js';
import { ChangeOperation, type ChangeShape, toChangeShape } from '../live/change-shape.js';
import { neverExecuted, type SubscribeData } from '../live/live-context.js';

export interface RecordServices {
  readonly records: RecordResolver;
  readonly catalog: Catalog;
  readonly pages: PageSizes;
}

/** The differences between the fields for any collection and those of a declared one. */
export interface RecordApi {
  readonly names: {
    /** The root fields `record`, `tasks`, and those of mutations after their verb: `Record`, `Tasks`. */
    readonly one: string;
    readonly many: string;
    readonly One: string;
    readonly Many: string;
    /** The name of a record in descriptions, e.g. `Task`. */
    readonly noun: string;
  };
  readonly texts: Readonly<
    Record<
      | ('one' | 'many' | 'create' | 'createMany' | 'update' | 'delete' | 'updateMany' | 'deleteMany')
      | ('upsert' | 'upsertMany' | 'changed'),
      string
    >
  >;
  readonly types: Readonly<Record<'record' | 'connection' | 'batch' | 'change', TypeClass>>;
  readonly arguments: {
    /** The argument with the collection, if callers choose it. */
    readonly collection: ArgumentTable;
    readonly project: ArgumentTable;
    /** Which records are returned, changed, or followed. */
    readonly many: ArgumentTable;
    readonly matching: ArgumentTable;
    readonly changed: ArgumentTable;
    readonly create: Argument;
    readonly update: Argument;
    readonly changes: ArgumentTable;
    readonly upsert: ArgumentTable;
    readonly upsertMany: ArgumentTable;
  };
  /** `undefined`: the arguments name it. */
  readonly collection: string | undefined;
  /** The names of fields in `where`. Default: the stored ones. */
  readonly whereNames?: WhereNames;
  readonly formOf: (collection: string) => RecordForm<object>;
  /** Converts the fields that were sent to those that are stored. `parameter` is the place in an error. */
  readonly toStored: (data: unknown, parameter: string) => JsonObject;
  readonly toChanges: (args: UpdateArguments) => UpdateArguments;
}

interface Named {
  readonly collection?: string;
}

/** The arguments that select records. */
export interface SelectingArguments extends Named {
  readonly where?: unknown;
  readonly oquery?: string | null;
  readonly ci?: boolean | null;
  readonly orderBy?: readonly OrderByInput[] | null;
  readonly limit?: number | null;
}

interface ReadArguments extends Named {
  readonly project?: readonly string[] | null;
}

interface MatchingArguments extends SelectingArguments {
  readonly allowAll?: boolean | null;
}

interface OneArguments extends Named {
  readonly id: string;
  readonly ifVersion?: number | null;
}

interface Forced {
  readonly force?: boolean | null;
}

interface UpdateOneArguments extends OneArguments {
  readonly data: unknown;
  readonly mode: UpdateMode;
  readonly renameEverywhere?: boolean | null;
}

interface UpsertArguments extends Named {
  /** One of the two. */
  readonly data?: readonly unknown[];
  readonly records?: readonly unknown[];
  readonly by: string;
}

/** The result of a write of many, for the resolver of its records. */
interface BatchSource extends RecordBatch {
  readonly form: RecordForm<object>;
}

/** The records that the arguments of a field select. */
export function toRequest(
  { where, oquery, ci, orderBy, limit, collection = '' }: SelectingArguments,
  api: Pick<RecordApi, 'collection' | 'whereNames'>,
): RecordsRequest {
  return {
    collection: api.collection ?? collection,
    oquery: oquery ?? undefined,
    isInsensitive: ci ?? undefined,
    where: where ?? undefined,
    names: api.whereNames,
    sort: toSort(orderBy),
    limit: limit ?? undefined,
  };
}

/** The result of a write of many. */
export function createBatchType(typeName: string, plural: string): TypeClass {
  return objectType(`${typeName}Batch`, `What a write of many ${plural} did.`, {
    count: member.whole('Records created, changed or removed.'),
    created: member.whole('The number of new records among them.'),
    matched: member.whole(
      'Records that were there and matched, also those that the change left as they were.',
    ),
  });
}

/** The fields, by what they do. `shown` belongs to the type of a batch. */
export function createRecordFields(api: RecordApi, { records, catalog, pages }: RecordServices) {
  const { names, texts, types, arguments: tables } = api;
  const id = member.id(`The id of the ${names.noun}.`);
  const ifVersion = (verb: string) => nullable.whole(`${verb} it only if it still has this version.`);
  const pageShapes = new SelectionMemory<SelectedPage>();
  const recordShapes = new SelectionMemory<readonly Member[]>();
  const changeShapes = new SelectionMemory<Map<string, ChangeShape>>();
  const requestOf = (args: SelectingArguments) => toRequest(args, api);
  const targetOf = ({ collection = '' }: Named) => {
    const name = api.collection ?? collection;
    return { collection: name, form: api.formOf(name) };
  };
  /** A selection on a collection that the arguments name is not remembered: callers name any number. */
  const recall = <T extends object>(memory: SelectionMemory<T>, info: SelectionInfo, make: () => T): T =>
    api.collection === undefined ? make() : memory.recall(info, make);

  function assertShown(members: readonly Member[], collection: string, context: RequestContext): void {
    assertMembersReadable(members, collection, { scope: requireScope(context), catalog });
  }

  /** The selected members of a record, all of which the caller may read. */
  function membersOf(args: Named, { context, info }: FieldCall): readonly Member[] {
    const { collection, form } = targetOf(args);
    const members = recall(recordShapes, info, () => form.members(info.fieldNodes, info));
    assertShown(members, collection, context);
    return members;
  }

  /** Checked before the write: an answer that would be refused must not leave a change behind. */
  async function written(
    args: Named,
    call: FieldCall,
    write: (context: RequestContext, collection: string) => Promise<StoredRecord>,
  ): Promise<object> {
    membersOf(args, call);
    const { collection, form } = targetOf(args);
    return form.toNode(await write(perField(call.context, call.info), collection));
  }

  /** Does the same for a write of many. */
  async function batch(
    args: Named,
    { context, info }: FieldCall,
    write: (
      context: RequestContext,
      what: { readonly collection: string; readonly shown: number },
    ) => Promise<RecordBatch>,
  ): Promise<BatchSource> {
    const { collection, form } = targetOf(args);
    const { nodes, count: shown } = selectedRecords(types.batch.name, info, pages);
    if (nodes.length > 0) assertShown(form.members(nodes as readonly FieldNode[], info), collection, context);
    return { ...(await write(perField(context, info), { collection, shown })), form };
  }

  const storedList = ({ data, records: sent = data ?? [] }: UpsertArguments) =>
    sent.map((one, index) => api.toStored(one, `data.${index}`));

  return {
    one: {
      kind: 'query',
      name: names.one,
      description: texts.one,
      type: types.record,
      arguments: { ...tables.collection, id, ...tables.project },
      extensions: PRINTABLE_FIELD,
      run: (args: OneArguments & ReadArguments, call: FieldCall): Print => {
        const members = membersOf(args, call);
        const { collection } = targetOf(args);
        const { paths, isWholeRecord } = listShapePaths(members);
        const projection = isWholeRecord ? args.project?.map(toPath) : paths;
        const found = records.records(call.context, { collection, projection, limit: 1 });
        return async () => {
          const printed = await found.printRecord(args.id, members);
          if (printed !== undefined) return printed;
          // Throws if there is none: NOT_FOUND or GONE.
          await records.record(call.context, { collection, projection, id: args.id });
          return 'null';
        };
      },
    },

    many: {
      kind: 'query',
      name: names.many,
      description: texts.many,
      type: types.connection,
      arguments: { ...tables.many, ...PAGE_ARGUMENTS },
      extensions: { ...PRINTABLE_FIELD, ...scanningField(requestOf) },
      run: (
        args: SelectingArguments & ReadArguments & PageArguments,
        { context, info }: FieldCall,
      ): Print => {
        const { collection, form } = targetOf(args);
        const shape = recall(pageShapes, info, () => toPageShape(form, info));
        const { members, paths, isWholeRecord } = shape.reading;
        assertShown(members, collection, context);
        const set = records.records(context, {
          ...requestOf(args),
          projection: isWholeRecord ? args.project?.map(toPath) : paths,
          ...toPageRequest(args, pages),
        });
        return () => set.print(shape);
      },
    },

    create: {
      kind: 'mutation',
      name: `create${names.One}`,
      description: texts.create,
      type: types.record,
      arguments: { ...tables.collection, data: tables.create },
      extensions: TRANSACTIONAL_FIELD,
      run: (args: Named & { readonly data: unknown }, call: FieldCall) =>
        written(args, call, (context, collection) =>
          records.createRecord(context, { collection, data: api.toStored(args.data, 'data') }),
        ),
    },

    update: {
      kind: 'mutation',
      name: `update${names.One}`,
      description: texts.update,
      type: types.record,
      arguments: {
        ...tables.collection,
        id,
        data: tables.update,
        mode: member.of(UpdateMode, 'What happens to the fields that are not sent.', {
          defaultValue: UpdateMode.MERGE,
        }),
        ifVersion: ifVersion('Change'),
        renameEverywhere: RENAME_ARGUMENT,
      },
      extensions: TRANSACTIONAL_FIELD,
      run: (args: UpdateOneArguments, call: FieldCall) =>
        written(args, call, (context, collection) =>
          records.updateRecord(context, {
            collection,
            id: args.id,
            data: api.toStored(args.data, 'data'),
            mode: args.mode,
            ifVersion: args.ifVersion ?? undefined,
            renameEverywhere: args.renameEverywhere ?? undefined,
          }),
        ),
    },

    delete: {
      kind: 'mutation',
      name: `delete${names.One}`,
      description: texts.delete,
      type: types.record,
      arguments: { ...tables.collection, id, ifVersion: ifVersion('Remove'), force: FORCE_ARGUMENT },
      extensions: TRANSACTIONAL_FIELD,
      run: (args: OneArguments & Forced, call: FieldCall) =>
        written(args, call, (context, collection) => {
          const guards = { ifVersion: args.ifVersion ?? undefined, force: args.force ?? undefined };
          return records.deleteRecord(context, { collection, id: args.id, ...guards });
        }),
    },

    createMany: {
      kind: 'mutation',
      name: `create${names.Many}`,
      description: texts.createMany,
      type: types.batch,
      arguments: {
        records: { ...tables.create, type: [tables.create.type], description: 'The fields of each.' },
      },
      extensions: TRANSACTIONAL_FIELD,
      run: (args: UpsertArguments, call: FieldCall) =>
        batch(args, call, (context, what) =>
          records.createRecords(context, { ...what, records: storedList(args) }),
        ),
    },

    updateMany: {
      kind: 'mutation',
      name: `update${names.Many}`,
      description: texts.updateMany,
      type: types.batch,
      arguments: { ...tables.matching, ...tables.changes },
      extensions: { ...TRANSACTIONAL_FIELD, ...scanningField(requestOf) },
      run: (args: MatchingArguments & UpdateArguments, call: FieldCall) =>
        batch(args, call, (context, { shown }) => {
          const matching = { ...requestOf(args), allowAll: args.allowAll ?? false, shown };
          const update = toUpdateOperations(api.toChanges(args));
          return records.updateRecords(context, { ...matching, update });
        }),
    },

    deleteMany: {
      kind: 'mutation',
      name: `delete${names.Many}`,
      description: texts.deleteMany,
      type: types.batch,
      arguments: { ...tables.matching, force: FORCE_ARGUMENT },
      extensions: { ...TRANSACTIONAL_FIELD, ...scanningField(requestOf) },
      run: (args: MatchingArguments & Forced, call: FieldCall) =>
        batch(args, call, (context, { shown }) => {
          const matching = { ...requestOf(args), allowAll: args.allowAll ?? false, shown };
          return records.deleteRecords(context, { ...matching, force: args.force ?? undefined });
        }),
    },

    upsertMany: {
      kind: 'mutation',
      name: `upsert${names.Many}`,
      description: texts.upsertMany,
      type: types.batch,
      arguments: tables.upsertMany,
      extensions: TRANSACTIONAL_FIELD,
      run: (args: UpsertArguments, call: FieldCall) =>
        batch(args, call, (context, what) =>
          records.upsertRecords(context, { ...what, records: storedList(args), by: args.by }),
        ),
    },

    upsert: {
      kind: 'mutation',
      name: `upsert${names.One}`,
      description: texts.upsert,
      type: types.record,
      arguments: tables.upsert,
      extensions: TRANSACTIONAL_FIELD,
      run: (args: Named & { readonly data: unknown; readonly by: string }, call: FieldCall) =>
        written(args, call, async (context, collection) => {
          const sent = [api.toStored(args.data, 'data')];
          return theOne(
            await records.upsertRecords(context, { collection, records: sent, by: args.by, shown: 1 }),
          );
        }),
    },

    shown: {
      kind: 'member',
      name: 'records',
      description: 'The first of the records, as they are now; removed ones as they were.',
      type: [types.record],
      arguments: { first: nullable.whole('The most to return.') },
      run: ({ first }: { readonly first?: number | null }, { source }: FieldCall<BatchSource>) =>
        source.records.slice(0, shownCount(first, pages)).map((one) => source.form.toNode(one)),
    },

    changed: {
      kind: 'subscription',
      name: `${names.one}Changed`,
      description: texts.changed,
      type: types.change,
      arguments: tables.changed,
      run: neverExecuted,
      subscribe: async (live: SubscribeData<SelectingArguments & ChangedArguments>) => {
        const { args, context, info } = live;
        const { caller, recordChanges } = context;
        const scope = requireScope(context);
        const { collection, form } = targetOf(args);
        const filter = records.filterOf(scope, requestOf(args));
        // The same object for the same selection, so that reads are shared.
        const shapes = changeShapes.recall(info, () => new Map());
        const shape = getOrMake(shapes, collection, () => toChangeShape(types.change.name, form, info));
        for (const members of shape.selections) assertShown(members, collection, context);
        const queue = context.openQueue(info);
        try {
          const operations = new Set(args.operations ?? Object.values(ChangeOperation));
          await recordChanges.subscribe(scope, { caller, collection, filter, operations, shape, queue });
          return queue;
        } catch (error) {
          await queue.return();
          throw error;
        }
      },
    },
  } as const satisfies Readonly<Record<string, RunTimeField>>;
}

const READ = ['read'] as const;
const KEYED = ['read', 'create', 'update'] as const;
/** The verbs that a caller needs for the fields; all others read. */
const VERBS_OF_FIELDS: Readonly<Record<string, readonly RecordVerb[]>> = {
  ...{ create: ['create'], createMany: ['create'], update: ['update'], updateMany: ['update'] },
  ...{ delete: ['delete'], deleteMany: ['delete'], upsert: KEYED, upsertMany: KEYED },
};

/** The rights that root fields need, by their names; the keys are those of `createRecordFields`. */
export function neededByFields(
  fields: Readonly<Record<string, Pick<RunTimeField, 'name'>>>,
  collection?: string,
): readonly (readonly [name: string, rights: readonly NeededRight[]])[] {
  return Object.entries(fields).map(([key, { name }]) => {
    const verbs = VERBS_OF_FIELDS[key] ?? READ;
    return [name, [{ verbs, ...(collection !== undefined && { collection }) }]] as const;
  });
}

interface ChangedArguments {
  readonly operations?: readonly ChangeOperation[] | null;
}
