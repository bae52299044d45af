/** A field of a record type: the records that point to it, for the plain path. In the spliced path the database joins them itself. */

import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, Info, Int, Resolver, Root } from 'type-graphql';
import { OrderByInput } from '../../../resolvers/records/generic-record.js';
import { pageInfoOf } from '../../../resolvers/records/lazy-record.js';
import { CI_ARGUMENT, OQUERY_BESIDE_WHERE } from '../../../resolvers/records/oquery-arguments.js';
import type { RequestContext } from '../../../resolvers/request-context.js';
import { typedForm } from '../typed-form.js';
import type { TypedCollection, TypedModel, TypedReferrers } from '../typed-model.js';
import type { AsPlainValue } from '../typed-resolver.js';
import type { TypedSource } from '../typed-source.js';
import type { TypedTypes } from '../typed-types.js';
import type { WhereInputs } from '../typed-where.js';
import type { ReferrersLoader } from './referrers-loader.js';
import { toReferrersShape } from './referrers-shape.js';

export type ReferrersResolverClass = new (loader: ReferrersLoader) => object;

/** The class; its instances take the loader. `undefined` where the other collection has no type. */
export function createReferrersResolver(
  referrers: TypedReferrers,
  target: TypedCollection,
  options: {
    readonly model: TypedModel;
    readonly types: TypedTypes;
    readonly whereInputs: WhereInputs;
    readonly asPlainValue: AsPlainValue;
  },
): ReferrersResolverClass | undefined {
  const { model, types, whereInputs, asPlainValue } = options;
  const found = model.byCollection.get(referrers.collection);
  if (!found) return undefined;
  const source: TypedCollection = found;
  const type = types.record(target);
  const connectionType = types.connection(source);
  const form = typedForm(source, model);
  const whereInput = asPlainValue(whereInputs.ofCollection(source));
  const sortKey = asPlainValue(types.orderBy(source) ?? OrderByInput);
  const { typeName } = target.object;

  @Resolver(() => type)
  class ReferrersResolver {
    readonly #loader: ReferrersLoader;

    constructor(loader: ReferrersLoader) {
      this.#loader = loader;
    }

    // TypeGraphQL tells the fields of a type apart by this name.
    @FieldResolver(() => connectionType, { description: referrers.description })
    async [referrers.name](
      @Root() record: TypedSource,
      @Ctx() context: RequestContext,
      @Arg('where', whereInput, {
        nullable: true,
        description: 'Conditions on the fields, all of which hold.',
      })
      _where: object | null | undefined,
      @Arg('oquery', () => String, OQUERY_BESIDE_WHERE)
      _oquery: string | null | undefined,
      @Arg('ci', () => Boolean, CI_ARGUMENT)
      _ci: boolean | null | undefined,
      @Arg('orderBy', () => [sortKey()], { nullable: true, description: 'The order; by id if left out.' })
      _orderBy: readonly object[] | null | undefined,
      @Arg('first', () => Int, { nullable: true, description: 'At most so many records of each page.' })
      _first: number | null | undefined,
      @Arg('after', () => String, {
        nullable: true,
        description: 'A cursor: of each page only what comes after it.',
      })
      _after: string | null | undefined,
      @Info() info: GraphQLResolveInfo,
    ): Promise<object> {
      const nodes = info.fieldNodes;
      // The arguments are read off the document, as the splice does.
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
