/**
 * The records of each declared collection as JSON Schemas, drawn from its declaration, for `openapi.json`.
 */

import type { Collection, Field } from '../model/collection.js';
import { SCALAR_TYPES, valueKindOf } from '../model/field-types/scalar-types.js';
import { RECORD_ID_PATTERN } from '../model/record-id.js';
import type { Schema } from './route.js';

const RECORD_MEMBERS: Schema = {
  _id: {
    type: 'string',
    pattern: RECORD_ID_PATTERN,
    description: 'On create chosen by the client, or made.',
  },
  created_on: {
    type: 'string',
    format: 'date-time',
    description: 'On create set to now where it is absent.',
  },
};

/**
 * The schema of a record of any collection, `Record`, and for each collection what is read (`TaskRecord`) and
 * what a new one needs (`NewTaskRecord`). Of what is read no field is required: a projection, or a role from
 * which a field is hidden, leaves it out.
 */
export function describeRecords(collections: readonly Collection[]): Schema {
  const any: Schema = {
    type: 'object',
    description: 'The fields of a record, and its _id.',
    properties: RECORD_MEMBERS,
    additionalProperties: true,
  };
  if (collections.length === 0) return { Record: any };
  return {
    Record: {
      description: 'A record: of a declared collection as its schema says, of any other as AnyRecord.',
      anyOf: [
        ...collections.map(({ name }) => name).map(recordRef),
        { $ref: '#/components/schemas/AnyRecord' },
      ],
    },
    AnyRecord: any,
    Reference: {
      type: 'object',
      description: 'A reference to a record: its _id, and what it was called when the reference was written.',
      required: ['value'],
      properties: { value: { type: 'string' }, label: { type: 'string' } },
    },
    ...Object.fromEntries(collections.flatMap(describeCollection)),
  };
}

/** The reference to the schema of a collection's records. */
export function recordRef(collection: string): Schema {
  return { $ref: `#/components/schemas/${schemaName(collection)}` };
}

/** `fee_receipt` is `FeeReceiptRecord`. */
export function schemaName(collection: string): string {
  const words = collection.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Record`;
}

function describeCollection({ name, title, description, fields }: Collection): [string, Schema][] {
  const said = [title, description].filter((text) => text !== undefined && text !== '').join('. ');
  const read: Schema = {
    type: 'object',
    description: `${said === '' ? '' : `${said} `}(collection ${name})`,
    properties: { ...RECORD_MEMBERS, ...describeFields(fields) },
    additionalProperties: true,
  };
  const required = fields.filter(isNeeded).map((field) => field.name);
  const created: Schema = { allOf: [recordRef(name), ...(required.length > 0 ? [{ required }] : [])] };
  return [
    [schemaName(name), read],
    [`New${schemaName(name)}`, created],
  ];
}

/** What has a default need not be sent. */
function isNeeded(field: Field): boolean {
  return field.isRequired && field.default === undefined;
}

function describeFields(fields: readonly Field[]): Schema {
  return Object.fromEntries(fields.map((field) => [field.name, describeField(field)]));
}

function describeField(field: Field): Schema {
  const value = describeValue(field);
  const typed = field.isList ? { type: 'array', items: value } : value;
  const unit = field.unit === undefined ? '' : ` Unit: ${field.unit}.`;
  return {
    ...(field.isRequired ? typed : orNull(typed)),
    ...((field.description !== '' || unit !== '') && { description: `${field.description}${unit}` }),
    ...(field.example !== undefined && { examples: [field.example] }),
    ...(field.deprecated !== undefined && { deprecated: true }),
  };
}

function describeValue(field: Field): Schema {
  const kind = valueKindOf(field);
  switch (kind) {
    case 'reference':
      return { $ref: '#/components/schemas/Reference' };
    case 'object': {
      const { fields } = field;
      return { type: 'object', ...(fields.length > 0 && { properties: describeFields(fields) }) };
    }
    default:
      return { ...SCALAR_TYPES[kind].jsonSchema, ...(field.allowed && { enum: field.allowed }) };
  }
}

/** A field that is not required may hold null. */
function orNull(schema: Schema): Schema {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const { enum: allowed } = schema;
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(Array.isArray(allowed) && { enum: [...allowed, null] }),
  };
}
