/**
 * The record paths of each collection, and JSON Schemas of its records, generated from its declaration for
 * `openapi.json`: besides `/o/recs/{collection}` it lists `/o/recs/task`, which the generic routes serve.
 */

import { describeBounds, jsonSchemaOfBounds } from '../../base/model/bounds.js';
import { type Collection, type Field, mustBeSent } from '../../base/model/collection.js';
import { SCALAR_TYPES, valueKindOf } from '../../base/model/field-types/scalar-types.js';
import { RECORD_ID_PATTERN } from '../../base/model/record-id.js';
import type { CollectionInReach } from '../../store/access/access.js';
import { nullableSchema, schemaRef } from './describe-answers.js';
import type { RouteDescription, Schema } from './route.js';

/** Any record, and a list of them. */
export const RECORD: Schema = { $ref: '#/components/schemas/Record' };
export const RECORDS: Schema = { type: 'array', items: RECORD };

const RECORD_MEMBERS: Schema = {
  _id: {
    type: 'string',
    pattern: RECORD_ID_PATTERN,
    description: 'Chosen by the client on create, or generated.',
  },
  created_on: {
    type: 'string',
    format: 'date-time',
    description: 'Set to now on create if it is absent.',
  },
};

/**
 * The schema of any record, `Record`, and for each collection those of a record that is read (`TaskRecord`),
 * created (`NewTaskRecord`) and changed (`TaskRecordChanges`). Only `_id` is required in `TaskRecord`,
 * because a projection or a role may leave out every other field.
 */
export function describeRecords(collections: readonly CollectionInReach[]): Schema {
  const anyRecord: Schema = {
    type: 'object',
    description: 'The fields of a record, and its _id.',
    properties: RECORD_MEMBERS,
    additionalProperties: true,
  };
  const readable = collections.filter((one) => one.readable !== undefined);
  if (readable.length === 0) return { Record: anyRecord, AnyRecord: anyRecord, Reference: REFERENCE };
  return {
    Record: {
      description: 'A record. Collections described here have their own schema, all others have AnyRecord.',
      anyOf: [
        ...readable.map(({ collection }) => schemaRef(recordSchemaName(collection.name))),
        schemaRef('AnyRecord'),
      ],
    },
    AnyRecord: anyRecord,
    Reference: REFERENCE,
    ...Object.fromEntries(collections.flatMap(describeCollection)),
  };
}

const REFERENCE: Schema = {
  type: 'object',
  description: 'A reference to a record: its _id, and its label when the reference was written.',
  required: ['value'],
  properties: {
    value: { type: 'string', description: 'The _id of the record.' },
    label: { type: 'string', description: 'The label of the record.' },
  },
};

/**
 * `fee_receipt` becomes `FeeReceiptRecord`. A collection whose name would clash with another one's, such as
 * `a_1` with `a1`, keeps it: `Record_a_1`.
 */
export function recordSchemaName(collection: string): string {
  const words = collection.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const name = words.join('');
  const back = name.replaceAll(/(?!^)([A-Z])/g, '_$1').toLowerCase();
  const isItsOwn = back === collection && !/^(?:new_|any$)/.test(collection);
  return isItsOwn ? `${name}Record` : `Record_${collection}`;
}

export function newRecordSchemaName(collection: string): string {
  return `New${recordSchemaName(collection)}`;
}

export function changesSchemaName(collection: string): string {
  return `${recordSchemaName(collection)}Changes`;
}

function describeCollection(shown: CollectionInReach): [string, Schema][] {
  const { name } = shown.collection;
  const meaning = describeWhat(shown.collection);
  const describe = (description: string, properties: Schema, required: readonly string[] = []): Schema => ({
    type: 'object',
    description,
    ...(required.length > 0 && { required }),
    properties,
    additionalProperties: true,
  });
  const { readable, creatable, updatable } = shown;
  // Callers who may change records may also replace them.
  const whole = creatable ?? updatable;
  const schemas: [string, Schema][] = [];
  if (readable) {
    const members = { ...RECORD_MEMBERS, ...describeFields(readable, 'read') };
    schemas.push([recordSchemaName(name), describe(meaning, members, ['_id'])]);
  }
  if (whole) {
    const members = { ...RECORD_MEMBERS, ...describeFields(whole, 'write') };
    const required = whole.filter(mustBeSent).map((field) => field.name);
    schemas.push([newRecordSchemaName(name), describe(`A new record: ${meaning}`, members, required)]);
  }
  if (updatable) {
    const changes = `The fields to change; null removes one that is not required: ${meaning}`;
    schemas.push([changesSchemaName(name), describe(changes, describeFields(updatable, 'write'))]);
  }
  return schemas;
}

/** One line on what the records of a collection are. */
function describeWhat({ name, title, description }: Collection): string {
  const parts = [title, description].filter((text) => text !== '').map((text) => text.replace(/\.$/, ''));
  return `${parts.join('. ')}${parts.length === 0 ? '' : ' '}(collection ${name}).`;
}

/**
 * Stored records may be older than their declaration, so only written ones must have its required fields and
 * obey its bounds.
 */
type Use = 'read' | 'write';

function describeFields(fields: readonly Field[], use: Use): Schema {
  return Object.fromEntries(fields.map((field) => [field.name, describeField(field, use)]));
}

function describeField(field: Field, use: Use): Schema {
  const value = describeValue(field, use);
  const typed = field.isList ? { type: 'array', items: value } : value;
  const described = field.isRequired ? typed : nullableSchema(typed);
  const description = [
    ...(field.description === '' ? [] : [field.description]),
    ...(field.unit === undefined ? [] : [`Unit: ${field.unit}.`]),
    ...(field.bounds === undefined ? [] : [`Allowed: ${describeBounds(field.bounds)}.`]),
    ...(field.isUnique ? ['No two records have the same.'] : []),
    ...(field.deprecated === undefined ? [] : [`Deprecated: ${field.deprecated}`]),
  ].join(' ');
  return {
    ...described,
    ...(description !== '' && { description }),
    ...(use === 'write' &&
      field.default !== undefined &&
      field.default !== 'now' && { default: field.default }),
    ...(field.example !== undefined && { examples: [field.example] }),
    ...(field.deprecated !== undefined && { deprecated: true }),
  };
}

function describeValue(field: Field, use: Use): Schema {
  const kind = valueKindOf(field);
  switch (kind) {
    case 'reference':
      return {
        ...schemaRef('Reference'),
        ...(field.targets.length > 0 && { 'x-collections': field.targets }),
      };
    case 'object': {
      const { fields } = field;
      const required = use === 'read' ? [] : fields.filter(mustBeSent).map(({ name }) => name);
      return {
        type: 'object',
        ...(fields.length > 0 && { properties: describeFields(fields, use) }),
        ...(required.length > 0 && { required }),
      };
    }
    default:
      return {
        ...SCALAR_TYPES[kind].jsonSchema,
        ...(field.allowed && { enum: field.allowed }),
        ...(field.bounds && use === 'write' && jsonSchemaOfBounds(field.bounds)),
      };
  }
}

/** The generic route that a path is derived from, its verb, the right it needs, and its summary. */
type CollectionPath = readonly [
  of: string,
  verb: string,
  needs: Exclude<keyof CollectionInReach, 'collection'>,
  summary: (collection: string) => string,
];

const PATHS: readonly CollectionPath[] = [
  ['listRecords', 'list', 'readable', (name) => `The records of ${name} that match a filter`],
  ['queryRecords', 'query', 'readable', (name) => `The same for ${name}, with the parameters in the body`],
  ['getRecord', 'get', 'readable', (name) => `One record of ${name}, with its version as ETag`],
  ['createRecordIn', 'create', 'creatable', (name) => `Create a record of ${name}, or a list of them`],
  ['mergeRecord', 'merge', 'updatable', (name) => `Change some fields of a record of ${name}`],
  ['replaceRecord', 'replace', 'updatable', (name) => `Replace all fields of a record of ${name}`],
  ['deleteRecord', 'delete', 'mayDelete', (name) => `Remove a record of ${name}`],
];

/**
 * All routes; those of a single collection get its schemas, and one route per collection and generic path is
 * appended.
 */
export function describeCollectionPaths(
  rows: readonly RouteDescription[],
  collections: readonly CollectionInReach[],
): readonly RouteDescription[] {
  const known = new Set(rows.map(({ method, path }) => `${method} ${path}`));
  const shownByName = new Map(collections.map((shown) => [shown.collection.name, shown]));
  const own = rows.flatMap((row) => {
    const [, name] = /^\/o\/recs\/(\w+)$/.exec(row.path) ?? [];
    const shown = name === undefined ? undefined : shownByName.get(name);
    return [shown ? withSchemas(row, shown) : row];
  });
  const more = collections.flatMap((shown) =>
    PATHS.flatMap(([of, verb, needs, summary]): RouteDescription[] => {
      const row = rows.find(({ name }) => name === of);
      if (!row || !shown[needs]) return [];
      const { name } = shown.collection;
      const described = withSchemas(
        {
          ...row,
          name: `${verb}_${name}`,
          description: `As \`${of}\`, with the fields of this collection.`,
          path: row.path.replace('{collection}', name),
          summary: summary(name),
          parameters: row.parameters.filter((parameter) => parameter.name !== 'collection'),
        },
        shown,
      );
      return known.has(`${described.method} ${described.path}`) ? [] : [described];
    }),
  );
  return [...own, ...more];
}

/** The tags of the collections, for the routes of a single collection. */
export function describeCollectionTags(collections: readonly CollectionInReach[]): readonly Schema[] {
  return collections.map(({ collection }) => ({
    name: collection.name,
    description: describeWhat(collection),
  }));
}

/** The route with the schemas of this collection instead of the generic ones. */
function withSchemas(row: RouteDescription, shown: CollectionInReach): RouteDescription {
  const { name } = shown.collection;
  const read = schemaRef(shown.readable ? recordSchemaName(name) : 'AnyRecord');
  const written = schemaRef(row.method === 'PATCH' ? changesSchemaName(name) : newRecordSchemaName(name));
  const description = [row.description, describeWhat(shown.collection)].filter((text) => text !== undefined);
  return {
    ...row,
    tag: name,
    description: description.join('\n\n'),
    answers: row.answers.map((answer) =>
      answer.schema ? { ...answer, schema: narrowed(answer.schema, read) } : answer,
    ),
    ...(row.body?.kind === 'record' && {
      body: {
        ...row.body,
        schema: narrowed(row.body.schema, written),
        // The generic example is a task.
        example: name === 'task' ? row.body.example : undefined,
      },
    }),
  };
}

function narrowed(schema: Schema, to: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema).replaceAll(JSON.stringify(schemaRef('Record')), JSON.stringify(to)),
  );
}
