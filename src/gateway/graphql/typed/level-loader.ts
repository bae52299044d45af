import DataLoader from 'dataloader';
import type { FieldNode } from 'graphql';
import type { RecordResolver } from '../../resolvers/records/record-resolver.js';
import type { RequestContext } from '../../resolvers/request-context.js';

type Loader = DataLoader<string, unknown>;

/** Reads what belongs to each of the ids, in their order. */
export type ReadLevel<Found> = (records: RecordResolver, ids: readonly string[]) => Promise<readonly Found[]>;

/** Collects ids while graphql-js resolves one level: one statement per level and collection. */
export class LevelLoader {
  readonly #records: RecordResolver;
  readonly #byRequest = new WeakMap<RequestContext, Map<readonly FieldNode[], Map<string, Loader>>>();

  constructor(records: RecordResolver) {
    this.#records = records;
  }

  /** `nodes` is graphql-js's own list, which all parents share. `toRead` is called once per level. */
  async load<Found>(
    context: RequestContext,
    { nodes, collection, id }: LevelKey,
    toRead: () => ReadLevel<Found>,
  ): Promise<Found> {
    const byNodes = this.#byRequest.get(context) ?? new Map<readonly FieldNode[], Map<string, Loader>>();
    this.#byRequest.set(context, byNodes);
    const loaders = byNodes.get(nodes) ?? new Map<string, Loader>();
    byNodes.set(nodes, loaders);
    let loader = loaders.get(collection);
    if (loader === undefined) {
      const read = toRead();
      loader = new DataLoader((ids) => read(this.#records, ids));
      loaders.set(collection, loader);
    }
    return (await loader.load(id)) as Found;
  }
}

interface LevelKey {
  readonly nodes: readonly FieldNode[];
  readonly collection: string;
  readonly id: string;
}
