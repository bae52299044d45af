/**
 * Records by their ids, whatever their collections: the root fields `node` and `nodes`, and `_entities` of a
 * subgraph.
 */
import { member } from '../../../base/scalars/declared-type.js';
import { findAccess } from '../../../store/access/access.js';
import { assertMembersReadable } from '../../../store/reading/record-set-statements.js';
import type { Member } from '../../../store/sql/shape.js';
import { assertPageSize } from '../../resolvers/page-arguments.js';
import { genericForm } from '../../resolvers/records/generic-form.js';
import { Node, type NodePlace, nodeIdPrefix, parseNodeId } from '../../resolvers/records/node.js';
import type { RecordForm } from '../../resolvers/records/page-shape.js';
import { PRINTABLE_FIELD, type Print } from '../../resolvers/records/printable.js';
import { SelectionMemory } from '../../resolvers/records/selection.js';
import { requireScope } from '../../resolvers/request-context.js';
import { createResolverClass, type FieldCall } from '../../resolvers/run-time-types.js';
import type { RecordServices } from './record-fields.js';
import { typedForm } from './typed-form.js';
import type { TypedModel } from './typed-model.js';

/** The records of one collection shown by one type, with the members that a document selects. */
interface NodeGroup {
  readonly collection: string;
  readonly members: readonly Member[];
}

/**
 * Prints the records at these places, in their order. One statement reads each group. A record is null if it
 * does not exist, if the caller may not read it, and for an `undefined` place, so that callers cannot
 * distinguish these cases.
 *
 * @throws FORBIDDEN naming a hidden field that is selected, at once
 */
export type FindNodes = (
  places: readonly (NodePlace | undefined)[],
  call: FieldCall,
) => () => Promise<readonly string[]>;

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
    const group = known.get(key) ?? (form && { collection, members: form.members(info.fieldNodes, info) });
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

    return async () => {
      const readings = [...new Set(requested.flatMap((one) => one?.group ?? []))].map(async (group) => {
        const ids = new Set(requested.flatMap((one) => (one?.group === group ? [one.id] : [])));
        const { collection, members } = group;
        const texts = await records.records(context, { collection }).printByIds([...ids], members);
        return [group, texts] as const;
      });
      const found = new Map(await Promise.all(readings));
      return requested.map((one) => (one && found.get(one.group)?.get(one.id)) ?? 'null');
    };
  };
}

/** The same as a list. */
export function printedList(texts: () => Promise<readonly string[]>): Print {
  return async () => `[${(await texts()).join(',')}]`;
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
      run({ id }: { readonly id: string }, call: FieldCall): Print {
        const texts = findNodes([parseNodeId(id, 'id')], call);
        return async () => (await texts())[0] ?? 'null';
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
      run({ ids }: { readonly ids: readonly string[] }, call: FieldCall): Print {
        assertPageSize('ids', ids.length, pages);
        const places = ids.map((id, index) => parseNodeId(id, `ids.${index}`));
        return printedList(findNodes(places, call));
      },
    },
  ]);
}
