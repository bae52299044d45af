/** How GraphQL represents the records of a declared collection. */
import type { RecordForm } from '../../resolvers/records/page-shape.js';
import { selectedRecordMembers } from './selected-members.js';
import type { TypedCollection, TypedModel } from './typed-model.js';
import { type TypedSource, toTypedRecord } from './typed-source.js';

export function typedForm(typed: TypedCollection, model: TypedModel): RecordForm<TypedSource> {
  return {
    typeName: typed.object.typeName,
    toNode: (record) => toTypedRecord(record, typed),
    members: (nodes, info) => selectedRecordMembers(typed, nodes, { model, info }),
  };
}
