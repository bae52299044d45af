/** The routes that read and write records. @see interface 4.2–4.4, decisions 3–5 */

import { ServiceError } from '../errors.js';
import { isUnchanged } from '../etag.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { OQUERY_SYNTAX } from '../languages/oquery.js';
import { parseProjectParameter, parseSortParameter } from '../languages/sort-parameter.js';
import type { Filter } from '../model/filter.js';
import { RECORD_ID_PATTERN } from '../model/record-id.js';
import type { Domain, RecordVerb } from '../model/scope.js';
import { todayIn } from '../reports/engine/school-calendar.js';
import type { RecordsRequest } from '../resolvers/records/record-resolver.js';
import { requireScope } from '../resolvers/request-context.js';
import type { StoredRecord } from '../store/record-store.js';
import { FORMATS } from '../tables/format.js';
import { type Answer, jsonAnswer } from './answer.js';
import { answerChanges, answerRecords, MAX_PAGE } from './answer-records.js';
import { COLLECTION_READS, type CollectionParameter } from './collection-parameters.js';
import { assertNoIfNoneMatch, parseIfMatch, printEtag } from './conditional.js';
import { FORMAT_PARAMETERS } from './format-parameters.js';
import { invalidParameter, parseCount, parseFlag } from './parameter-reader.js';
import {
  type Asked,
  type Method,
  type Parameter,
  type RestRequest,
  type Route,
  type Schema,
  via,
} from './route.js';
import { PREFER_COUNT, withTotalCount } from './total-count.js';
import { parseWhereParameter, WHERE } from './where-parameter.js';

export const COLLECTION: Parameter = {
  name: 'collection',
  in: 'path',
  isRequired: true,
  description: 'the collection, e.g. task',
  schema: { type: 'string' },
  example: 'task',
};
export const RECORD_ID: Parameter = {
  name: 'id',
  in: 'path',
  isRequired: true,
  description: "the record's _id",
  schema: { type: 'string', pattern: RECORD_ID_PATTERN },
};
const PROJECT: Parameter = inQuery(
  'project',
  'fields to return, separated by commas; paths with dots. Always with _id',
  {
    schema: { type: 'string' },
    example: 'name,amount',
  },
);
const PROJECTION: Parameter = {
  ...PROJECT,
  name: 'projection',
  description: 'another name of project',
};
const STREAM: Parameter = inQuery('stream', 'true: streamed in any case; or left out', {
  schema: { type: 'string', const: 'true' },
});

/** @see interface 4.2, 4.3, decisions 3 (which adds sort, limit, skip, after and ci) */
const READ_PARAMETERS: readonly Parameter[] = [
  STREAM,
  PROJECT,
  PROJECTION,
  inQuery('oquery', `a filter: ${OQUERY_SYNTAX}`, {
    schema: { type: 'string', maxLength: 4096 },
    example: 'amount=>100,name=*chair',
  }),
  WHERE,
  inQuery('ci', 'true: text operators of oquery ignore case', { schema: { type: 'boolean' } }),
  inQuery('sort', 'fields to sort by, separated by commas; - in front: descending. Ties by _id', {
    schema: { type: 'string' },
    example: '-created_on,name',
  }),
  inQuery(
    'limit',
    `at most so many records. Without stream, and up to ${MAX_PAGE}, the answer has a Link to the next page`,
    {
      schema: { type: 'integer', minimum: 1 },
    },
  ),
  inQuery('skip', 'leave out so many records first', { schema: { type: 'integer', minimum: 0 } }),
  inQuery('after', 'a cursor, from X-Next-Cursor: only what comes after it', { schema: { type: 'string' } }),
  inQuery(
    'since',
    'an instant, or a day: only what changed then or later, and of what was removed `_id` and `$removed`, ' +
      'by _id. Without sort, limit, skip and after. X-Next-Since is to be said next time',
    { schema: { type: 'string' } },
  ),
  ...FORMAT_PARAMETERS,
];

export const RECORD: Schema = { $ref: '#/components/schemas/Record' };
const RECORDS: Schema = { type: 'array', items: RECORD };
export const IF_MATCH: Parameter = header('If-Match', 'the ETag the record must still have, else 412');
export const IDEMPOTENCY_KEY: Parameter = header(
  'Idempotency-Key',
  'makes a repeated request answer as the first did, for 24 hours',
);
export const READ_ERRORS = [
  'MALFORMED_REQUEST',
  'MALFORMED_FILTER',
  'INVALID_VALUE',
  'LIMIT_EXCEEDED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'NOT_ACCEPTABLE',
  'GONE',
] as const;
export const WRITE_ERRORS = [
  'MALFORMED_REQUEST',
  'INVALID_VALUE',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'NOT_ACCEPTABLE',
  'CONFLICT',
  'IDEMPOTENCY_CONFLICT',
  'GONE',
  'TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] as const;

/**
 * Reads of any collection, with separate routes for collections that have documented parameters. POST reads
 * too, with the parameters in the body, for those too long for a URL.
 */
const READ_ROUTES: readonly Route[] = [
  listRoute('GET', undefined, []),
  listRoute('POST', undefined, []),
  ...COLLECTION_READS.flatMap(({ collection, methods, parameters }) =>
    methods.map((method) => listRoute(method, collection, parameters)),
  ),
];

const getRecord: Route = {
  name: 'getRecord',
  method: 'GET',
  path: '/o/recs/{collection}/{id}',
  group: 'Records',
  summary: 'One record, with its version as ETag',
  description:
    'Fields that are hidden from the caller are left out, as are those that `project` does not name.',
  parameters: [
    COLLECTION,
    RECORD_ID,
    STREAM,
    PROJECT,
    PROJECTION,
    header('If-None-Match', 'an ETag: 304 if the record still has it'),
  ],
  answers: [
    { status: 200, description: 'The record.', schema: RECORD, headers: ['ETag'] },
    { status: 304, description: 'The record still has that ETag.', headers: ['ETag'] },
  ],
  errors: READ_ERRORS,
  isOpen: false,
  formats: ['json'],
  assertAllowed: allowedTo('read'),
  ...via('records', ['record'], async (records, request) => {
    assertStream(request.parameters.stream);
    const projection = projectionOf(request.parameters);
    const record = await records.record(request.context, {
      ...recordAddress(request),
      ...(projection && { projection }),
    });
    const etag = printEtag(record.version);
    if (isUnchanged(request.headers['if-none-match'], printEtag(record.version))) {
      return { kind: 'empty', status: 304, headers: { etag } };
    }
    return jsonAnswer(record.json, { headers: { etag } });
  }),
};

const deleteRecord: Route = {
  name: 'deleteRecord',
  method: 'DELETE',
  path: '/o/recs/{collection}/{id}',
  group: 'Records',
  summary: 'Remove a record; read again, it is gone (410)',
  description: 'With `If-Match` only while it has that ETag. Records that point to it stay as they are.',
  parameters: [COLLECTION, RECORD_ID, IF_MATCH, IDEMPOTENCY_KEY],
  answers: [{ status: 204, description: 'Removed.' }],
  errors: [...WRITE_ERRORS, 'VERSION_CONFLICT'],
  isOpen: false,
  formats: ['json'],
  assertAllowed: allowedTo('delete'),
  ...via('records', ['deleteRecord'], async (records, request) => {
    assertNoIfNoneMatch(request.headers['if-none-match']);
    await records.deleteRecord(request.context, {
      ...recordAddress(request),
      ifVersion: parseIfMatch(request.headers['if-match']),
    });
    return { kind: 'empty', status: 204 };
  }),
};

/** @see decisions 5 */
const createInCollection: Route = {
  ...createRoute('createRecordIn', '/o/{collection}'),
  summary: 'Create a record, or a list of them all or none; the collection named in the path',
  parameters: [COLLECTION, COLLECTION_QUERY('must agree with the path'), IDEMPOTENCY_KEY],
};

const create: Route = {
  ...createRoute('createRecord', '/o/'),
  summary: 'Create a record, or a list of them all or none; the collection named by parameter or _collection',
  parameters: [COLLECTION_QUERY('where the body has no _collection'), IDEMPOTENCY_KEY],
};

export const RECORD_ROUTES: readonly Route[] = [
  ...READ_ROUTES,
  getRecord,
  updateRoute('PATCH', 'merge'),
  updateRoute('PUT', 'replace'),
  deleteRecord,
  create,
  createInCollection,
];

function listRoute(
  method: 'GET' | 'POST',
  collection: string | undefined,
  extra: readonly CollectionParameter[],
): Route {
  return {
    name: `${method === 'GET' ? 'list' : 'query'}${collection === undefined ? 'Records' : `_${collection}`}`,
    method,
    path: `/o/recs/${collection ?? '{collection}'}`,
    group: 'Records',
    summary:
      `The records of ${collection ?? 'a collection'} that match a ` +
      `filter${method === 'POST' ? ', the parameters in the body' : ''}`,
    description:
      'Streamed: the answer may be of any length. As JSON, NDJSON (one record a line), CSV, XLSX or ' +
      'Parquet, by Accept or format: in the last three a column is a declared field, its members as ' +
      '`student.value`, and the last column `…` has as JSON text what the others do not give back, such ' +
      'as undeclared fields. A failure on the way cuts the connection.',
    parameters: [
      ...(collection === undefined ? [COLLECTION] : []),
      ...READ_PARAMETERS,
      ...extra,
      PREFER_COUNT,
    ],
    ...(method === 'POST' && {
      body: {
        kind: 'parameters' as const,
        refusesNull: true as const,
        isRequired: false,
        description: 'The parameters, where they are not in the query.',
        schema: { type: 'object' },
      },
    }),
    answers: [
      {
        status: 200,
        description: 'The records.',
        schema: RECORDS,
        headers: ['Link', 'X-Next-Cursor', 'X-Next-Since', 'X-Total-Count', 'Preference-Applied'],
      },
    ],
    errors: READ_ERRORS,
    isOpen: false,
    formats: FORMATS,
    assertAllowed: allowedTo('read', collection),
    // Without a limit, all records.
    urgencyOf: ({ limit }) => (Number(limit ?? Number.POSITIVE_INFINITY) <= MAX_PAGE ? 'short' : 'stream'),
    ...via('records', ['records', 'parseSince'], async (records, request) => {
      const wanted = readRecordsRequest(collection ?? pathOf(request, 'collection'), extra, request);
      const { since } = request.parameters;
      const found = records.records(request.context, wanted);
      if (since === undefined)
        return await withTotalCount(await answerRecords(found, wanted, request), found, request);
      assertUnordered(request.parameters);
      const changes = { ...wanted, since: records.parseSince(request.context, since) };
      return await answerChanges(found, changes, request);
    }),
  };
}

/** Whether the caller may do this with records of the collection in the route, its path or its query. */
export function allowedTo(verb: RecordVerb, named?: string): NonNullable<Route['assertAllowed']> {
  return ({ resolvers }, { context, path, query }: Asked) => {
    const collection = named ?? path.collection ?? query.collection;
    if (typeof collection === 'string') resolvers.records.assertAllowed(context, collection, verb);
  };
}

function readRecordsRequest(
  collection: string,
  extra: readonly CollectionParameter[],
  { context, parameters }: RestRequest,
): RecordsRequest {
  assertStream(parameters.stream);
  const { oquery, where, ci, sort, limit, skip, after } = parameters;
  const filter = extra.length === 0 ? undefined : filterOf(extra, parameters, requireScope(context).domain);
  return {
    collection,
    oquery: oquery === '' ? undefined : oquery,
    where: where === undefined || where === '' ? undefined : parseWhereParameter(where),
    isInsensitive: ci === undefined ? undefined : parseFlag('ci', ci),
    filter,
    projection: projectionOf(parameters),
    sort: sort === undefined ? undefined : parseSortParameter(sort),
    limit: limit === undefined ? undefined : parseCount('limit', limit, 1),
    skip: skip === undefined ? undefined : parseCount('skip', skip, 0),
    after: after === '' ? undefined : after,
  };
}

/** @throws MALFORMED_REQUEST (400) for parameters that would omit changes which no later request asks for */
function assertUnordered(parameters: RestRequest['parameters']): void {
  const named = ['sort', 'limit', 'skip', 'after'].find((name) => parameters[name] !== undefined);
  if (named === undefined) return;
  const detail = `With since all that has changed is told, by _id: it takes no ${named}.`;
  throw new ServiceError('MALFORMED_REQUEST', detail, { errors: [{ detail, parameter: named }] });
}

/** Combines the conditions of the parameters that were sent. */
function filterOf(
  extra: readonly CollectionParameter[],
  parameters: RestRequest['parameters'],
  domain: Domain,
): Filter | undefined {
  const sent = extra.flatMap((parameter) => {
    const text = parameters[parameter.name];
    return text === undefined ? [] : [{ parameter, text }];
  });
  if (sent.length === 0) return undefined;
  const day = todayIn(domain.timeZone, new Date());
  return { kind: 'all', filters: sent.map(({ parameter, text }) => parameter.toFilter(text, day)) };
}

function updateRoute(method: Method & ('PATCH' | 'PUT'), mode: 'merge' | 'replace'): Route {
  return {
    name: `${mode}Record`,
    method,
    path: '/o/recs/{collection}/{id}',
    group: 'Records',
    summary: mode === 'merge' ? 'Change some fields of a record' : 'Replace all fields of a record',
    description:
      'Checked by what the declaration of the collection says of it. With `If-Match` only while the record ' +
      'has that ETag.',
    parameters: [COLLECTION, RECORD_ID, IF_MATCH, IDEMPOTENCY_KEY],
    body: {
      kind: 'record',
      isRequired: true,
      description: mode === 'merge' ? 'The fields to change; null removes one.' : 'All fields of the record.',
      schema: RECORD,
      example: mode === 'merge' ? { amount: 120 } : { name: 'Chairs for 5-A', amount: 120 },
    },
    answers: [{ status: 200, description: 'The record as it is now.', schema: RECORD, headers: ['ETag'] }],
    errors: [...WRITE_ERRORS, 'VERSION_CONFLICT'],
    isOpen: false,
    formats: ['json'],
    assertAllowed: allowedTo('update'),
    ...via('records', ['updateRecord'], async (records, request) => {
      assertNoIfNoneMatch(request.headers['if-none-match']);
      const address = recordAddress(request);
      const record = await records.updateRecord(request.context, {
        ...address,
        data: withoutAddress(asRecord(request.body, ''), address),
        mode,
        ifVersion: parseIfMatch(request.headers['if-match']),
      });
      return jsonAnswer(record.json, { headers: { etag: printEtag(record.version) } });
    }),
  };
}

function createRoute(name: string, path: string): Omit<Route, 'summary' | 'parameters'> {
  return {
    name,
    method: 'POST',
    path,
    group: 'Records',
    description:
      'Checked by what the declaration of the collection says of it. With `Idempotency-Key` a request that ' +
      'is sent again makes nothing twice.',
    body: {
      kind: 'record',
      isRequired: true,
      description: 'The record, or a list of records. _collection names the collection and is not stored.',
      schema: { anyOf: [RECORD, RECORDS] },
      example: { name: 'Chairs for 5-A', amount: 1250.5 },
    },
    answers: [
      {
        status: 201,
        description: 'The stored record, or the list of them.',
        schema: { anyOf: [RECORD, RECORDS] },
        headers: ['Location', 'ETag'],
      },
    ],
    errors: WRITE_ERRORS,
    isOpen: false,
    formats: ['json'],
    assertAllowed: allowedTo('create'),
    ...via('records', ['createRecord', 'createRecords'], async (records, request) => {
      const { collection, data, isList } = readCreation(request);
      if (isList) {
        const created = await records.createRecords(request.context, { collection, data });
        return jsonAnswer(`[${created.map((record) => record.json).join(',')}]`, { status: 201 });
      }
      const [only = {}] = data;
      return answerCreated(
        collection,
        await records.createRecord(request.context, { collection, data: only }),
      );
    }),
  };
}

function answerCreated(collection: string, record: StoredRecord): Answer {
  const location = `/o/recs/${encodeURIComponent(collection)}/${encodeURIComponent(record.id)}`;
  return jsonAnswer(record.json, { status: 201, headers: { location, etag: printEtag(record.version) } });
}

interface Creation {
  readonly collection: string;
  readonly data: readonly JsonObject[];
  readonly isList: boolean;
}

/** @throws MALFORMED_REQUEST (400) if the collection is not named, or named twice. @see decisions 5 */
function readCreation(request: RestRequest): Creation {
  const isList = Array.isArray(request.body);
  const members: readonly JsonValue[] = Array.isArray(request.body) ? request.body : [request.body ?? null];
  const data: JsonObject[] = [];
  let collection = agreed(request.path.collection, request.parameters.collection, 'collection');
  members.forEach((member, index) => {
    const pointer = isList ? `/${index}` : '';
    const { _collection: named, ...fields } = asRecord(member, pointer);
    if (named !== undefined) {
      if (typeof named !== 'string') throw bodyFault('_collection is to be a text', `${pointer}/_collection`);
      collection = agreed(collection, named, `${pointer}/_collection`);
    }
    data.push(fields);
  });
  if (collection === undefined || collection === '') {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      'Name the collection in one of three ways: POST /o/<collection>, POST /o/?collection=<name>, ' +
        'or a _collection member of the body.',
    );
  }
  return { collection, data, isList };
}

function agreed(before: string | undefined, named: string | undefined, where: string): string | undefined {
  if (before === undefined || named === undefined || before === named) return named ?? before;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    `The collection is named twice, as ${JSON.stringify(before)} and (${where}) as ${JSON.stringify(named)}.`,
  );
}

/** An `_id` or `_collection` in the record must match the one in the path. */
function withoutAddress(
  record: JsonObject,
  address: { readonly id: string; readonly collection: string },
): JsonObject {
  const { _id, _collection, ...fields } = record;
  if (_id !== undefined && _id !== address.id) {
    throw bodyFault(`_id is ${JSON.stringify(address.id)} by the path and cannot be changed`, '/_id');
  }
  if (_collection !== undefined && _collection !== address.collection) {
    throw bodyFault(`_collection is ${JSON.stringify(address.collection)} by the path`, '/_collection');
  }
  return fields;
}

export function asRecord(value: JsonValue | undefined, pointer: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw bodyFault('expected a JSON object, the record', pointer);
}

function bodyFault(detail: string, pointer: string): ServiceError {
  return new ServiceError('MALFORMED_REQUEST', `The body: ${detail}.`, { errors: [{ detail, pointer }] });
}

/** @see interface 4.2 (`stream` has the fixed value true), decisions 3 (it may be absent) */
function assertStream(text: string | undefined): void {
  if (text !== undefined && text !== 'true') throw invalidParameter('stream', text, 'true, the only value');
}

/** One table of the interface calls `project` `projection`. */
function projectionOf(parameters: RestRequest['parameters']): RecordsRequest['projection'] {
  const { project, projection } = parameters;
  if (project !== undefined && projection !== undefined && project !== projection) {
    throw invalidParameter('projection', projection, 'the same as project, of which it is another name');
  }
  const text = project ?? projection;
  return text === undefined || text === '' ? undefined : parseProjectParameter(text);
}

export function recordAddress(request: RestRequest): { readonly collection: string; readonly id: string } {
  return { collection: pathOf(request, 'collection'), id: pathOf(request, 'id') };
}

function pathOf(request: RestRequest, name: string): string {
  return request.path[name] ?? '';
}

function COLLECTION_QUERY(role: string): Parameter {
  return inQuery('collection', `the collection, ${role}`, { schema: { type: 'string' }, example: 'task' });
}

export function inQuery(
  name: string,
  description: string,
  options: { readonly schema: Schema; readonly example?: unknown },
): Parameter {
  return { name, in: 'query', isRequired: false, description, ...options };
}

function header(name: string, description: string): Parameter {
  return { name, in: 'header', isRequired: false, description, schema: { type: 'string' } };
}
