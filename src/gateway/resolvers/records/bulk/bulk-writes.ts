/**
 * The door to bulk writes. The generic and the typed fields of GraphQL call these methods; each call is one
 * transaction.
 */

import { ServiceError } from '../../../../base/errors.js';
import type { JsonObject, JsonValue } from '../../../../base/json/json.js';
import type { Filter } from '../../../../base/model/filter.js';
import { queryOf } from '../../../../base/model/record-query.js';
import type { Scope } from '../../../../base/model/scope.js';
import type { UpdateOperation } from '../../../../base/model/update-operation.js';
import { accessOf, readershipOf } from '../../../../store/access/access.js';
import type { Catalog } from '../../../../store/catalog/catalog.js';
import type { RecordStore } from '../../../../store/record-store.js';
import type { WriteOptions } from '../../../../store/writing/record-writes.js';
import { type RequestContext, requireScope } from '../../request-context.js';
import { type RecordsRequest, type SentRecordChange, toFilter } from '../record-resolver.js';
import { type KeptRecord, keepRecord, type OnceWrite, recallRecord, writeOnce } from '../write-once.js';
import type { RecordBatch } from './record-batch.js';

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
  readonly shown: number;
}

export interface BulkServices {
  readonly store: RecordStore;
  readonly catalog: Catalog;
}

export class BulkWrites {
  readonly #store: RecordStore;
  readonly #catalog: Catalog;

  constructor(services: BulkServices) {
    this.#store = services.store;
    this.#catalog = services.catalog;
  }

  /** @see RecordStore.create */
  async create(context: RequestContext, { collection, records, shown }: SentRecords): Promise<RecordBatch> {
    return await this.#write(
      context,
      { collection, key: ['createMany', collection, records, shown] },
      async (scope, options) => {
        const made = await this.#store.create(scope, collection, records, { ...options, shown });
        return { count: records.length, created: records.length, matched: 0, records: made };
      },
    );
  }

  /** @see RecordStore.updateMatching */
  async update(
    context: RequestContext,
    request: Matching & { readonly update: readonly UpdateOperation[] },
  ): Promise<RecordBatch> {
    const { collection, sort, limit, allowAll, shown, update } = request;
    const filter = this.#toFilter(requireScope(context), request, 'update');
    const key = ['updateMany', collection, filter, sort, limit, allowAll, shown, update];
    const rows = this.#rowsOf(request, filter);
    return await this.#write(context, { collection, key, rows }, async (scope, options) => {
      const returning = shown > 0 ? 'after' : 'none';
      const matching = { filter, sort, limit, allowAll, update, returning } as const;
      const done = await this.#store.updateMatching(scope, collection, matching, options);
      const { modified, matched, records = [] } = done;
      return { count: modified, created: 0, matched, records: records.slice(0, shown) };
    });
  }

  /** @see RecordStore.deleteMatching */
  async delete(
    context: RequestContext,
    request: Matching & { readonly force?: boolean | undefined },
  ): Promise<RecordBatch> {
    const { collection, sort, limit, allowAll, shown, force = false } = request;
    const filter = this.#toFilter(requireScope(context), request, 'delete');
    const key = ['deleteMany', collection, filter, sort, limit, allowAll, shown, ...(force ? ['force'] : [])];
    const rows = this.#rowsOf(request, filter);
    return await this.#write(context, { collection, key, rows }, async (scope, options) => {
      const returning = shown > 0 ? 'before' : 'none';
      const matching = { filter, sort, limit, allowAll, returning, force } as const;
      const { deleted, records = [] } = await this.#store.deleteMatching(
        scope,
        collection,
        matching,
        options,
      );
      return { count: deleted, created: 0, matched: deleted, records: records.slice(0, shown) };
    });
  }

  /** @see RecordStore.upsert */
  async upsert(
    context: RequestContext,
    request: SentRecords & { readonly by: string },
  ): Promise<RecordBatch> {
    const { collection, records: sent, by, shown } = request;
    return await this.#write(
      context,
      { collection, key: ['upsertMany', collection, sent, by, shown] },
      async (scope, options) => {
        const done = await this.#store.upsert(scope, collection, { records: sent, by }, options);
        const { created, updated, records } = done;
        return {
          count: created + updated,
          created,
          matched: records.length - created,
          records: records.slice(0, shown),
        };
      },
    );
  }

  /**
   * Replaces a record, or creates it under its id; or does only one of the two.
   *
   * @throws VERSION_CONFLICT for a new record that is there; as `RecordStore.update` and `create`
   */
  async put(
    context: RequestContext,
    sent: Omit<SentRecordChange, 'mode'> & { readonly only: 'new' | 'existing' | undefined },
  ): Promise<RecordBatch> {
    const { collection, id, data, only, ...guards } = sent;
    const key = ['put', collection, id, data, only, guards.ifVersion, guards.renameEverywhere];
    return await this.#write(context, { collection, key }, async (scope, options) => {
      if (only !== 'new') {
        const change = { data, mode: 'replace', ...guards, ...options } as const;
        const record = await this.#store.update(scope, collection, id, change).catch((error) => {
          if (codeOf(error) !== 'NOT_FOUND' || only === 'existing') throw error;
        });
        if (record !== undefined) return { count: 1, created: 0, matched: 1, records: [record] };
      }
      const made = this.#store.create(scope, collection, [{ ...data, _id: id }], options);
      const records = await made.catch((error) => {
        const isThere = codeOf(error) === 'CONFLICT' && String(error.errors?.[0]?.pointer).endsWith('/_id');
        if (!(only === 'new' && isThere)) throw error;
        throw new ServiceError('VERSION_CONFLICT', `There is a record "${id}" of ${collection} already.`);
      });
      return { count: 1, created: 1, matched: 0, records };
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

  #toFilter(scope: Scope, request: Matching, verb: 'update' | 'delete'): Filter {
    const collection = this.#catalog.get(request.collection, scope);
    accessOf(scope, collection, 'read');
    accessOf(scope, collection, verb);
    const findCollection = (name: string) => this.#catalog.find(name);
    return toFilter(request, collection, { findCollection, readership: readershipOf(scope) });
  }

  #rowsOf({ collection, sort, limit }: Matching, filter: Filter): (scope: Scope) => number {
    const query = { ...queryOf(collection), filter, sort: sort ?? [] };
    return (scope) => this.#store.scannedRows(scope, query, limit === undefined ? 'all' : 'page');
  }

  async #write(
    context: RequestContext,
    {
      collection,
      key,
      rows,
    }: Pick<OnceWrite<RecordBatch, KeptBatch>, 'rows'> & {
      readonly collection: string;
      readonly key: readonly unknown[];
    },
    run: (scope: Scope, options: WriteOptions) => Promise<RecordBatch>,
  ): Promise<RecordBatch> {
    return await writeOnce<RecordBatch, KeptBatch>(this.#store, context, {
      writes: [collection],
      request: () => JSON.stringify(key),
      rows,
      run,
      keep: ({ records, ...counts }) => ({ ...counts, records: records.map(keepRecord) }),
      recall: ({ records, ...counts }) => ({ ...counts, records: records.map(recallRecord) }),
    });
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ServiceError ? error.code : undefined;
}

type KeptBatch = {
  readonly count: number;
  readonly created: number;
  readonly matched: number;
  readonly records: readonly KeptRecord[];
};
