/** Records of any collections by their ids, in the order of the ids; nothing has been read yet. */

import type { GraphQLResolveInfo } from 'graphql';
import type { Scope } from '../../../base/model/scope.js';
import { findAccess } from '../../../store/access/access.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { assertMembersReadable } from '../../../store/reading/assert-members-readable.js';
import { listShapePaths, type Member } from '../../../store/sql/shape.js';
import { genericForm } from '../../resolvers/records/generic-form.js';
import { type NodeForm, type NodePlace, nodeIdPrefix } from '../../resolvers/records/node.js';
import type { RecordForm } from '../../resolvers/records/page-shape.js';
import { PRINT, type Printable, READ } from '../../resolvers/records/printable.js';
import { byIds, type RecordResolver } from '../../resolvers/records/record-resolver.js';
import { SelectionMemory } from '../../resolvers/records/selection.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import { typedForm } from './typed-form.js';
import type { TypedModel } from './typed-model.js';

/** The records of one collection shown by one type, with the members that a document selects. */
interface NodeGroup {
  readonly collection: string;
  readonly form: RecordForm<object>;
  readonly members: readonly Member[];
}

interface AskedNode {
  readonly group: NodeGroup;
  readonly id: string;
}

/** One statement reads each group. A record that does not exist or that the caller may not read is null. */
export class NodeList implements Printable {
  readonly #asked: readonly (AskedNode | undefined)[];
  readonly #records: RecordResolver;
  readonly #context: RequestContext;

  /** `undefined` stands for a record that the caller cannot read. */
  constructor(
    asked: readonly (AskedNode | undefined)[],
    { records, context }: { readonly records: RecordResolver; readonly context: RequestContext },
  ) {
    this.#asked = asked;
    this.#records = records;
    this.#context = context;
  }

  async [PRINT](): Promise<string> {
    return `[${(await this.texts()).join(',')}]`;
  }

  async [READ](): Promise<readonly (object | null)[]> {
    const found = await this.#readGroups(async ({ collection, form, members }, ids) => {
      const { paths, isWholeRecord } = listShapePaths(members);
      const set = this.#records.records(this.#context, {
        collection,
        projection: isWholeRecord ? undefined : paths,
        filter: byIds(ids),
        limit: ids.length,
      });
      const { records } = await set.page();
      return new Map(records.map((record) => [record.id, form.toNode(record)]));
    });
    return found.map((record) => record ?? null);
  }

  /** The JSON text of each record. */
  async texts(): Promise<readonly string[]> {
    const found = await this.#readGroups(async ({ collection, members }, ids) => {
      const set = this.#records.records(this.#context, { collection });
      return await set.printByIds(ids, members);
    });
    return found.map((text) => text ?? 'null');
  }

  async #readGroups<T>(
    read: (group: NodeGroup, ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<readonly (T | undefined)[]> {
    const idsByGroup = new Map<NodeGroup, Set<string>>();
    for (const one of this.#asked) {
      if (one === undefined) continue;
      const ids = idsByGroup.get(one.group) ?? new Set();
      idsByGroup.set(one.group, ids.add(one.id));
    }
    const groups = await Promise.all(
      [...idsByGroup].map(async ([group, ids]) => [group, await read(group, [...ids])] as const),
    );
    const found = new Map(groups);
    return this.#asked.map((one) => one && found.get(one.group)?.get(one.id));
  }
}

/** Plans the reading of records named by collection, type and id. */
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
        if (group) assertMembersReadable(group.members, group.collection, options);
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
