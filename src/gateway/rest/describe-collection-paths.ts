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

/** The generic route that a path is derived from, its verb, the right it needs, and its summary. */
type CollectionPath = readonly [
  of: string,
  verb: string,
  needs: Exclude<keyof CollectionInReach, 'collection'>,
  summary: (collection: string) => string,
];

const PATHS: readonly CollectionPath[] = [
  ['listRecords', 'list', 'readable', (name) => `The records of ${name} that match a filter`],
  ['queryRecords', 'query', 'readable', (name) => `The same of ${name}, the parameters in the body`],
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
