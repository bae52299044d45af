import type { GraphQLSchema } from 'graphql';
import type { StoredFieldsByType } from '../../../base/model/stored-field.js';

const BY_SCHEMA = new WeakMap<GraphQLSchema, StoredFieldsByType>();
const NONE: StoredFieldsByType = new Map();

/** Associates the names of a schema with their stored fields, for as long as the schema exists. */
export function keepStoredFields(schema: GraphQLSchema, fields: StoredFieldsByType): void {
  BY_SCHEMA.set(schema, fields);
}

export function storedFieldsOf(schema: GraphQLSchema): StoredFieldsByType {
  return BY_SCHEMA.get(schema) ?? NONE;
}
