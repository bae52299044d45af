/**
 * The door to the records of any collection. GraphQL calls these methods for its generic and its typed fields,
 * REST for its generic paths; neither has another way to the store.
 */
import type { Filter, Path } from '../filter/filter.js';
import { parseOquery } from '../filter/oquery.js';
import { parseWhere } from '../filter/where.js';
import { type JsonObject, type JsonValue, printExactJson } from '../json.js';
import type { Catalog } from '../store/catalog.js';
import type { Collection } from '../store/collection.js';
import type { Transaction } from '../store/database/database.js';
import { queryOf, type SortKey } from '../store/record-query.js';
import type { RecordSet } from '../store/record-set.js';
import type { RecordStore, StoredRecord } from '../store/record-store.js';
import { type RequestContext, requireScope } from './request-context.js';

/** What is asked of a collection. `oquery`, `where` and `filter` apply together. */
export interface RecordsRequest {
  readonly collection: string;
  readonly oquery?: string | undefined;
  /** The text operators of `oquery` ignore case. */
  readonly isInsensitive?: boolean | undefined;
  /** A structured condition with the stored field names. @see filter/where.ts */
  readonly where?: unknown;
  /** A condition that is parsed already, e.g. from the documented extra parameters of a path. */
  readonly filter?: Filter | undefined;
  /** `undefined`: the whole record. */
  readonly projection?: readonly Path[] | undefined;
  readonly sort?: readonly SortKey[] | undefined;
  /** `undefined`: to the end. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** The last `limit` records instead of the first. */
  readonly fromEnd?: boolean | undefined;
}

export interface RecordChange {
  readonly collection: string;
  readonly id: string;
  readonly data: JsonObject;
  /** `merge` leaves the fields that are not sent as they are; `replace` removes them. */
  readonly mode: 'merge' | 'replace';
  readonly ifVersion?: number | undefined;
}

export interface RecordRemoval {
  readonly collection: string;
  readonly id: string;
  readonly ifVersion?: number | undefined;
}

export class RecordResolver {
  readonly #store: RecordStore;
  readonly #catalog: Catalog;

  constructor(services: { readonly store: RecordStore; readonly catalog: Catalog }) {
    this.#store = services.store;
    this.#catalog = services.catalog;
  }

  /** The records asked for; nothing is read until the set is. @throws MALFORMED_FILTER, FORBIDDEN, NOT_FOUND, GONE at once */
  records(context: RequestContext, request: RecordsRequest): RecordSet {
    const scope = requireScope(context);
    const collection = this.#catalog.get(request.collection);
    return this.#store.find(scope, {
      ...queryOf(collection.name),
      filter: toFilter(request, collection),
      sort: request.sort ?? [],
      projection: request.projection,
      limit: request.limit,
      skip: request.skip ?? 0,
      after: request.after,
      before: request.before,
      fromEnd: request.fromEnd ?? false,
    });
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
    return await this.#store.get(requireScope(context), request.collection, request.id, request.projection);
  }

  /** Stores one record. The request's `Idempotency-Key` is honoured, here as by every method that writes. */
  async createRecord(
    context: RequestContext,
    request: { readonly collection: string; readonly data: JsonObject },
  ): Promise<StoredRecord> {
    const { collection, data } = request;
    return theOne(await this.createRecords(context, { collection, data: [data] }));
  }

  /** Stores all of the records or none. */
  async createRecords(
    context: RequestContext,
    request: { readonly collection: string; readonly data: readonly JsonObject[] },
  ): Promise<readonly StoredRecord[]> {
    const { collection, data } = request;
    return await this.#once(context, ['create', collection, data], (scope, within) =>
      this.#store.create(scope, collection, data, within),
    );
  }

  /** Changes one record. @throws NOT_FOUND, GONE, INVALID_VALUE; VERSION_CONFLICT when it has another version than `ifVersion` */
  async updateRecord(context: RequestContext, change: RecordChange): Promise<StoredRecord> {
    const { collection, id, data, mode, ifVersion } = change;
    const condition = ifVersion === undefined ? {} : { ifVersion };
    return theOne(
      await this.#once(
        context,
        ['update', collection, id, data, mode, ifVersion ?? null],
        async (scope, within) => [
          await this.#store.update(scope, collection, id, { data, mode, ...condition, ...within }),
        ],
      ),
    );
  }

  /** Removes one record and gives it as it was. It leaves a tombstone: read again by its id, it is GONE. */
  async deleteRecord(context: RequestContext, removal: RecordRemoval): Promise<StoredRecord> {
    const { collection, id, ifVersion } = removal;
    const condition = ifVersion === undefined ? {} : { ifVersion };
    return theOne(
      await this.#once(context, ['delete', collection, id, ifVersion ?? null], async (scope, within) => [
        await this.#store.delete(scope, collection, id, { ...condition, ...within }),
      ]),
    );
  }

  /** Runs a write once per `Idempotency-Key`: sent again, it gives the first answer. Without a key it simply runs. */
  async #once(
    context: RequestContext,
    request: JsonValue,
    write: (
      scope: ReturnType<typeof requireScope>,
      within: { readonly within?: Transaction },
    ) => Promise<readonly StoredRecord[]>,
  ): Promise<readonly StoredRecord[]> {
    const scope = requireScope(context);
    if (context.idempotencyKey === undefined) return await write(scope, {});
    const kept = await this.#store.idempotently(
      scope,
      context.idempotencyKey,
      printExactJson(request),
      async (within) => (await write(scope, within === undefined ? {} : { within })).map(toKept),
    );
    return kept.map(fromKept);
  }
}

function toFilter(request: RecordsRequest, collection: Collection): Filter {
  const filters: Filter[] = [];
  if (request.oquery !== undefined && request.oquery !== '') {
    filters.push(parseOquery(request.oquery, { isInsensitive: request.isInsensitive ?? false }));
  }
  if (request.where !== undefined && request.where !== null) {
    filters.push(parseWhere(request.where, { collection }));
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

/** A stored record as the answer kept for an idempotency key. */
type KeptRecord = {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly json: string;
};

function toKept(record: StoredRecord): KeptRecord {
  return {
    id: record.id,
    version: record.version,
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
    json: record.json,
  };
}

function fromKept(kept: KeptRecord): StoredRecord {
  return { ...kept, createdAt: new Date(kept.createdAt), updatedAt: new Date(kept.updatedAt) };
}
