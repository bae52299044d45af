/** The field `record` of a reference type, for graphql-js. In the splice, the database joins the target. */
import DataLoader from 'dataloader';
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import type { Path } from '../../../base/model/path.js';
import type { TypeClass, TypeReference } from '../../../base/scalars/declared-type.js';
import { findAccess } from '../../../store/access/access.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import { listShapePaths } from '../../../store/sql/shape.js';
import { byIds, type RecordResolver } from '../../resolvers/records/record-resolver.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import { typedForm } from './typed-form.js';
import type { TypedModel, TypedReference } from './typed-model.js';
import type { ReferenceSource, TypedSource } from './typed-source.js';
import type { TypedTypes } from './typed-types.js';

export type ReferenceResolverClass = new (loader: ReferenceLoader) => object;

/** The class; its instances take the loader. `undefined` if no target is in the catalog. */
export function createReferenceResolver(
  reference: TypedReference,
  type: TypeClass,
  options: { readonly model: TypedModel; readonly types: TypedTypes },
): ReferenceResolverClass | undefined {
  const { model, types } = options;
  const found = types.targetType(reference);
  if (!found) return undefined;
  const targetType: TypeReference = found;

  @Resolver(() => type)
  class ReferenceResolver {
    readonly #loader: ReferenceLoader;

    constructor(loader: ReferenceLoader) {
      this.#loader = loader;
    }

    @FieldResolver(() => targetType, {
      nullable: true,
      description: 'The record it points to; null where there is none, or none that you may see.',
    })
    async record(
      @Root() source: ReferenceSource,
      @Ctx() context: RequestContext,
      @Info() info: GraphQLResolveInfo,
    ): Promise<TypedSource | null> {
      const { id } = source;
      if (id === null) return null;
      const found = await Promise.all(reference.targets.map((name) => this.#find(name, id, context, info)));
      return found.find((record) => record !== undefined) ?? null;
    }

    async #find(
      name: string,
      id: string,
      context: RequestContext,
      info: GraphQLResolveInfo,
    ): Promise<TypedSource | undefined> {
      const typed = model.byCollection.get(name);
      if (!typed || !findAccess(requireScope(context), typed.collection, 'read')) return undefined;
      const form = typedForm(typed, model);
      const projection = listShapePaths(form.members(info.fieldNodes, info)).paths;
      const record = await this.#loader.load(context, {
        collection: name,
        id,
        projection,
        nodes: info.fieldNodes,
      });
      return record && form.toNode(record);
    }
  }

  return ReferenceResolver;
}

/** Collects ids while graphql-js resolves one level: one statement per level and collection. */
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
