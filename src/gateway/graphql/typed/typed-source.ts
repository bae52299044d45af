/**
 * Converts a record's JSON to the values of the typed schema, for graphql-js, with the same result as the SQL
 * of `store/sql/shape.ts`: a value that does not match its declared type is null, and is omitted from a list.
 */
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printJsonb,
} from '../../../base/json/json.js';
import { JsonText } from '../../../base/scalars/json-text.js';
import type { StoredRecord } from '../../../store/record-store.js';
import { TYPE_NAME, toNodeId } from '../../resolvers/records/node.js';
import { SCALAR_FORMS, type ScalarForm } from './scalar-forms.js';
import type { TypedCollection, TypedObject, TypedValue } from './typed-model.js';

/** The object from which graphql-js reads the fields of a typed record, by GraphQL name. */
export interface TypedSource {
  readonly [field: string]: unknown;
}

/** The stored part of a reference; `record` is resolved from it. */
export interface ReferenceSource {
  readonly id: string | null;
  readonly label: string | null;
}

export function toTypedRecord(record: StoredRecord, typed: TypedCollection): TypedSource {
  const stored = parseExactJson(record.json);
  return {
    [TYPE_NAME]: typed.object.typeName,
    ...toTypedObject(isJsonObject(stored) ? stored : {}, typed.object),
    id: record.id,
    nodeId: toNodeId({ form: 'typed', collection: typed.collection.name, id: record.id }),
    version: record.version,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  } as TypedSource;
}

function toTypedObject(stored: JsonObject, object: TypedObject): TypedSource {
  const source: Record<string, unknown> = {};
  for (const { name, field, value } of object.fields) {
    const own = Object.hasOwn(stored, field.name) ? stored[field.name] : undefined;
    if (own === undefined || own === null) continue;
    if (!field.isList) source[name] = toTyped(own, value);
    else if (Array.isArray(own))
      source[name] = own.map((one) => toTyped(one, value)).filter((one) => one !== null);
  }
  return source;
}

function toTyped(stored: JsonValue, value: TypedValue): unknown {
  switch (value.kind) {
    case 'enum':
      return typeof stored === 'string' && value.namesByValue.has(stored) ? stored : null;
    case 'json':
      return new JsonText(printJsonb(stored));
    case 'object':
      return isJsonObject(stored) ? toTypedObject(stored, value.object) : null;
    case 'reference':
      return isJsonObject(stored) ? toReference(stored) : null;
    default:
      return toScalar(stored, SCALAR_FORMS[value.kind].printed);
  }
}

function toScalar(stored: JsonValue, printed: ScalarForm['printed']): unknown {
  switch (printed) {
    case 'text':
      return typeof stored === 'string' ? stored : null;
    case 'number':
      return isNumber(stored) ? Number(stored.toString()) : null;
    case 'decimal':
      return isNumber(stored) ? stored : null;
    case 'boolean':
      return typeof stored === 'boolean' ? stored : null;
  }
}

function toReference({ value, label }: JsonObject): ReferenceSource {
  return {
    id: typeof value === 'string' ? value : null,
    label: typeof label === 'string' ? label : null,
  };
}

function isNumber(stored: JsonValue): stored is Extract<JsonValue, number | { isLosslessNumber: boolean }> {
  return typeof stored === 'number' || isExactNumber(stored);
}
