/**
 * The fields of a subgraph: its schema (`_service`), and the records that other subgraphs refer to
 * (`_entities`). Only in the schema with the setting FEDERATION.
 *
 * @see https://www.apollographql.com/docs/graphos/reference/federation/subgraph-spec
 */

import { type GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import { Arg, Ctx, createUnionType, Extensions, Info, Query, Resolver } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import { isRecordId } from '../../../base/model/record-id.js';
import { member, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import { assertPageSize } from '../../resolvers/page-arguments.js';
import { type NodePlace, TYPE_NAME } from '../../resolvers/records/node.js';
import { PRINTABLE_FIELD } from '../../resolvers/records/printable.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { assertIntrospectionRole } from '../limits/permitted.js';
import { NodeFinder, NodeList } from './node-list.js';
import { printSubgraph } from './print-subgraph.js';
import type { TypedModel } from './typed-model.js';
import type { TypedServices } from './typed-resolver.js';
import type { TypedTypes } from './typed-types.js';

const ANY = new GraphQLScalarType({
  name: '_Any',
  description: 'A record as another subgraph names it: {"__typename": "Task", "id": "T-7"}.',
});

const SubgraphService = objectType('_Service', 'What a supergraph is composed of.', {
  sdl: member.text('The schema, with the keys of its types.'),
});
type SubgraphService = ValueOf<typeof SubgraphService>;

export type SubgraphResolverClass = new (
  services: TypedServices,
  introspectionRoles: readonly string[],
) => object;

/** The class; its instances take the services. A model without types has no entities. */
export function createSubgraphResolver(model: TypedModel, types: TypedTypes): SubgraphResolverClass {
  const byTypeName = new Map(model.collections.map((typed) => [typed.object.typeName, typed]));
  const entity = createUnionType({
    name: '_Entity',
    description: 'The types that other subgraphs may name by their key.',
    types: () => model.collections.map((typed) => types.record(typed)),
    resolveType: (source: { readonly [TYPE_NAME]?: string }) => source[TYPE_NAME],
  });

  @Resolver()
  class SubgraphResolver {
    readonly #services: TypedServices;
    readonly #finder: NodeFinder;
    readonly #introspectionRoles: readonly string[];
    /** The resolver serves one schema. */
    #sdl: string | undefined;

    constructor(services: TypedServices, introspectionRoles: readonly string[]) {
      this.#services = services;
      this.#finder = new NodeFinder(services.catalog, model);
      this.#introspectionRoles = introspectionRoles;
    }

    @Query(() => SubgraphService, {
      name: '_service',
      description: 'The schema as a supergraph takes it. For those who may introspect.',
    })
    service(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo): SubgraphService {
      assertIntrospectionRole(context, this.#introspectionRoles);
      this.#sdl ??= printSubgraph(info.schema, new Set(byTypeName.keys()));
      return { sdl: this.#sdl };
    }

    @Query(() => [entity], {
      name: '_entities',
      nullable: 'items',
      description:
        'Records that other subgraphs name, in the order they are named, one statement a type; null where ' +
        'there is none that you may read. Errors: LIMIT_EXCEEDED for more than a page has records.',
    })
    @Extensions(PRINTABLE_FIELD)
    entities(
      @Ctx() context: RequestContext,
      @Arg('representations', () => [ANY], { description: 'Each has `__typename` and `id`.' })
      representations: readonly unknown[],
      @Info() info: GraphQLResolveInfo,
    ): NodeList {
      const { records, pages } = this.#services;
      assertPageSize('representations', representations.length, pages);
      const places = representations.map((one, index) => this.#placeOf(one, `representations.${index}`));
      return new NodeList(this.#finder.find(context, places, info), { records, context });
    }

    /** `undefined` for an id that no record can have: it comes from another subgraph's data. */
    #placeOf(representation: unknown, parameter: string): NodePlace | undefined {
      const { __typename: typeName, id } = Object(representation);
      const typed = byTypeName.get(typeName);
      if (typed === undefined) throw wrong(parameter, 'its __typename is no type with a key', typeName);
      if (typeof id !== 'string') throw wrong(parameter, 'its id is not a text', id);
      return isRecordId(id) ? { form: 'typed', collection: typed.collection.name, id } : undefined;
    }
  }

  return SubgraphResolver;
}

function wrong(parameter: string, detail: string, sent: unknown): ServiceError {
  const expected = 'an object such as {"__typename": "Task", "id": "T-7"}';
  return new ServiceError('INVALID_VALUE', `${parameter}: ${detail}; ${expected} is expected`, {
    errors: [{ parameter, detail, expected, sent: typeof sent === 'string' ? sent.slice(0, 80) : null }],
  });
}
