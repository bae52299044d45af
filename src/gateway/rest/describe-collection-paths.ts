/**
 * The record paths for each collection, for `openapi.json`: beside `/o/recs/{collection}` it lists
 * `/o/recs/task`, with the schemas of a task. They are served by the generic routes.
 */
import type { CollectionInReach } from '../../store/access/access.js';
import { schemaRef } from './describe-answers.js';
import {
  changesSchemaName,
  describeWhat,
  newRecordSchemaName,
  recordSchemaName,
} from './describe-records.js';
import type { RouteDescription, Schema } from './route.js';

type Right = 'read' | 'create' | 'update' | 'delete';

interface CollectionPath {
  /** The name of the generic route it is derived from. */
  readonly of: string;
  readonly verb: string;
  readonly needs: readonly Right[];
  readonly summary: (collection: string) => string;
}

const PATHS: readonly CollectionPath[] = [
  path('listRecords', 'list', ['read'], (name) => `The records of ${name} that match a filter`),
  path('queryRecords', 'query', ['read'], (name) => `The same of ${name}, the parameters in the body`),
  path('getRecord', 'get', ['read'], (name) => `One record of ${name}, with its version as ETag`),
  path('createRecordIn', 'create', ['create'], (name) => `Create a record of ${name}, or a list of them`),
  path('mergeRecord', 'merge', ['update'], (name) => `Change some fields of a record of ${name}`),
  path('replaceRecord', 'replace', ['update'], (name) => `Replace all fields of a record of ${name}`),
  path('deleteRecord', 'delete', ['delete'], (name) => `Remove a record of ${name}`),
];

function path(
  of: string,
  verb: string,
  needs: readonly Right[],
  summary: CollectionPath['summary'],
): CollectionPath {
  return { of, verb, needs, summary };
}

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
    PATHS.flatMap((one): RouteDescription[] => {
      const row = rows.find(({ name }) => name === one.of);
      if (!row || !one.needs.every((right) => has(shown, right))) return [];
      const { name } = shown.collection;
      const described = withSchemas(
        {
          ...row,
          name: `${one.verb}_${name}`,
          description: `As \`${one.of}\`, with the fields of this collection.`,
          path: row.path.replace('{collection}', name),
          summary: one.summary(name),
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

function has(shown: CollectionInReach, right: Right): boolean {
  switch (right) {
    case 'read':
      return shown.readable !== undefined;
    case 'create':
      return shown.creatable !== undefined;
    case 'update':
      return shown.updatable !== undefined;
    case 'delete':
      return shown.mayDelete;
  }
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
