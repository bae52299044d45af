/** The parts of a route's path that name its record or collection. */
import { RECORD_ID_PATTERN } from '../../base/model/record-id.js';
import type { RecordVerb } from '../../base/model/scope.js';
import { inPath, type RequestHead, type RestRequest, type Route } from './route.js';

export const COLLECTION = inPath('collection', 'the collection, e.g. task', { example: 'task' });
export const RECORD_ID = inPath('id', "the record's _id", {
  schema: { type: 'string', pattern: RECORD_ID_PATTERN },
});

export function recordAddress(request: RestRequest): { readonly collection: string; readonly id: string } {
  return { collection: collectionIn(request), id: request.path.id ?? '' };
}

export function collectionIn(request: RestRequest): string {
  return request.path.collection ?? '';
}

/** Whether the caller may do this with records of the collection in the route, its path or its query. */
export function allowedTo(verb: RecordVerb, named?: string): NonNullable<Route['assertAllowed']> {
  return ({ resolvers }, { context, path, query }: RequestHead) => {
    const collection = named ?? path.collection ?? query.collection;
    if (typeof collection === 'string') resolvers.records.assertAllowed(context, collection, verb);
  };
}
