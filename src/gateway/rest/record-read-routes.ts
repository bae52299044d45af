/** The routes that read records. @see interface 4.2, 4.3, decisions 3, 4 */
import { faultAt, tryTo } from '../../base/errors.js';
import { isUnchanged } from '../../base/http/etag.js';
import { isJsonObject, type JsonObject, parseSentJson } from '../../base/json/json.js';
import { OQUERY_SYNTAX } from '../../base/languages/oquery.js';
import { parseProjectParameter, parseSortParameter } from '../../base/languages/sort-parameter.js';
import { toFlag } from '../../base/model/field-types/boolean.js';
import type { Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { FORMATS } from '../../base/tables/format.js';
import type { RecordsRequest } from '../resolvers/records/record-resolver.js';
import { answerChanges, answerRecords, MAX_PAGE, PREFER_COUNT, withTotalCount } from './answer-records.js';
import { assertNamed, readCollectionFilters } from './collection-filter.js';
import { COLLECTION_READS, type CollectionParameter } from './collection-parameters.js';
import { printEtag } from './conditional.js';
import { RECORD, RECORDS } from './describe-records.js';
import { expandReferences } from './expand-references.js';
import { FORMAT_PARAMETERS } from './format-parameters.js';
import { invalidParameter, parseCount, readFlag } from './parameter-reader.js';
import { allowedTo, COLLECTION, collectionIn, RECORD_ID, recordAddress } from './record-address.js';
import { REPORT_ERRORS } from './report-routes.js';
import {
  inHeader,
  inQuery,
  jsonAnswer,
  ok,
  type Parameter,
  parametersBody,
  type RestRequest,
  type Route,
  via,
} from './route.js';

const EXPECTED = 'a JSON object, such as {"amount": {"greaterThan": 100}}';

const WHERE = inQuery(
  'where',
  'the `where` of GraphQL as JSON, for conditions that oquery does not have: or, not, in, isNull, and ' +
    'conditions on referenced records. Combined with oquery by and. In a body, the object itself',
  {
    schema: { type: 'string', contentMediaType: 'application/json' },
    // Collections have no other field in common.
    example: '{"or":[{"_id":{"equals":"mend-the-roof"}},{"not":{"_id":{"in":["a","b"]}}}]}',
    isJson: true,
  },
);

/** @throws MALFORMED_FILTER (400) unless it is a JSON object */
function parseWhereParameter(text: string): JsonObject {
  const value = tryTo(() => parseSentJson(text));
  if (isJsonObject(value)) return value;
  const sent = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  throw invalidParameter('where', sent, EXPECTED, 'MALFORMED_FILTER');
}

const PROJECT: Parameter = inQuery(
  'project',
  'fields to return, separated by commas; paths have dots. _id is always returned',
  { example: 'name,amount' },
);
const PROJECTION: Parameter = {
  ...PROJECT,
  name: 'projection',
  description: 'another name for project',
};
const STREAM: Parameter = inQuery('stream', 'true: always stream the answer; the only value', {
  schema: { type: 'boolean', const: true },
});

const EXPAND: Parameter = inQuery(
  'expand',
  'references, separated by commas; each gets the record that it points to as `record`',
);

/** Which records, and in which order. */
export const FILTER_PARAMETERS: readonly Parameter[] = [
  inQuery('oquery', `a filter: ${OQUERY_SYNTAX}`, {
    schema: { type: 'string', maxLength: 4096 },
    example: 'amount=>100,name=*chair',
  }),
  WHERE,
  inQuery('ci', 'true: text operators of oquery ignore case', { schema: { type: 'boolean' } }),
  inQuery('sort', 'fields to sort by, separated by commas; a leading - means descending. Ties by _id', {
    example: '-created_on,name',
  }),
  inQuery('limit', 'the most records to return', { schema: { type: 'integer', minimum: 1 } }),
];

/** @see interface 4.2, 4.3, decisions 3 (which adds sort, limit, skip, after and ci) */
const READ_PARAMETERS: readonly Parameter[] = [
  STREAM,
  PROJECT,
  PROJECTION,
  ...FILTER_PARAMETERS.slice(0, -1),
  inQuery(
    'limit',
    `the most records to return. Up to ${MAX_PAGE} without stream, the answer has a Link to the next page`,
    {
      schema: { type: 'integer', minimum: 1 },
    },
  ),
  inQuery('skip', 'how many records to skip', { schema: { type: 'integer', minimum: 0 } }),
  inQuery('after', 'a cursor, from X-Next-Cursor: only records after it'),
  inQuery(
    'since',
    'an instant or a day: only records that changed then or later, ordered by _id; a removed one has only ' +
      '_id and $removed. Not with sort, limit, skip or after. Pass X-Next-Since as `since` in the next ' +
      'request',
  ),
  ...FORMAT_PARAMETERS,
  {
    ...EXPAND,
    description:
      `JSON and NDJSON: ${EXPAND.description}. CSV, XLSX and Parquet: a field that is a list of objects, ` +
      'e.g. `lines`. A row for each element, with the other columns of the record repeated',
  },
];

export const READ_ERRORS = [...REPORT_ERRORS, 'MALFORMED_FILTER', 'GONE'] as const;
/**
 * Reads of any collection, with separate routes for collections that have documented parameters. POST reads
 * too, with the parameters in the body, for those too long for a URL.
 */
const LIST_ROUTES: readonly Route[] = [
  listRoute('GET', undefined, []),
  listRoute('POST', undefined, []),
  ...COLLECTION_READS.flatMap(({ collection, methods = ['GET', 'POST'], parameters }) =>
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
    EXPAND,
    inHeader('If-None-Match', 'an ETag: 304 if the record still has it'),
  ],
  answers: [
    ok('The record.', RECORD, 'ETag'),
    { status: 304, description: 'The record still has that ETag.', headers: ['ETag'] },
  ],
  errors: READ_ERRORS,
  assertAllowed: allowedTo('read'),
  ...via('records', ['record', 'records'], async (records, request) => {
    assertStream(request.parameters.stream);
    const address = recordAddress(request);
    const expand =
      request.parameters.expand === undefined
        ? undefined
        : expandReferences({ set: records.records(request.context, address), records, request });
    const projection = projectionOf(request.parameters);
    const record = await records.record(request.context, { ...address, ...(projection && { projection }) });
    // Without an ETag, because the version of the record does not cover the referenced records.
    if (expand) return jsonAnswer((await expand([record.json]))[0] ?? record.json);
    const etag = printEtag(record.version);
    if (isUnchanged(request.headers['if-none-match'], printEtag(record.version))) {
      return { kind: 'empty', status: 304, headers: { etag } };
    }
    return jsonAnswer(record.json, { headers: { etag } });
  }),
};

export const RECORD_READ_ROUTES: readonly Route[] = [...LIST_ROUTES, getRecord];

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
      body: parametersBody('The parameters, where they are not in the query.', {
        refusesNull: true,
        otherwise: ` To create a record, send it to POST /o/${collection ?? '<collection>'}.`,
      }),
    }),
    answers: [
      ok(
        'The records.',
        RECORDS,
        'Link',
        'X-Next-Cursor',
        'X-Next-Since',
        'X-Total-Count',
        'Preference-Applied',
      ),
    ],
    errors: READ_ERRORS,
    formats: FORMATS,
    assertAllowed: allowedTo('read', collection),
    // A request without a limit reads all records.
    urgencyOf: ({ limit }) => (Number(limit ?? Number.POSITIVE_INFINITY) <= MAX_PAGE ? 'short' : 'stream'),
    ...via('records', ['records', 'parseSince'], async (records, request) => {
      const name = collection ?? collectionIn(request);
      const sent = readCollectionFilters(extra, request);
      const wanted = readRecordsRequest(name, sent, request);
      const { since } = request.parameters;
      const found = records.records(request.context, wanted);
      const expand = expandReferences({ set: found, records, request });
      await assertNamed(records, request.context, { collection: name, sent });
      if (since === undefined)
        return await withTotalCount(await answerRecords(found, wanted, request, expand), found, request);
      assertUnordered(request.parameters);
      const changes = { ...wanted, since: records.parseSince(request.context, since) };
      return await answerChanges(found, changes, request);
    }),
  };
}

function readRecordsRequest(
  collection: string,
  sent: readonly { readonly filter: Filter }[],
  { parameters }: RestRequest,
): RecordsRequest {
  assertStream(parameters.stream);
  const { skip, after } = parameters;
  const filters = sent.map(({ filter }) => filter);
  return {
    ...readFilter(collection, { parameters }),
    ...(filters.length > 0 && { filter: { kind: 'all', filters } }),
    projection: projectionOf(parameters),
    skip: skip === undefined ? undefined : parseCount('skip', skip, 0),
    after: after === '' ? undefined : after,
  };
}

/** The records that `FILTER_PARAMETERS` select. */
export function readFilter(
  collection: string,
  { parameters }: Pick<RestRequest, 'parameters'>,
): Pick<RecordsRequest, 'collection' | 'oquery' | 'where' | 'isInsensitive' | 'sort' | 'limit'> {
  const { oquery, where, sort, limit } = parameters;
  return {
    collection,
    oquery: oquery === '' ? undefined : oquery,
    where: where === undefined || where === '' ? undefined : parseWhereParameter(where),
    isInsensitive: readFlag(parameters, 'ci'),
    sort: sort === undefined ? undefined : parseSortParameter(sort),
    limit: limit === undefined ? undefined : parseCount('limit', limit, 1),
  };
}

/** @throws MALFORMED_REQUEST (400) for parameters that would omit changes for good */
function assertUnordered(parameters: RestRequest['parameters']): void {
  const named = ['sort', 'limit', 'skip', 'after'].find((name) => parameters[name] !== undefined);
  if (named === undefined) return;
  const detail = `${named} cannot be combined with since, which returns all changes ordered by _id.`;
  throw faultAt('MALFORMED_REQUEST', detail, { parameter: named });
}

/** @see interface 4.2 (`stream` has the fixed value true), decisions 3 (it may be absent) */
function assertStream(text: string | undefined): void {
  const isOn = text === undefined || text === '' || text === '1' || toFlag(text);
  if (isOn !== true) throw invalidParameter('stream', text ?? '', 'true, the only value');
}

/** One table of the interface calls `project` `projection`. The fields that `expand` names belong to it. */
function projectionOf(parameters: RestRequest['parameters']): RecordsRequest['projection'] {
  const { project, projection, expand } = parameters;
  if (project !== undefined && projection !== undefined && project !== projection) {
    throw invalidParameter('projection', projection, 'the same as project, of which it is another name');
  }
  const text = project ?? projection;
  if (text === undefined || text === '') return undefined;
  const expanded = expand?.split(',').map((name): Path => name.trim().split('.')) ?? [];
  return [...parseProjectParameter(text), ...expanded];
}
