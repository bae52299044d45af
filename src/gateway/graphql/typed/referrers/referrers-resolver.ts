/**
 * A field with the records that point to a record, for graphql-js. In the splice, the database joins them.
 */
import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Int, Resolver, Root } from 'type-graphql';
import { argumentsType } from '../../../../base/scalars/declared-type.js';
import type { ReferrersPage } from '../../../../store/reading/referrers.js';
import type { ReferrersShape } from '../../../../store/sql/shape.js';
import { OrderByInput } from '../../../resolvers/records/generic-record.js';
import { pageInfoOf } from '../../../resolvers/records/lazy-record.js';
import { CI_ARGUMENT, OQUERY_BESIDE_WHERE } from '../../../resolvers/records/oquery-arguments.js';
import { readingOf } from '../../../resolvers/records/page-shape.js';
import type { RequestContext } from '../../../resolvers/request-context.js';
import type { LevelLoader, ReadLevel } from '../level-loader.js';
import { typedForm } from '../typed-form.js';
import type { TypedCollection, TypedModel, TypedReferrers } from '../typed-model.js';
import type { TypedSource } from '../typed-source.js';
import type { TypedTypes } from '../typed-types.js';
import type { WhereInputs } from '../where-inputs.js';
import { toReferrersShape } from './referrers-shape.js';

export type ReferrersResolverClass = new (loader: LevelLoader) => object;

/** The class; its instances take the loader. `undefined` if the other collection has no type. */
export function createReferrersResolver(
  referrers: TypedReferrers,
  target: TypedCollection,
  options: {
    readonly model: TypedModel;
    readonly types: TypedTypes;
    readonly whereInputs: WhereInputs;
  },
): ReferrersResolverClass | undefined {
  const { model, types, whereInputs } = options;
  const found = model.byCollection.get(referrers.collection);
  if (!found) return undefined;
  const source: TypedCollection = found;
  const type = types.record(target);
  const connectionType = types.connection(source);
  const form = typedForm(source, model);
  const pageArguments = argumentsType({
    where: {
      type: whereInputs.ofCollection(source),
      nullable: true,
      description: 'Conditions on the fields, all of which hold.',
    },
    oquery: OQUERY_BESIDE_WHERE,
    ci: CI_ARGUMENT,
    orderBy: {
      type: [types.orderBy(source) ?? OrderByInput],
      nullable: true,
      description: 'The order; by id if left out.',
    },
    first: { type: Int, nullable: true, description: 'At most so many records of each page.' },
    after: {
      type: String,
      nullable: true,
      description: 'A cursor: of each page only what comes after it.',
    },
    last: {
      type: Int,
      nullable: true,
      description: 'Instead of `first`: the last so many of each, or those before the cursor `before`.',
    },
    before: {
      type: String,
      nullable: true,
      description: 'A cursor: of each page only what comes before it.',
    },
  });
  const { typeName } = target.object;

  @Resolver(() => type)
  class ReferrersResolver {
    readonly #loader: LevelLoader;

    constructor(loader: LevelLoader) {
      this.#loader = loader;
    }

    // TypeGraphQL distinguishes the fields of a type by this name.
    @FieldResolver(() => connectionType, { description: referrers.description })
    async [referrers.name](
      @Root() record: TypedSource,
      @Ctx() context: RequestContext,
      @Args(() => pageArguments) _args: object,
      @Info() info: GraphQLResolveInfo,
    ): Promise<object> {
      const nodes = info.fieldNodes;
      // The arguments are read from the document, as in the splice.
      const key = { nodes, collection: source.collection.name, id: String(record.id) };
      const page = await this.#loader.load(context, key, () =>
        toRead(context, toReferrersShape(referrers, { typeName, source, form, nodes, model, info })),
      );
      const records = page.records.map((one) => form.toNode(one));
      return {
        nodes: records,
        edges: records.map((node, index) => ({ node, cursor: page.cursors[index] ?? '' })),
        pageInfo: pageInfoOf(page),
        totalCount: page.totalCount,
      };
    }
  }

  return ReferrersResolver;
}

function toRead(context: RequestContext, shape: ReferrersShape): ReadLevel<ReferrersPage> {
  const { path, page, ...request } = shape;
  const counting = page.members.some(({ kind }) => kind === 'count') ? 'counted' : 'uncounted';
  const projection = readingOf(page.members).paths;
  return async (records, ids) => {
    const set = records.records(context, { ...request, projection });
    const pages = await set.pagesByReference({ path, ids, counting });
    return ids.map((id) => {
      const found = pages.get(id);
      if (!found) throw new Error(`no page for ${id}`);
      return found;
    });
  };
}
