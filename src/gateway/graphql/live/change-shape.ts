/** The selection of a document on a change, and the printed change. */

import type { RecordChange } from '../../../store/changes/change-feed.js';
import type { Member } from '../../../store/sql/shape.js';
import type { SelectedForm } from '../../resolvers/records/page-shape.js';
import { type SelectionInfo, selectedFields } from '../../resolvers/records/selection.js';
import type { CHANGE_FIELDS } from './record-change-event.js';

type ChangePart = Exclude<keyof typeof CHANGE_FIELDS, 'record'>;

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
