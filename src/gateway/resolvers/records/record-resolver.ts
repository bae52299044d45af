/**
 * The door to the records of any collection. The generic and typed fields of GraphQL and the generic paths of
 * REST call these methods; there is no other way to the store.
 */

import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Extensions, ID, Info, Int, Mutation, Query, Resolver } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import { parseOquery } from '../../../base/languages/oquery.js';
import { parseWhere } from '../../../base/languages/where.js';
import type { FindCollection, Readership, WhereNames } from '../../../base/languages/where-place.js';
import type { Collection } from '../../../base/model/collection.js';
import type { Filter } from '../../../base/model/filter.js';
import { type Path, toPath } from '../../../base/model/path.js';
import { queryOf, type RecordQuery, type SortKey } from '../../../base/model/record-query.js';
import type { RecordVerb, Scope } from '../../../base/model/scope.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { accessOf, readershipOf } from '../../../store/access/access.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { parseSince } from '../../../store/reading/changed-since.js';
import type { RecordSet } from '../../../store/reading/record-set.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { ConditionalWriteOptions, WriteOptions } from '../../../store/writing/record-writes.js';
import { PageArguments, type PageSizes, toPageRequest, toSort } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { genericForm, toGenericRecord } from './generic-form.js';
import { GenericRecord, RecordConnection, RecordsArguments, UpdateMode } from './generic-record.js';
import { LazyRecord, Page } from './lazy-record.js';
import { FORCE_ARGUMENT, RENAME_ARGUMENT } from './oquery-arguments.js';
import { toPageShape } from './page-shape.js';
import { PRINTABLE_FIELD } from './printable.js';
import { TRANSACTIONAL_FIELD } from './transactional.js';
import { keepRecord, recallRecord, writeOnce } from './write-once.js';

/** Which records of a collection are requested. `oquery`, `where` and `filter` apply together. */
export interface RecordsRequest {
  readonly collection: string;
  readonly oquery?: string | undefined;
  /** Whether the text operators of `oquery` ignore case. */
  readonly isInsensitive?: boolean | undefined;
  /** A structured condition. @see languages/where.ts */
  readonly where?: unknown;
  /** The names of the fields in `where`. Default: the stored ones. */
  readonly names?: WhereNames | undefined;
  /** An already parsed condition, e.g. from the additional parameters of a REST path. */
  readonly filter?: Filter | undefined;
  /** `undefined`: the whole record. */
  readonly projection?: readonly Path[] | undefined;
  readonly sort?: readonly SortKey[] | undefined;
  /** `undefined`: no limit. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** Returns the last `limit` records instead of the first. */
  readonly fromEnd?: boolean | undefined;
}

export interface SentRecordChange {
  readonly collection: string;
  readonly id: string;
  readonly data: JsonObject;
  /** `merge` keeps the fields that are not sent; `replace` removes them. */
  readonly mode: 'merge' | 'replace';
  readonly ifVersion?: ConditionalWriteOptions['ifVersion'];
  readonly renameEverywhere?: boolean | undefined;
}

export interface RecordRemoval {
  readonly collection: string;
  readonly id: string;
  readonly ifVersion?: ConditionalWriteOptions['ifVersion'];
  readonly force?: boolean | undefined;
}

/** Says which records a field goes through, so that its operation can cost them before it runs. */
export function scanningField<Args>(toRequest: (args: Args) => RecordsRequest): ScanningField<Args> {
  return { scanned: toRequest };
}

export interface ScanningField<Args> {
  readonly scanned: (args: Args) => RecordsRequest;
}

/** The records that the arguments of a generic field select. */
export function toGenericRequest({
  collection,
  oquery,
  ci,
  where,
  orderBy,
}: Pick<RecordsArguments, 'collection' | 'oquery' | 'ci' | 'where' | 'orderBy'>): RecordsRequest {
  return {
    collection,
    oquery: oquery ?? undefined,
    isInsensitive: ci ?? undefined,
    where: where ?? undefined,
    sort: toSort(orderBy),
  };
}

@Resolver()
export class RecordResolver {
  readonly #store: RecordStore;
  readonly #catalog: Catalog;
  readonly #pages: PageSizes;
  readonly #keepRemovedDays: number;

  constructor(services: {
    readonly store: RecordStore;
    readonly catalog: Catalog;
    readonly pages: PageSizes;
    readonly keepRemovedDays: number;
  }) {
    this.#store = services.store;
    this.#catalog = services.catalog;
    this.#pages = services.pages;
    this.#keepRemovedDays = services.keepRemovedDays;
  }

  /**
   * For a front end that has not read the whole request yet. @throws FORBIDDEN (403), NOT_FOUND (404), GONE
   * (410)
   */
  assertAllowed(context: RequestContext, collection: string, verb: RecordVerb): void {
    this.#store.assertAllowed(requireScope(context), collection, verb);
  }

  /**
   * The requested records; nothing is read until the set is used. @throws MALFORMED_FILTER, FORBIDDEN,
   * NOT_FOUND, GONE at once
   */
  records(context: RequestContext, request: RecordsRequest): RecordSet {
    const scope = requireScope(context);
    const collection = this.#catalog.get(request.collection, scope);
    // Before the filter is parsed, because its errors would disclose the declaration of the collection.
    accessOf(scope, collection, 'read');
    const findCollection = (name: string) => this.#catalog.find(name);
    const names = { findCollection, readership: readershipOf(scope) };
    const query = {
      ...queryOf(collection.name),
      filter: toFilter(request, collection, names),
      sort: request.sort ?? [],
      projection: request.projection,
      limit: request.limit,
      skip: request.skip ?? 0,
      after: request.after,
      before: request.before,
      fromEnd: request.fromEnd ?? false,
    };
    return this.#store.find(scope, query, { within: context.transaction });
  }

  /**
   * The query of a request whose rights are not checked, to estimate what it goes through. `undefined` if the
   * request is wrong, which its execution will report.
   */
  toScannedQuery(request: RecordsRequest): RecordQuery | undefined {
    const collection = this.#catalog.find(request.collection);
    if (collection === undefined) return undefined;
    const findCollection = (name: string) => this.#catalog.find(name);
    try {
      const filter = toFilter(request, collection, { findCollection });
      return { ...queryOf(collection.name), filter, sort: request.sort ?? [] };
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  }

  /** The instant from which changes are requested. @throws INVALID_VALUE */
  parseSince(context: RequestContext, text: string): string {
    const { timeZone } = requireScope(context).domain;
    return parseSince(text, { parameter: 'since', timeZone, keepRemovedDays: this.#keepRemovedDays });
  }

  /** One record by its id. @throws NOT_FOUND, GONE, FORBIDDEN */
  async record(
    context: RequestContext,
    request: {
      readonly collection: string;
      readonly id: string;
      readonly projection?: readonly Path[] | undefined;
    },
  ): Promise<StoredRecord> {
    const { collection, id, projection } = request;
    const options = { within: context.transaction };
    return await this.#store.get(requireScope(context), collection, id, projection, options);
  }

  /** Creates a record. Like every writing method, it honours the request's `Idempotency-Key`. */
  async createRecord(
    context: RequestContext,
    request: { readonly collection: string; readonly data: JsonObject },
  ): Promise<StoredRecord> {
    const { collection, data } = request;
    return theOne(await this.createRecords(context, { collection, data: [data] }));
  }

  /** Creates all of the records or none. */
  async createRecords(
    context: RequestContext,
    request: { readonly collection: string; readonly data: readonly JsonObject[] },
  ): Promise<readonly StoredRecord[]> {
    const { collection, data } = request;
    return await this.#write(context, { collection, key: ['create', collection, data] }, (scope, options) =>
      this.#store.create(scope, collection, data, options),
    );
  }

  /**
   * Changes a record. @throws NOT_FOUND, GONE, INVALID_VALUE; VERSION_CONFLICT if its version is not
   * `ifVersion`
   */
  async updateRecord(context: RequestContext, change: SentRecordChange): Promise<StoredRecord> {
    const { collection, id, data, mode, ifVersion, renameEverywhere } = change;
    const isRename = renameEverywhere ? ['renameEverywhere'] : [];
    return theOne(
      await this.#write(
        context,
        { collection, key: ['update', collection, id, data, mode, ifVersion ?? null, ...isRename] },
        async (scope, options) => [
          await this.#store.update(scope, collection, id, {
            ...{ data, mode, ifVersion, renameEverywhere },
            ...options,
          }),
        ],
      ),
    );
  }

  /** Removes a record and returns its last state. It leaves a tombstone: reading its id is then GONE. */
  async deleteRecord(context: RequestContext, removal: RecordRemoval): Promise<StoredRecord> {
    const { collection, id, ifVersion, force } = removal;
    return theOne(
      await this.#write(
        context,
        { collection, key: ['delete', collection, id, ifVersion ?? null, ...(force ? ['force'] : [])] },
        async (scope, options) => [
          await this.#store.delete(scope, collection, id, { ifVersion, force, ...options }),
        ],
      ),
    );
  }

  @Query(() => RecordConnection, {
    name: 'records',
    description:
      'Records of any collection. A declared collection has a field of its own with real types, e.g. ' +
      '`tasks`.',
  })
  @Extensions({ ...PRINTABLE_FIELD, ...scanningField(toGenericRequest) })
  queryRecords(
    @Ctx() context: RequestContext,
    @Args(() => RecordsArguments) args: RecordsArguments,
    @Args(() => PageArguments) page: PageArguments,
    @Info() info: GraphQLResolveInfo,
  ): Page<GenericRecord> {
    const form = genericForm(args.collection);
    const shape = toPageShape(form, info);
    const set = this.records(context, {
      ...toGenericRequest(args),
      projection: shape.reading.isWholeRecord ? args.project?.map(toPath) : [],
      ...toPageRequest(page, this.#pages),
    });
    return new Page({ set, form, shape });
  }

  @Query(() => GenericRecord, {
    name: 'record',
    description: 'One record of any collection by its id. Errors: NOT_FOUND, GONE when it was removed.',
  })
  @Extensions(PRINTABLE_FIELD)
  queryRecord(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'The collection, e.g. "task".' }) collection: string,
    @Arg('id', () => ID, { description: 'The id of the record.' }) id: string,
    @Arg('project', () => [String], {
      nullable: true,
      description: 'The fields to read into `data`. Left out: all.',
    })
    project: readonly string[] | null | undefined,
    @Info() info: GraphQLResolveInfo,
  ): LazyRecord<GenericRecord> {
    const form = genericForm(collection);
    const projection = project?.map(toPath);
    return new LazyRecord({
      form,
      members: form.members(info.fieldNodes, info),
      id,
      find: () => this.records(context, { collection, projection, limit: 1 }),
      get: () => this.record(context, { collection, id, projection }),
    });
  }

  @Mutation(() => GenericRecord, {
    name: 'createRecord',
    description:
      'Stores a record. The header `Idempotency-Key` makes a repeated request give the first answer.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  async mutateCreate(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'The collection, e.g. "task".' }) collection: string,
    @Arg('data', () => GraphqlJsonScalar, {
      description: 'The fields by their stored names; `_id` to choose the id.',
    })
    data: JsonValue,
    @Info() info: GraphQLResolveInfo,
  ): Promise<GenericRecord> {
    const record = await this.createRecord(perField(context, info), {
      collection,
      data: toObject(data, 'data'),
    });
    return toGenericRecord(record, collection);
  }

  @Mutation(() => [GenericRecord], {
    name: 'createRecords',
    description: 'Stores several records, all or none.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  async mutateCreateMany(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'The collection, e.g. "task".' }) collection: string,
    @Arg('data', () => [GraphqlJsonScalar], {
      description: 'The fields of each record by their stored names.',
    })
    data: readonly JsonValue[],
    @Info() info: GraphQLResolveInfo,
  ): Promise<readonly GenericRecord[]> {
    const records = await this.createRecords(perField(context, info), {
      collection,
      data: data.map((one, index) => toObject(one, `data.${index}`)),
    });
    return records.map((record) => toGenericRecord(record, collection));
  }

  @Mutation(() => GenericRecord, {
    name: 'updateRecord',
    description:
      'Changes a record. Errors: NOT_FOUND, GONE, VERSION_CONFLICT when it is no longer `ifVersion`.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  async mutateUpdate(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'The collection, e.g. "task".' }) collection: string,
    @Arg('id', () => ID, { description: 'The id of the record.' }) id: string,
    @Arg('data', () => GraphqlJsonScalar, { description: 'The fields to change, by their stored names.' })
    data: JsonValue,
    @Arg('mode', () => UpdateMode, {
      defaultValue: UpdateMode.MERGE,
      description: 'What happens to the fields that are not sent.',
    })
    mode: UpdateMode,
    @Info() info: GraphQLResolveInfo,
    @Arg('ifVersion', () => Int, {
      nullable: true,
      description: 'Change it only if it still has this version.',
    })
    ifVersion?: number | null,
    @Arg('renameEverywhere', () => Boolean, RENAME_ARGUMENT) renameEverywhere?: boolean | null,
  ): Promise<GenericRecord> {
    const record = await this.updateRecord(perField(context, info), {
      collection,
      id,
      data: toObject(data, 'data'),
      mode,
      ifVersion: ifVersion ?? undefined,
      renameEverywhere: renameEverywhere ?? undefined,
    });
    return toGenericRecord(record, collection);
  }

  @Mutation(() => GenericRecord, {
    name: 'deleteRecord',
    description:
      'Removes a record and returns its last state. Reading it by its id then fails with ' +
      'GONE, and lists skip it. Errors: CONFLICT with the number of records that point to it.',
  })
  @Extensions(TRANSACTIONAL_FIELD)
  async mutateDelete(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'The collection, e.g. "task".' }) collection: string,
    @Arg('id', () => ID, { description: 'The id of the record.' }) id: string,
    @Info() info: GraphQLResolveInfo,
    @Arg('ifVersion', () => Int, {
      nullable: true,
      description: 'Remove it only if it still has this version.',
    })
    ifVersion?: number | null,
    @Arg('force', () => Boolean, FORCE_ARGUMENT) force?: boolean | null,
  ): Promise<GenericRecord> {
    const record = await this.deleteRecord(perField(context, info), {
      collection,
      id,
      ifVersion: ifVersion ?? undefined,
      force: force ?? undefined,
    });
    return toGenericRecord(record, collection);
  }

  async #write(
    context: RequestContext,
    { collection, key }: { readonly collection: string; readonly key: JsonValue },
    run: (scope: Scope, options: WriteOptions) => Promise<readonly StoredRecord[]>,
  ): Promise<readonly StoredRecord[]> {
    return await writeOnce(this.#store, context, {
      writes: [collection],
      request: () => key,
      run,
      keep: (records) => records.map(keepRecord),
      recall: (kept) => kept.map(recallRecord),
    });
  }
}

/** Derives a key for each field from the request's key, because a document may write twice. */
export function perField(context: RequestContext, info: GraphQLResolveInfo): RequestContext {
  if (context.idempotencyKey === undefined) return context;
  return { ...context, idempotencyKey: `${context.idempotencyKey}/${info.path.key}` };
}

export function byIds(ids: readonly string[]): Filter {
  return { kind: 'in', path: ['_id'], values: ids };
}

/** @throws INVALID_VALUE naming the argument */
export function toObject(value: JsonValue, parameter: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new ServiceError('INVALID_VALUE', `${parameter} is a JSON object of fields.`, {
    errors: [{ parameter, detail: 'not an object', expected: 'a JSON object', sent: value }],
  });
}

/**
 * Combines all conditions of a request. `findCollection` resolves conditions on the targets of references,
 * `readership` limits what errors disclose.
 *
 * @throws MALFORMED_FILTER, INVALID_VALUE, LIMIT_EXCEEDED (400); FORBIDDEN
 */
export function toFilter(
  request: RecordsRequest,
  collection: Collection,
  names: { readonly findCollection: FindCollection; readonly readership?: Readership },
): Filter {
  const filters: Filter[] = [];
  if (request.oquery !== undefined && request.oquery !== '') {
    filters.push(parseOquery(request.oquery, { isInsensitive: request.isInsensitive ?? false }));
  }
  if (request.where !== undefined && request.where !== null) {
    filters.push(parseWhere(request.where, { collection, names: request.names, ...names }));
  }
  if (request.filter) filters.push(request.filter);
  const [only] = filters;
  return filters.length === 1 && only ? only : { kind: 'all', filters };
}

function theOne(records: readonly StoredRecord[]): StoredRecord {
  const [record] = records;
  if (!record) throw new Error('a write gave no record');
  return record;
}
