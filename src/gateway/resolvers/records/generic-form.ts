/** How the generic part of the schema represents a record. */
import { isJsonObject, parseExactJson, printJsonb } from '../../../base/json/json.js';
import { JsonText } from '../../../base/scalars/json-text.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import type { Shape } from '../../../store/sql/shape.js';
import type { GenericRecord } from './generic-record.js';
import { GENERIC_TYPE_NAME, recordPart, toNodeId } from './node.js';
import { type RecordForm, selectedMembers } from './page-shape.js';

export function genericForm(collection: string): RecordForm<GenericRecord> {
  return {
    typeName: GENERIC_TYPE_NAME,
    toNode: (record) => toGenericRecord(record, collection),
    members: (nodes, info) =>
      selectedMembers(GENERIC_TYPE_NAME, nodes, info, (name) => shapeOf(name, collection)),
  };
}

export function toGenericRecord(record: StoredRecord, collection: string): GenericRecord {
  return {
    id: record.id,
    nodeId: toNodeId({ form: 'generic', collection, id: record.id }),
    collection,
    version: record.version,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    data: new JsonText(withoutId(record.json)),
  };
}

function shapeOf(name: string, collection: string): Shape | undefined {
  if (name === 'collection') return { kind: 'constant', text: collection };
  if (name === 'data') return { kind: 'fields' };
  return recordPart(name, { form: 'generic', collection });
}

/** Removes the id: the store's JSON has it among the fields, GraphQL next to them. */
function withoutId(json: string): string {
  const stored = parseExactJson(json);
  if (!isJsonObject(stored)) return json;
  const { _id: _, ...fields } = stored;
  return printJsonb(fields);
}
