/** Plans the reading of records named by collection, type and id. */
import type { GraphQLResolveInfo } from 'graphql';
import type { Scope } from '../../../base/model/scope.js';
import { findAccess } from '../../../store/access/access.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { genericForm } from '../../resolvers/records/generic-form.js';
import { type NodeForm, type NodePlace, nodeIdPrefix } from '../../resolvers/records/node.js';
import type { RecordForm } from '../../resolvers/records/page-shape.js';
import { SelectionMemory } from '../../resolvers/records/selection.js';
import { assertShownFields } from '../../resolvers/records/shown-fields.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import type { AskedNode, NodeGroup } from './node-list.js';
import { typedForm } from './typed-form.js';
import type { TypedModel } from './typed-model.js';

export class NodeFinder {
  readonly #catalog: Catalog;
  readonly #model: TypedModel;
  readonly #groups = new SelectionMemory<Map<string, NodeGroup>>();

  constructor(catalog: Catalog, model: TypedModel) {
    this.#catalog = catalog;
    this.#model = model;
  }

  /**
   * The input of `NodeList`. `undefined` for an invalid id, and equally for a record of a collection that
   * does not exist or that the caller may not read, so that nobody learns which.
   *
   * @throws FORBIDDEN naming a hidden field that is selected
   */
  find(
    context: RequestContext,
    places: readonly (NodePlace | undefined)[],
    info: GraphQLResolveInfo,
  ): readonly (AskedNode | undefined)[] {
    const options = { scope: requireScope(context), catalog: this.#catalog };
    const known = this.#groups.recall(info, () => new Map());
    const inReach = new Map<string, NodeGroup | undefined>();
    return places.map((place) => {
      if (place === undefined) return undefined;
      const key = nodeIdPrefix(place);
      if (!inReach.has(key)) {
        const group = this.#isReadable(place, options.scope) ? this.#groupOf(place, known, info) : undefined;
        if (group) assertShownFields(group.members, group.collection, options);
        inReach.set(key, group);
      }
      const group = inReach.get(key);
      return group && { group, id: place.id };
    });
  }

  #isReadable({ collection }: NodeForm, scope: Scope): boolean {
    const found = this.#catalog.find(collection);
    return found !== undefined && findAccess(scope, found, 'read') !== undefined;
  }

  #groupOf(place: NodeForm, known: Map<string, NodeGroup>, info: GraphQLResolveInfo): NodeGroup | undefined {
    const key = nodeIdPrefix(place);
    const before = known.get(key);
    if (before) return before;
    const form = this.#formOf(place);
    if (!form) return undefined;
    const group = { collection: place.collection, form, members: form.members(info.fieldNodes, info) };
    known.set(key, group);
    return group;
  }

  #formOf({ form, collection }: NodeForm): RecordForm<object> | undefined {
    if (form === 'generic') return genericForm(collection);
    const typed = this.#model.byCollection.get(collection);
    return typed && typedForm(typed, this.#model);
  }
}
