/**
 * `platform.db`: the records of a collection in MongoDB's language, for a principal. It can do nothing that
 * the principal could not do by GraphQL: reads use `Pipelines` and writes `RecordStore`, which enforce the
 * rights.
 *
 * @see interface 1.2, platform-db "The functions"
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../base/json/json.js';
import type { Filter } from '../../../../base/model/filter.js';
import type { Scope } from '../../../../base/model/scope.js';
import { withValueAt } from '../../../../base/model/value-at-path.js';
import { JsonText } from '../../../../base/scalars/json-text.js';
import type { Catalog } from '../../../../store/catalog/catalog.js';
import type { Transaction } from '../../../../store/database/queryable.js';
import { parseMongoPipeline, parseStage, type Stage } from '../../../../store/mongo/mongo-pipeline.js';
import {
  invalidMongo,
  malformedMongo,
  startMongoPlace,
  withinMongo,
} from '../../../../store/mongo/mongo-place.js';
import { parseMongoQuery } from '../../../../store/mongo/mongo-query.js';
import { equalitiesOf, parseMongoUpdate } from '../../../../store/mongo/mongo-update.js';
import type { Pipelines } from '../../../../store/mongo/pipelines.js';
import type { RecordStore, StoredRecord } from '../../../../store/record-store.js';
import { dbOptions, sortOf } from './options.js';

export interface PlatformDbOptions {
  readonly catalog: Catalog;
  readonly store: RecordStore;
  readonly pipelines: Pipelines;
  /** The most records that a function other than a stream returns. */
  readonly maxResultRecords: number;
}

/** The scope, run and transaction of a call. */
export interface DbCall {
  readonly scope: Scope;
  readonly within?: Transaction | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of a write, in the terms of MongoDB's drivers. */
export interface UpdateResult extends JsonObject {
  readonly acknowledged: true;
  readonly matchedCount: number;
  readonly modifiedCount: number;
  readonly upsertedCount: number;
  readonly upsertedId: string | null;
}

type Batches = AsyncIterable<readonly string[]>;
type Sent = JsonValue | undefined;

export class PlatformDb {
  readonly #options: PlatformDbOptions;

  constructor(options: PlatformDbOptions) {
    this.#options = options;
  }

  /** How many records match. @throws as `find` does */
  async getCount(call: DbCall, collection: string, query: Sent, options?: Sent): Promise<number> {
    const [counted] = await this.#collect(call, collection, [
      matching(query),
      ...part(dbOptions('count', options)),
      ...parseMongoPipeline([{ $count: 'count' }]),
    ]);
    return counted === undefined ? 0 : Number((JSON.parse(counted) as { count: number }).count);
  }

  /**
   * The distinct values at a path, in order; for a list those of its elements. A missing value does not
   * count, null does.
   */
  async findDistinct(
    call: DbCall,
    collection: string,
    key: string,
    request: { readonly query: Sent; readonly options?: Sent },
  ): Promise<JsonText> {
    dbOptions('none', request.options);
    if (key === '' || key.startsWith('$'))
      throw malformedMongo(startMongoPlace('key'), 'a path such as class', key);
    const groups = await this.#collect(call, collection, [
      matching(request.query),
      ...parseMongoPipeline([
        { $project: { _id: 0, value: `$${key}` } },
        { $unwind: { path: '$value', preserveNullAndEmptyArrays: true } },
        { $match: { value: { $exists: true } } },
        { $group: { _id: '$value' } },
        { $sort: { _id: 1 } },
        { $project: { _id: 0, value: '$_id' } },
      ]),
    ]);
    return new JsonText(`[${groups.map(textOfOnlyMember).join(',')}]`);
  }

  /**
   * The matching records in batches of JSON text, without a limit. Leaving the loop ends the query.
   *
   * @throws NOT_FOUND, GONE; FORBIDDEN naming a hidden field; MALFORMED_FILTER with the position in the query
   *   or options
   */
  find(call: DbCall, collection: string, query: Sent, options?: Sent): Batches {
    const { sort, limit, skip, projection } = dbOptions('read', options);
    const place = withinMongo(startMongoPlace('options'), 'sort');
    return this.#run(call, collection, [
      matching(query),
      ...(sort === undefined ? [] : parseStage({ name: '$sort', operand: sort }, place)),
      ...part({ limit, skip }),
      ...(projection === undefined ? [] : projected(projection)),
    ]);
  }

  /** The documents of a pipeline, in batches of JSON text. @throws as `find` does; LIMIT_EXCEEDED */
  aggregate(call: DbCall, collection: string, pipeline: Sent): Batches {
    return this.#run(call, collection, parseMongoPipeline(pipeline));
  }

  /** All documents of a pipeline at once. @throws LIMIT_EXCEEDED if there are more than a function returns */
  async aggregateAll(call: DbCall, collection: string, pipeline: Sent): Promise<JsonText> {
    const documents = await this.#collect(call, collection, parseMongoPipeline(pipeline));
    return new JsonText(`[${documents.join(',')}]`);
  }

  /**
   * Changes one record, the first in the order, and returns its previous state, or with `new` the new one;
   * null if none matches. `remove: true` removes it instead.
   */
  async findAndModify(
    call: DbCall,
    collection: string,
    request: {
      readonly query: Sent;
      readonly sort: Sent;
      readonly replacement: Sent;
      readonly options?: Sent;
    },
  ): Promise<JsonText | null> {
    const { scope, within } = call;
    const { returning, upsert, remove, force, allowAll, projection } = dbOptions('modify', request.options);
    const matching = {
      filter: parseMongoQuery(request.query),
      sort: sortOf(request.sort),
      limit: 1,
      allowAll,
    };
    if (remove) {
      if (request.replacement !== undefined && request.replacement !== null) {
        throw malformedMongo(startMongoPlace('replacement'), 'null beside remove: true', request.replacement);
      }
      const { records } = await this.#options.store.deleteMatching(
        scope,
        collection,
        { ...matching, returning: 'before', force },
        { within },
      );
      return await this.#shown(call, records?.[0], projection);
    }
    const { records, upserted } = await this.#options.store.updateMatching(
      scope,
      collection,
      {
        ...matching,
        update: parseMongoUpdate(request.replacement, startMongoPlace('replacement')),
        upsert: upsert ? { base: baseOf(matching.filter) } : undefined,
        returning,
      },
      { within },
    );
    // The record created by an upsert has no previous state.
    const record = upserted !== undefined && returning === 'before' ? undefined : records?.[0];
    return await this.#shown(call, record, projection);
  }

  /** Stores one record and gives it back. */
  async create(call: DbCall, collection: string, data: Sent, options?: Sent): Promise<JsonText> {
    dbOptions('none', options);
    if (!isJsonObject(data))
      throw invalidMongo(startMongoPlace('_data'), 'an object: the fields of the record', data);
    const [record] = await this.#options.store.create(call.scope, collection, [data], {
      within: call.within,
    });
    return new JsonText(record?.json ?? 'null');
  }

  /** Stores all of the records or none, and gives them back in their order. */
  async createMultiple(call: DbCall, collection: string, data: Sent, options?: Sent): Promise<JsonText> {
    dbOptions('none', options);
    if (!Array.isArray(data) || !data.every(isJsonObject)) {
      throw invalidMongo(startMongoPlace('_data'), 'a list of objects: the fields of each record', data);
    }
    const records = await this.#options.store.create(call.scope, collection, data, { within: call.within });
    return new JsonText(`[${records.map(({ json }) => json).join(',')}]`);
  }

  /** Changes one record, the first in the order; with `multi: true` like `updateMany`. */
  async update(call: DbCall, collection: string, request: UpdateRequest): Promise<UpdateResult> {
    const { multi } = dbOptions('update', request.options2, request.options3);
    return await this.#update(call, collection, { ...request, limit: multi ? undefined : 1 });
  }

  /** Changes every matching record, in one transaction. */
  async updateMany(call: DbCall, collection: string, request: UpdateRequest): Promise<UpdateResult> {
    return await this.#update(call, collection, { ...request, limit: undefined });
  }

  /**
   * The collections the caller may read, by name: `{ name, title, description, isDeclared, labelField,
   * fields: [{ name, type, isList }] }`, without the fields hidden from it. `filter` is a query over that,
   * or one name.
   */
  async listCollections(call: DbCall, filter?: Sent): Promise<JsonText> {
    const { catalog, store, pipelines } = this.#options;
    const known = catalog.list().flatMap((collection) => {
      const readable = store.findReadable(call.scope, collection.name);
      if (readable === undefined) return [];
      const { name, title, description, isDeclared, labelField = null } = collection;
      const fields = collection.fields
        .filter((field) => !readable.access.hiddenFields.has(field.name))
        .map((field) => ({ name: field.name, type: field.type, isList: field.isList }));
      return [JSON.stringify({ name, title, description, isDeclared, labelField, fields })];
    });
    const operand = typeof filter === 'string' ? { name: filter } : (filter ?? {});
    const stages = parseStage({ name: '$match', operand }, startMongoPlace('filter'));
    return new JsonText(`[${(await pipelines.transform(call, known, stages)).join(',')}]`);
  }

  async #update(
    call: DbCall,
    collection: string,
    request: UpdateRequest & { readonly limit: number | undefined },
  ): Promise<UpdateResult> {
    const { upsert, sort, allowAll } = dbOptions('update', request.options2, request.options3);
    const filter = parseMongoQuery(request.query);
    const { matched, modified, upserted } = await this.#options.store.updateMatching(
      call.scope,
      collection,
      {
        filter,
        sort: sortOf(sort, withinMongo(startMongoPlace('options'), 'sort')),
        limit: request.limit,
        allowAll,
        update: parseMongoUpdate(request.options, startMongoPlace('options')),
        upsert: upsert ? { base: baseOf(filter) } : undefined,
      },
      { within: call.within },
    );
    return {
      acknowledged: true,
      matchedCount: matched,
      modifiedCount: modified,
      upsertedCount: upserted === undefined ? 0 : 1,
      upsertedId: upserted ?? null,
    };
  }

  #run({ scope, within, signal }: DbCall, collection: string, stages: readonly Stage[]): Batches {
    return this.#options.pipelines.run(scope, { collection, stages, within, signal });
  }

  async #collect(
    { scope, within, signal }: DbCall,
    collection: string,
    stages: readonly Stage[],
  ): Promise<readonly string[]> {
    const { pipelines, maxResultRecords } = this.#options;
    return await pipelines.collect(scope, { collection, stages, within, signal }, maxResultRecords);
  }

  /** The requested part of a written record. */
  async #shown(call: DbCall, record: StoredRecord | undefined, projection: Sent): Promise<JsonText | null> {
    if (record === undefined) return null;
    if (projection === undefined) return new JsonText(record.json);
    const [shown] = await this.#options.pipelines.transform(call, [record.json], projected(projection));
    return shown === undefined ? null : new JsonText(shown);
  }
}

/** The value in `{"value": …}`, however it is spaced; the name contains neither colon nor brace. */
function textOfOnlyMember(object: string): string {
  return object.slice(object.indexOf(':') + 1, object.lastIndexOf('}'));
}

export interface UpdateRequest {
  readonly query: Sent;
  /** The change: operators, or the new record. */
  readonly options: Sent;
  /** Options: upsert, sort, multi, allowAll. */
  readonly options2?: Sent;
  /** Further options. */
  readonly options3?: Sent;
}

/** A missing query is refused: it must never mean all records. */
function matching(query: Sent): Stage {
  return { kind: 'match', filter: parseMongoQuery(query) };
}

function part({ limit, skip }: { limit: number | undefined; skip: number }): readonly Stage[] {
  return parseMongoPipeline([
    ...(skip === 0 ? [] : [{ $skip: skip }]),
    ...(limit === undefined ? [] : [{ $limit: limit }]),
  ]);
}

function projected(projection: JsonValue): readonly Stage[] {
  return parseStage(
    { name: '$project', operand: projection },
    withinMongo(startMongoPlace('options'), 'projection'),
  );
}

function baseOf(filter: Filter): JsonObject {
  return equalitiesOf(filter).reduce<JsonObject>(
    (soFar, [path, value]) => withValueAt(soFar, path, value),
    {},
  );
}
