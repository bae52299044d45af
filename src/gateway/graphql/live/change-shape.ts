import {
  enumType,
  member,
  nullable,
  objectType,
  type TypeClass,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import type { RecordChange } from '../../../store/changes/commit-follower.js';
import type { Member } from '../../../store/sql/shape.js';
import type { SelectedForm } from '../../resolvers/records/page-shape.js';
import { type SelectionInfo, selectedFields } from '../../resolvers/records/selection.js';

/** The internal values are those of `RecordChange.operation`. */
export const ChangeOperation = enumType('ChangeOperation', 'The kind of a change.', {
  created: 'It was stored.',
  updated: 'It was changed.',
  deleted: 'It was removed: only its id is sent.',
});
export type ChangeOperation = ValueOf<typeof ChangeOperation>;

/** The type of a change of records of the type `record`. */
export function createChangeType(name: string, description: string, record: TypeClass): TypeClass {
  return objectType(name, description, {
    operation: member.of(ChangeOperation, 'The kind of the change.'),
    id: member.id('The id of the record.'),
    version: member.whole(
      'The version the change made. `record` may be newer: it is read when the change is sent.',
    ),
    changedAt: member.instant('When it was changed.'),
    record: nullable.of(
      record,
      'The record as it is now, as far as you may see it; null for one that was removed.',
    ),
  });
}

type ChangePart = 'operation' | 'id' | 'version' | 'changedAt';

type ChangeMember =
  | { readonly key: string; readonly kind: ChangePart }
  | { readonly key: string; readonly kind: 'constant'; readonly text: string }
  /** `selection` is an index into the shape's selections. */
  | { readonly key: string; readonly kind: 'record'; readonly selection: number };

export interface ChangeShape {
  readonly members: readonly ChangeMember[];
  /** The members read of the record, once per selection of it. */
  readonly selections: readonly (readonly Member[])[];
}

/** `typeName` is the type of the change. */
export function toChangeShape(typeName: string, form: SelectedForm, info: SelectionInfo): ChangeShape {
  const selections: (readonly Member[])[] = [];
  const members = [...selectedFields(typeName, info.fieldNodes, info)].map(([key, nodes]): ChangeMember => {
    const name = nodes[0]?.name.value;
    switch (name) {
      case 'operation':
      case 'id':
      case 'version':
      case 'changedAt':
        return { key, kind: name };
      case 'record':
        selections.push(form.members(nodes, info));
        return { key, kind: 'record', selection: selections.length - 1 };
      default:
        return { key, kind: 'constant', text: typeName };
    }
  });
  return { members, selections };
}

/**
 * The JSON text of a change. `records` are the printed selections of the shape; `undefined` for a removed
 * record.
 */
export function printChange(
  shape: ChangeShape,
  change: RecordChange,
  records: readonly string[] | undefined,
): string {
  const members = shape.members.map((member) => `${JSON.stringify(member.key)}:${print(member)}`);
  return `{${members.join(',')}}`;

  function print(member: ChangeMember): string {
    switch (member.kind) {
      case 'operation':
        return JSON.stringify(change.operation.toUpperCase());
      case 'id':
        return JSON.stringify(change.id);
      case 'version':
        return String(change.version);
      case 'changedAt':
        return JSON.stringify(change.at.toISOString());
      case 'record':
        return records?.[member.selection] ?? 'null';
      case 'constant':
        return JSON.stringify(member.text);
    }
  }
}
