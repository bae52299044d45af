/**
 * A field with the records that point to a record, for graphql-js. In the splice, the database joins them.
 */
import DataLoader from 'dataloader';
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Int, Resolver, Root } from 'type-graphql';
import { argumentsType } from '../../../../base/scalars/declared-type.js';
import type { ReferrersPage } from '../../../../store/reading/referrers.js';
import type { ReferrersShape } from '../../../../store/sql/shape.js';
import { OrderByInput } from '../../../resolvers/records/generic-record.js';
import { pageInfoOf } from '../../../resolvers/records/lazy-record.js';
import { CI_ARGUMENT, OQUERY_BESIDE_WHERE } from '../../../resolvers/records/oquery-arguments.js';
import { readingOf } from '../../../resolvers/records/page-shape.js';
import type { RecordResolver } from '../../../resolvers/records/record-resolver.js';
import type { RequestContext } from '../../../resolvers/request-context.js';
import { typedForm } from '../typed-form.js';
import type { TypedCollection, TypedModel, TypedReferrers } from '../typed-model.js';
import type { TypedSource } from '../typed-source.js';
import type { TypedTypes } from '../typed-types.js';
import type { WhereInputs } from '../where-inputs.js';
import { toReferrersShape } from './referrers-shape.js';

export type ReferrersResolverClass = new (loader: ReferrersLoader) => object;

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
    readonly #loader: ReferrersLoader;

    constructor(loader: ReferrersLoader) {
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
      const toShape = () => toReferrersShape(referrers, { typeName, source, form, nodes, model, info });
      const page = await this.#loader.load(context, String(record.id), { nodes, toShape });
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

/** Collects ids while graphql-js resolves one level, for one statement per level. */
export class ReferrersLoader {
  readonly #records: RecordResolver;
  readonly #byRequest = new WeakMap<RequestContext, Map<readonly FieldNode[], Loader>>();

  constructor(records: RecordResolver) {
    this.#records = records;
  }

  /** `nodes` is graphql-js's own list, which all parents share. */
  async load(
    context: RequestContext,
    id: string,
    { nodes, toShape }: { readonly nodes: readonly FieldNode[]; readonly toShape: () => ReferrersShape },
  ): Promise<ReferrersPage> {
    const byNodes = this.#byRequest.get(context) ?? new Map<readonly FieldNode[], Loader>();
    this.#byRequest.set(context, byNodes);
    const known = byNodes.get(nodes);
    if (known) return await known.load(id);
    const shape = toShape();
    const loader: Loader = new DataLoader((ids) => this.#read(context, shape, ids));
    byNodes.set(nodes, loader);
    return await loader.load(id);
  }

  async #read(
    context: RequestContext,
    shape: ReferrersShape,
    ids: readonly string[],
  ): Promise<readonly ReferrersPage[]> {
    const { collection, path, filter, sort, limit, after, before, fromEnd, page } = shape;
    const set = this.#records.records(context, {
      collection,
      filter,
      sort,
      limit,
      after,
      before,
      fromEnd,
      projection: readingOf(page.members).paths,
    });
    const isCounted = page.members.some(({ kind }) => kind === 'count');
    const pages = await set.pagesByReference({ path, ids, counting: isCounted ? 'counted' : 'uncounted' });
    return ids.map((id) => {
      const found = pages.get(id);
      if (!found) throw new Error(`no page for ${id}`);
      return found;
    });
  }
}

type Loader = DataLoader<string, ReferrersPage>;
