/**
 * Global record ids: the interface `Node`, and the ids that `node` and `nodes` take. They are unique within
 * the domain.
 *
 *   nodeId : collection ":" id              a record with the type of its collection, e.g. "task:T-7"
 *          | "Record:" collection ":" id    the same record as a `Record`: another type has other fields
 *
 * Collection names are lower case without colons, so the two forms never coincide.
 *
 * @see decisions 11
 */
import { Field, ID, InterfaceType } from 'type-graphql';
import { invalidAt } from '../../../base/errors.js';
import { isRecordId } from '../../../base/model/record-id.js';
import type { Shape } from '../../../store/sql/shape.js';

/** Names the concrete type of a source if a field's type is a union. */
export const TYPE_NAME = Symbol('typeName');

/** The name of the type of a record in the generic part of the schema. */
export const GENERIC_TYPE_NAME = 'Record';

@InterfaceType({
  description: 'A record that can be read again by `node`, whatever its collection.',
  // All of them are types of root fields; registering them here would put them first in the printed schema.
  autoRegisterImplementations: false,
})
export abstract class Node {
  @Field(() => ID, {
    description:
      'Identifies the record among all collections, for `node` and `nodes`. It is opaque: ' +
      'its format may change.',
  })
  readonly nodeId!: string;
}

/** The kind of type that represents a record. */
export interface NodeForm {
  readonly form: 'typed' | 'generic';
  readonly collection: string;
}

/** The parts of a `nodeId`. */
export interface NodePlace extends NodeForm {
  readonly id: string;
}

/** The part of a `nodeId` before the id of the record. */
export function nodeIdPrefix({ form, collection }: NodeForm): string {
  return form === 'typed' ? `${collection}:` : `${GENERIC_TYPE_NAME}:${collection}:`;
}

/** The shape of a record's own members, which are not fields; `undefined` for another name. */
export function recordPart(name: string, form: NodeForm): Shape | undefined {
  switch (name) {
    case 'id':
    case 'version':
    case 'createdAt':
    case 'updatedAt':
      return { kind: name };
    case 'nodeId':
      return { kind: 'nodeId', prefix: nodeIdPrefix(form) };
    default:
      return undefined;
  }
}

export function toNodeId(place: NodePlace): string {
  return nodeIdPrefix(place) + place.id;
}

const NODE_ID = /^(Record:)?([a-z][a-z0-9_]{0,39}):(.+)$/;

/** @throws INVALID_VALUE (400) for a text that is not a `nodeId` */
export function parseNodeId(nodeId: string, parameter: string): NodePlace {
  const [, generic, collection, id] = NODE_ID.exec(nodeId) ?? [];
  if (collection !== undefined && isRecordId(id)) {
    return { form: generic === undefined ? 'typed' : 'generic', collection, id };
  }
  const sent = nodeId.slice(0, 80);
  throw invalidAt(`${parameter}: "${sent}" names no record of any collection`, {
    parameter,
    detail: 'it is not a global id',
    expected: 'the nodeId of a record, e.g. "task:T-7"',
    sent,
  });
}
