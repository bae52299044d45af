/** The root fields `node` and `nodes`: records by their global ids, whatever their collections. */
import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Extensions, ID, Info, Query, Resolver } from 'type-graphql';
import { assertPageSize } from '../../resolvers/page-arguments.js';
import { Node, type NodePlace, parseNodeId } from '../../resolvers/records/node.js';
import { PRINT, PRINTABLE_FIELD, type Printable, READ } from '../../resolvers/records/printable.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { NodeFinder, NodeList } from './node-list.js';
import type { TypedModel } from './typed-model.js';
import type { TypedServices } from './typed-resolver.js';

@Resolver()
export class NodeResolver {
  readonly #services: TypedServices;
  readonly #finder: NodeFinder;

  constructor(services: TypedServices, model: TypedModel) {
    this.#services = services;
    this.#finder = new NodeFinder(services.catalog, model);
  }

  @Query(() => Node, {
    nullable: true,
    description:
      'A record by its global id; null where there is none that you may read. Errors: FORBIDDEN for a ' +
      'field that is hidden from you.',
  })
  @Extensions(PRINTABLE_FIELD)
  node(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The `nodeId` of the record.' }) id: string,
    @Info() info: GraphQLResolveInfo,
  ): Printable {
    return new OneNode(this.#list(context, [parseNodeId(id, 'id')], info));
  }

  @Query(() => [Node], {
    nullable: 'items',
    description:
      'Records by their global ids, in the order of the ids; null where there is none that you may read. ' +
      'Errors: LIMIT_EXCEEDED for more ids than a page has records, FORBIDDEN for a field that is hidden ' +
      'from you.',
  })
  @Extensions(PRINTABLE_FIELD)
  nodes(
    @Ctx() context: RequestContext,
    @Arg('ids', () => [ID], { description: 'The `nodeId`s of the records.' }) ids: readonly string[],
    @Info() info: GraphQLResolveInfo,
  ): Printable {
    assertPageSize('ids', ids.length, this.#services.pages);
    const places = ids.map((id, index) => parseNodeId(id, `ids.${index}`));
    return this.#list(context, places, info);
  }

  #list(context: RequestContext, places: readonly NodePlace[], info: GraphQLResolveInfo): NodeList {
    const { records } = this.#services;
    return new NodeList(this.#finder.find(context, places, info), { records, context });
  }
}

class OneNode implements Printable {
  readonly #list: NodeList;

  constructor(list: NodeList) {
    this.#list = list;
  }

  async [PRINT](): Promise<string> {
    return (await this.#list.texts())[0] ?? 'null';
  }

  async [READ](): Promise<object | null> {
    return (await this.#list[READ]())[0] ?? null;
  }
}
