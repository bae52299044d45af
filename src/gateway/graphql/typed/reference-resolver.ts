/** The field `record` of a reference type, for graphql-js. In the splice, the database joins the target. */
import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import type { TypeClass, TypeReference } from '../../../base/scalars/declared-type.js';
import { findAccess } from '../../../store/access/access.js';
import { listShapePaths } from '../../../store/sql/shape.js';
import { byIds } from '../../resolvers/records/record-resolver.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import type { LevelLoader } from './level-loader.js';
import { typedForm } from './typed-form.js';
import type { TypedModel, TypedReference } from './typed-model.js';
import type { ReferenceSource, TypedSource } from './typed-source.js';
import type { TypedTypes } from './typed-types.js';

export type ReferenceResolverClass = new (loader: LevelLoader) => object;

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
    readonly #loader: LevelLoader;

    constructor(loader: LevelLoader) {
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
      const key = { nodes: info.fieldNodes, collection: name, id };
      const record = await this.#loader.load(context, key, () => {
        const projection = listShapePaths(form.members(info.fieldNodes, info)).paths;
        return async (records, ids) => {
          const request = { collection: name, projection, filter: byIds(ids), limit: ids.length };
          const page = await records.records(context, request).page();
          const byId = new Map(page.records.map((one) => [one.id, one]));
          return ids.map((one) => byId.get(one));
        };
      });
      return record && form.toNode(record);
    }
  }

  return ReferenceResolver;
}
