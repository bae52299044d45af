/**
 * The door to the records of any collection. The fields of GraphQL (graphql/typed/record-fields.ts) and the
 * generic paths of REST call these methods; there is no other way to the store. Every writing method honours
 * the request's `Idempotency-Key`, and is one transaction.
 */

import type { GraphQLResolveInfo } from 'graphql';
import { invalidAt, ServiceError } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import { parseOquery } from '../../../base/languages/oquery.js';
import type { FindCollection, Readership, WhereNames } from '../../../base/languages/where.js';
import { parseWhere } from '../../../base/languages/where.js';
import type { Collection } from '../../../base/model/collection.js';
import { allOf, type Filter } from '../../../base/model/filter.js';
import type { Path } from '../../../base/model/path.js';
import { queryOf, type RecordQuery, type SortKey } from '../../../base/model/record-query.js';
import type { RecordVerb, Scope } from '../../../base/model/scope.js';
import type { UpdateOperation } from '../../../base/model/update-operation.js';
import { accessOf, readershipOf } from '../../../store/access/access.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { parseSince } from '../../../store/reading/changed-since.js';
import type { RecordSet } from '../../../store/reading/record-set.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { WriteOptions } from '../../../store/writing/atomically.js';
import type { ConditionalWriteOptions } from '../../../store/writing/record-writes.js';
import { type RequestContext, requireScope } from '../request-context.js';
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

/** The records to change. */
export interface Matching
  extends Pick<
    RecordsRequest,
    'collection' | 'oquery' | 'isInsensitive' | 'where' | 'names' | 'sort' | 'limit'
  > {
  /** Allows a write without a condition, to every record of the collection. */
  readonly allowAll: boolean;
  /** How many of the records are returned. */
  readonly shown: number;
}

export interface SentRecords {
  readonly collection: string;
  readonly records: readonly JsonObject[];
  /** How many of the records are returned. */
  readonly shown: number;
}

/** The result of a write. */
export interface RecordBatch {
  /** Records created, changed or removed. */
  readonly count: number;
  /** How many of them are new. */
  readonly created: number;
  /** The existing records that matched. */
  readonly matched: number;
  /** The first records, as many as requested: in their new state, removed ones in their last. */
  readonly records: readonly StoredRecord[];
}

/** Says which records a field goes through, so that its operation can cost them before it runs. */
export function scanningField<Args>(toRequest: (args: Args) => RecordsRequest): ScanningField<Args> {
  return { scanned: toRequest };
}

export interface ScanningField<Args> {
  readonly scanned: (args: Args) => RecordsRequest;
}

export class RecordResolver {
  readonly #store: RecordStore;
  readonly #catalog: Catalog;
  readonly #keepRemovedDays: number;

  constructor(services: {
    readonly store: RecordStore;
    readonly catalog: Catalog;
    readonly keepRemovedDays: number;
  }) {
    this.#store = services.store;
    this.#catalog = services.catalog;
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
    const query = {
      ...queryOf(request.collection),
      filter: this.filterOf(scope, request),
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
   * The condition of a request, for reading or, with a verb, for writing the records that match.
   *
   * @throws MALFORMED_FILTER, FORBIDDEN, NOT_FOUND, GONE
   */
  filterOf(scope: Scope, request: RecordsRequest, verb: RecordVerb = 'read'): Filter {
    const collection = this.#catalog.get(request.collection, scope);
    // Before the filter is parsed, because its errors would disclose the declaration of the collection.
    for (const one of new Set<RecordVerb>(['read', verb])) accessOf(scope, collection, one);
    const findCollection = (name: string) => this.#catalog.find(name);
    return toFilter(request, collection, { findCollection, readership: readershipOf(scope) });
  }

  /**
   * The query of a request, without a check of rights, to estimate its scans. `undefined` if the request is
   * wrong, which its execution will report.
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

  /** Creates a record. */
  async createRecord(
    context: RequestContext,
    request: { readonly collection: string; readonly data: JsonObject },
  ): Promise<StoredRecord> {
    const { collection, data } = request;
    return theOne(await this.createRecords(context, { collection, records: [data], shown: 1 }));
  }

  /** Creates all of the records or none. @see RecordStore.create */
  async createRecords(context: RequestContext, sent: SentRecords): Promise<RecordBatch> {
    const { collection, records, shown } = sent;
    const key = ['create', collection, records, shown];
    return await this.#write(context, { collection, key }, async (scope, options) => {
      const made = await this.#store.create(scope, collection, records, { ...options, shown });
      return { count: records.length, created: records.length, matched: 0, records: made };
    });
  }

  /**
   * Changes a record. @throws NOT_FOUND, GONE, INVALID_VALUE; VERSION_CONFLICT if its version is not
   * `ifVersion`
   */
  async updateRecord(context: RequestContext, change: SentRecordChange): Promise<StoredRecord> {
    const { collection, id, ...sent } = change;
    const key = ['update', collection, id, ...keyOf(sent)];
    const run = async (scope: Scope, options: WriteOptions) =>
      changed(await this.#store.update(scope, collection, id, { ...sent, ...options }));
    return theOne(await this.#write(context, { collection, key }, run));
  }

  /** Removes a record and returns its last state. It leaves a tombstone: reading its id is then GONE. */
  async deleteRecord(context: RequestContext, removal: RecordRemoval): Promise<StoredRecord> {
    const { collection, id, ...sent } = removal;
    const key = ['delete', collection, id, ...keyOf(sent)];
    const run = async (scope: Scope, options: WriteOptions) =>
      changed(await this.#store.delete(scope, collection, id, { ...sent, ...options }));
    return theOne(await this.#write(context, { collection, key }, run));
  }

  /**
   * Replaces a record, or creates it under its id; or does only one of the two.
   *
   * @throws VERSION_CONFLICT if a record to create exists, or one to replace does not; as `updateRecord` and
   *   `createRecord`
   */
  async putRecord(
    context: RequestContext,
    put: Omit<SentRecordChange, 'mode'> & { readonly only: 'new' | 'existing' | undefined },
  ): Promise<RecordBatch> {
    const { collection, id, only, ...sent } = put;
    const key = ['put', collection, id, only ?? null, ...keyOf(sent)];
    return await this.#write(context, { collection, key }, async (scope, options) => {
      if (only !== 'new') {
        const change = { mode: 'replace', ...sent, ...options } as const;
        const record = await this.#store.update(scope, collection, id, change).catch((error) => {
          if (codeOf(error) !== 'NOT_FOUND') throw error;
          if (only === undefined) return;
          this.assertAllowed(context, collection, 'update');
          throw new ServiceError(
            'VERSION_CONFLICT',
            `There is no record "${id}" of ${collection} to replace.`,
          );
        });
        if (record !== undefined) return changed(record);
      }
      const made = this.#store.create(scope, collection, [{ ...sent.data, _id: id }], options);
      const records = await made.catch((error) => {
        const isThere = codeOf(error) === 'CONFLICT' && String(error.errors?.[0]?.pointer).endsWith('/_id');
        if (!(only === 'new' && isThere)) throw error;
        throw new ServiceError('VERSION_CONFLICT', `There is a record "${id}" of ${collection} already.`);
      });
      return { count: 1, created: 1, matched: 0, records };
    });
  }

  /** @see RecordStore.updateMatching */
  async updateRecords(
    context: RequestContext,
    request: Matching & { readonly update: readonly UpdateOperation[] },
  ): Promise<RecordBatch> {
    const { collection, update, shown } = request;
    return await this.#writeMatching(context, request, 'update', async (scope, matching, options) => {
      const returning = shown > 0 ? 'after' : 'none';
      const write = { ...matching, update, returning } as const;
      const done = await this.#store.updateMatching(scope, collection, write, options);
      return { count: done.modified, created: 0, matched: done.matched, records: done.records ?? [] };
    });
  }

  /** @see RecordStore.deleteMatching */
  async deleteRecords(
    context: RequestContext,
    request: Matching & { readonly force?: boolean | undefined },
  ): Promise<RecordBatch> {
    const { collection, shown, force = false } = request;
    return await this.#writeMatching(context, request, 'delete', async (scope, matching, options) => {
      const returning = shown > 0 ? 'before' : 'none';
      const write = { ...matching, returning, force } as const;
      const { deleted, records = [] } = await this.#store.deleteMatching(scope, collection, write, options);
      return { count: deleted, created: 0, matched: deleted, records };
    });
  }

  /** @see RecordStore.upsert */
  async upsertRecords(
    context: RequestContext,
    request: SentRecords & { readonly by: string },
  ): Promise<RecordBatch> {
    const { collection, records: sent, by, shown } = request;
    const key = ['upsertMany', collection, sent, by, shown];
    return await this.#write(context, { collection, key }, async (scope, options) => {
      const done = await this.#store.upsert(scope, collection, { records: sent, by }, options);
      const { created, updated, records } = done;
      const matched = records.length - created;
      return { count: created + updated, created, matched, records: records.slice(0, shown) };
    });
  }

  /** Runs several writes as one, and once per key. `work` gets the context of each of them. */
  async batch(
    context: RequestContext,
    request: JsonValue,
    work: (context: RequestContext) => Promise<string[]>,
  ): Promise<readonly string[]> {
    return await this.#store.transaction(requireScope(context), (transaction) =>
      writeOnce<string[], string[]>(
        this.#store,
        { ...context, transaction },
        {
          writes: 'anything',
          request: () => ['batch', request],
          run: () => work({ ...context, transaction, idempotencyKey: undefined }),
          keep: (answers) => answers,
          recall: (answers) => answers,
        },
      ),
    );
  }

  async #writeMatching(
    context: RequestContext,
    request: Matching & { readonly update?: unknown; readonly force?: unknown },
    verb: 'update' | 'delete',
    run: (
      scope: Scope,
      matching: Pick<Matching, 'sort' | 'limit' | 'allowAll'> & { readonly filter: Filter },
      options: WriteOptions,
    ) => Promise<RecordBatch>,
  ): Promise<RecordBatch> {
    const { collection, sort, limit, allowAll, shown, update, force } = request;
    const filter = this.filterOf(requireScope(context), request, verb);
    const key = [
      `${verb}Many`,
      collection,
      filter,
      sort,
      limit,
      allowAll,
      shown,
      ...keyOf({ update, force }),
    ];
    const query = { ...queryOf(collection), filter, sort: sort ?? [] };
    const rows = (scope: Scope) =>
      this.#store.scannedRows(scope, query, limit === undefined ? 'all' : 'page');
    return await this.#write(context, { collection, key, rows }, async (scope, options) => {
      const batch = await run(scope, { filter, sort, limit, allowAll }, options);
      return { ...batch, records: batch.records.slice(0, shown) };
    });
  }

  async #write(
    context: RequestContext,
    write: {
      readonly collection: string;
      /** Identifies the request. */
      readonly key: readonly unknown[];
      /** How many records it goes through to find those it writes. Default: few. */
      readonly rows?: (scope: Scope) => number;
    },
    run: (scope: Scope, options: WriteOptions) => Promise<RecordBatch>,
  ): Promise<RecordBatch> {
    return await writeOnce(this.#store, context, {
      writes: [write.collection],
      request: () => JSON.stringify(write.key),
      rows: write.rows,
      run,
      keep: ({ records, ...counts }) => ({ ...counts, records: records.map(keepRecord) }),
      recall: ({ records, ...counts }) => ({ ...counts, records: records.map(recallRecord) }),
    });
  }
}

/** The members that were sent, for the key of a request. */
function keyOf(sent: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.entries(sent).filter(([, value]) => value !== undefined && value !== false);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ServiceError ? error.code : undefined;
}

function changed(record: StoredRecord): RecordBatch {
  return { count: 1, created: 0, matched: 1, records: [record] };
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
export function toObject(value: unknown, parameter: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalidAt(`${parameter} is a JSON object of fields.`, {
    parameter,
    detail: 'not an object',
    expected: 'a JSON object',
    sent: value as JsonValue,
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
  return allOf(filters);
}

export function theOne({ records: [record] }: RecordBatch): StoredRecord {
  if (!record) throw new Error('a write gave no record');
  return record;
}
