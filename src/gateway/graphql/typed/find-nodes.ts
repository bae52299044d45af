/**
 * Records by their ids, whatever their collections: the root fields `node` and `nodes`, and `_entities` of a
 * subgraph.
 */
import { member } from '../../../base/scalars/declared-type.js';
import { findAccess } from '../../../store/access/access.js';
import { assertMembersReadable } from '../../../store/reading/record-set-statements.js';
import { listShapePaths, type Member } from '../../../store/sql/shape.js';
import { assertPageSize } from '../../resolvers/page-arguments.js';
import { genericForm } from '../../resolvers/records/generic-form.js';
import { Node, type NodePlace, nodeIdPrefix, parseNodeId } from '../../resolvers/records/node.js';
import type { RecordForm } from '../../resolvers/records/page-shape.js';
import { PRINT, PRINTABLE_FIELD, type Printable, READ } from '../../resolvers/records/printable.js';
import { byIds } from '../../resolvers/records/record-resolver.js';
import { SelectionMemory } from '../../resolvers/records/selection.js';
import { requireScope } from '../../resolvers/request-context.js';
import { createResolverClass, type FieldCall } from '../../resolvers/run-time-types.js';
import type { RecordServices } from './record-fields.js';
import { typedForm } from './typed-form.js';
import type { TypedModel } from './typed-model.js';

/** The records of one collection shown by one type, with the members that a document selects. */
interface NodeGroup {
  readonly collection: string;
  readonly form: RecordForm<object>;
  readonly members: readonly Member[];
}

/**
 * Returns the records at these places, in their order; nothing has been read yet. One statement reads each
 * group. A record is null if it does not exist, if the caller may not read it, and for an `undefined` place,
 * so that callers cannot distinguish these cases.
 *
 * @throws FORBIDDEN naming a hidden field that is selected
 */
export type FindNodes = (places: readonly (NodePlace | undefined)[], call: FieldCall) => NodeList;

interface NodeList extends Printable {
  readonly texts: () => Promise<readonly string[]>;
  readonly read: () => Promise<readonly (object | null)[]>;
}

export function createFindNodes({ records, catalog }: RecordServices, model: TypedModel): FindNodes {
  const memory = new SelectionMemory<Map<string, NodeGroup>>();

  function formOf({ form, collection }: NodePlace): RecordForm<object> | undefined {
    if (form === 'generic') return genericForm(collection);
    const typed = model.byCollection.get(collection);
    return typed && typedForm(typed, model);
  }

  /** `undefined` for a collection that does not exist or that the caller may not read. */
  function findGroup(
    place: NodePlace,
    known: Map<string, NodeGroup>,
    { context, info }: FieldCall,
  ): NodeGroup | undefined {
    const { collection } = place;
    const scope = requireScope(context);
    const declared = catalog.find(collection);
    if (declared === undefined || findAccess(scope, declared, 'read') === undefined) return undefined;
    const key = nodeIdPrefix(place);
    const form = formOf(place);
    const group =
      known.get(key) ?? (form && { collection, form, members: form.members(info.fieldNodes, info) });
    if (!group) return undefined;
    known.set(key, group);
    assertMembersReadable(group.members, collection, { scope, catalog });
    return group;
  }

  return (places, call) => {
    const { context, info } = call;
    requireScope(context);
    const known = memory.recall(info, () => new Map());
    const groups = new Map<string, NodeGroup | undefined>();
    const requested = places.map((place) => {
      if (place === undefined) return undefined;
      const key = nodeIdPrefix(place);
      if (!groups.has(key)) groups.set(key, findGroup(place, known, call));
      const group = groups.get(key);
      return group && { group, id: place.id };
    });

    async function readGroups<T>(
      read: (group: NodeGroup, ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    ): Promise<readonly (T | undefined)[]> {
      const readings = [...new Set(requested.flatMap((one) => one?.group ?? []))].map(async (group) => {
        const ids = new Set(requested.flatMap((one) => (one?.group === group ? [one.id] : [])));
        return [group, await read(group, [...ids])] as const;
      });
      const found = new Map(await Promise.all(readings));
      return requested.map((one) => one && found.get(one.group)?.get(one.id));
    }

    const texts = async () => {
      const found = await readGroups(({ collection, members }, ids) =>
        records.records(context, { collection }).printByIds(ids, members),
      );
      return found.map((text) => text ?? 'null');
    };
    const read = async () => {
      const found = await readGroups(async ({ collection, form, members }, ids) => {
        const { paths, isWholeRecord } = listShapePaths(members);
        const projection = isWholeRecord ? undefined : paths;
        const request = { collection, projection, filter: byIds(ids), limit: ids.length };
        const page = await records.records(context, request).page();
        return new Map(page.records.map((record) => [record.id, form.toNode(record)]));
      });
      return found.map((record) => record ?? null);
    };
    return { texts, read, [PRINT]: async () => `[${(await texts()).join(',')}]`, [READ]: read };
  };
}

export function createNodeResolver({ pages }: RecordServices, findNodes: FindNodes) {
  return createResolverClass([
    {
      kind: 'query',
      name: 'node',
      description:
        'A record by its global id; null where there is none that you may read. Errors: FORBIDDEN for a ' +
        'field that is hidden from you.',
      type: Node,
      nullable: true,
      arguments: { id: member.id('The `nodeId` of the record.') },
      extensions: PRINTABLE_FIELD,
      run({ id }: { readonly id: string }, call: FieldCall): Printable {
        const list = findNodes([parseNodeId(id, 'id')], call);
        return {
          [PRINT]: async () => (await list.texts())[0] ?? 'null',
          [READ]: async () => (await list.read())[0] ?? null,
        };
      },
    },
    {
      kind: 'query',
      name: 'nodes',
      description:
        'Records by their global ids, in the order of the ids; null where there is none that you may read. ' +
        'Errors: LIMIT_EXCEEDED for more ids than a page has records, FORBIDDEN for a field that is hidden ' +
        'from you.',
      type: [Node],
      nullable: 'items',
      arguments: { ids: member.ids('The `nodeId`s of the records.') },
      extensions: PRINTABLE_FIELD,
      run({ ids }: { readonly ids: readonly string[] }, call: FieldCall): Printable {
        assertPageSize('ids', ids.length, pages);
        const places = ids.map((id, index) => parseNodeId(id, `ids.${index}`));
        return findNodes(places, call);
      },
    },
  ]);
}
