/** Converts the input of a typed mutation to the JSON that is stored. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import type { TypedObject, TypedValue } from './typed-model.js';

/**
 * An input object as coerced by graphql-js: fields by GraphQL name, scalars and enums in their internal form.
 */
export interface InputValues {
  readonly [field: string]: unknown;
}

export function toStoredFields(input: InputValues, object: TypedObject): JsonObject {
  const stored: Record<string, JsonValue> = {};
  for (const { name, field, value } of object.fields) {
    const sent = input[name];
    if (sent !== undefined) stored[field.name] = toStoredInput(sent, value);
  }
  return stored;
}

/** One value, or a list of them. */
function toStoredInput(sent: unknown, value: TypedValue): JsonValue {
  if (sent === null) return null;
  if (Array.isArray(sent)) return sent.map((element: unknown) => toStoredInput(element, value));
  if (value.kind === 'object' && isInput(sent)) return toStoredFields(sent, value.object);
  if (value.kind === 'reference' && isInput(sent)) return toStoredReference(sent);
  // The scalars have validated it, and produce JSON.
  return sent as JsonValue;
}

/** The values that are not null, within objects too. */
export function withoutNulls(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === null ? [] : [[name, isJsonObject(value) ? withoutNulls(value) : value]],
    ),
  );
}

function toStoredReference(sent: InputValues): JsonValue {
  const { id, label } = sent;
  if (typeof label === 'string') return { value: String(id), label };
  return { value: String(id) };
}

function isInput(sent: unknown): sent is InputValues {
  return typeof sent === 'object' && sent !== null;
}
