/**
 * Loads the targets of references for graphql-js: one statement per level and collection, whatever the number
 * of parents.
 */
import DataLoader from 'dataloader';
import type { FieldNode } from 'graphql';
import type { Path } from '../../../base/model/path.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import { byIds, type RecordResolver } from '../../resolvers/records/record-resolver.js';
import type { RequestContext } from '../../resolvers/request-context.js';

/** Collects ids while graphql-js resolves one level. */
export class ReferenceLoader {
  readonly #records: RecordResolver;
  readonly #byRequest = new WeakMap<RequestContext, Map<readonly FieldNode[], Loaders>>();

  constructor(records: RecordResolver) {
    this.#records = records;
  }

  /**
   * The record, or `undefined` if there is none that the caller may see. `nodes` is graphql-js's own list,
   * which all parents share.
   */
  async load(
    context: RequestContext,
    target: {
      readonly collection: string;
      readonly id: string;
      readonly projection: readonly Path[];
      readonly nodes: readonly FieldNode[];
    },
  ): Promise<StoredRecord | undefined> {
    return await this.#loader(context, target).load(target.id);
  }

  #loader(
    context: RequestContext,
    target: {
      readonly collection: string;
      readonly projection: readonly Path[];
      readonly nodes: readonly FieldNode[];
    },
  ): Loader {
    const byNodes = this.#byRequest.get(context) ?? new Map<readonly FieldNode[], Loaders>();
    this.#byRequest.set(context, byNodes);
    const loaders = byNodes.get(target.nodes) ?? new Map<string, Loader>();
    byNodes.set(target.nodes, loaders);
    const known = loaders.get(target.collection);
    if (known) return known;
    const loader: Loader = new DataLoader((ids) => this.#read(context, target, ids));
    loaders.set(target.collection, loader);
    return loader;
  }

  async #read(
    context: RequestContext,
    target: { readonly collection: string; readonly projection: readonly Path[] },
    ids: readonly string[],
  ): Promise<readonly (StoredRecord | undefined)[]> {
    const set = this.#records.records(context, {
      collection: target.collection,
      projection: target.projection,
      filter: byIds(ids),
      limit: ids.length,
    });
    const { records } = await set.page();
    const byId = new Map(records.map((record) => [record.id, record]));
    return ids.map((id) => byId.get(id));
  }
}

type Loader = DataLoader<string, StoredRecord | undefined>;
type Loaders = Map<string, Loader>;
