/** The routes that create, change and remove records. @see interface 4.4, decisions 5 */
import { invariant, ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import type { StoredRecord } from '../../store/record-store.js';
import type { RecordBatch } from '../resolvers/records/record-resolver.js';
import { parseIfMatch, printEtag } from './conditional.js';
import { RECORD, RECORDS } from './describe-records.js';
import { readFlag } from './parameter-reader.js';
import { allowedTo, COLLECTION, RECORD_ID, recordAddress } from './record-address.js';
import {
  type Answer,
  inHeader,
  inQuery,
  jsonAnswer,
  type Method,
  ok,
  type Parameter,
  type RestRequest,
  type Route,
  recordBody,
  via,
} from './route.js';

export const IF_MATCH: Parameter = inHeader('If-Match', 'the ETag the record must still have, else 412');
export const IDEMPOTENCY_KEY: Parameter = inHeader(
  'Idempotency-Key',
  'a repeated request gets the answer of the first, for 24 hours',
);

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

export const FORCE = inQuery('force', 'true: remove it although records point to it; admins only', {
  schema: { type: 'boolean' },
});

const IF_NONE_MATCH: Parameter = inHeader('If-None-Match', '*: only if there is no such record, else 412');

const RENAME_EVERYWHERE = inQuery(
  'renameEverywhere',
  'true: records that use a changed name, e.g. of a class, get the new one; admins only',
  { schema: { type: 'boolean' } },
);

const deleteRecord: Route = {
  name: 'deleteRecord',
  method: 'DELETE',
  path: '/o/recs/{collection}/{id}',
  group: 'Records',
  summary: 'Remove a record; reading it afterwards gives 410',
  description:
    '`If-Match` removes it only while it has that ETag. While records point to it, the removal is refused ' +
    '(409) and they are counted by collection. An admin may pass `force=true`: the references then lead to ' +
    'nothing.',
  parameters: [COLLECTION, RECORD_ID, FORCE, IF_MATCH, IDEMPOTENCY_KEY],
  answers: [{ status: 204, description: 'Removed.' }],
  errors: [...WRITE_ERRORS, 'VERSION_CONFLICT'],
  assertAllowed: allowedTo('delete'),
  ...via('records', ['deleteRecord'], async (records, request) => {
    await records.deleteRecord(request.context, {
      ...recordAddress(request),
      ifVersion: parseIfMatch(request.headers['if-match']),
      force: readFlag(request.parameters, 'force'),
    });
    return { kind: 'empty', status: 204 };
  }),
};

const BY = inQuery(
  'by',
  'a key: _id, a unique field or a rule of fields that are unique together. A record with that key is ' +
    'changed by what is sent (200); otherwise one is created',
  { example: '_id' },
);

/** @see decisions 5 */
const createInCollection: Route = {
  ...createRoute('createRecordIn', '/o/{collection}'),
  summary: 'Create a record, or a list of them all or none; the collection named in the path',
  parameters: [COLLECTION, COLLECTION_QUERY('must agree with the path'), BY, IDEMPOTENCY_KEY],
};

const create: Route = {
  ...createRoute('createRecord', '/o/'),
  summary: 'Create a record, or a list of them all or none; the collection named by parameter or _collection',
  parameters: [COLLECTION_QUERY('where the body has no _collection'), IDEMPOTENCY_KEY],
};

export const RECORD_WRITE_ROUTES: readonly Route[] = [
  updateRoute('PATCH', 'merge'),
  updateRoute('PUT', 'replace'),
  deleteRecord,
  create,
  createInCollection,
];

function updateRoute(method: Method & ('PATCH' | 'PUT'), mode: 'merge' | 'replace'): Route {
  return {
    name: `${mode}Record`,
    method,
    path: '/o/recs/{collection}/{id}',
    group: 'Records',
    summary:
      mode === 'merge' ? 'Change some fields of a record' : 'Replace all fields of a record, or create it',
    description:
      (mode === 'merge' ? '' : '`If-None-Match: *` only creates (201); otherwise it creates or replaces. ') +
      'Validated against the declaration of the collection. `If-Match` writes only while the record ' +
      'has that ETag. While other records use a name that it changes, such as that of a class, the change ' +
      'is refused (409) and they are counted by collection. An admin may pass `renameEverywhere=true`: ' +
      'they then get the new name.',
    parameters: [
      ...[COLLECTION, RECORD_ID, RENAME_EVERYWHERE, IF_MATCH],
      ...(mode === 'merge' ? [] : [IF_NONE_MATCH]),
      IDEMPOTENCY_KEY,
    ],
    body: recordBody(
      mode === 'merge' ? 'The fields to change; null removes one.' : 'All fields of the record.',
      RECORD,
      mode === 'merge' ? { amount: 120 } : { name: 'Chairs for 5-A', amount: 120 },
    ),
    answers: [
      ok('The record as it is now.', RECORD, 'ETag'),
      ...(mode === 'merge'
        ? []
        : [{ status: 201, description: 'The new record.', schema: RECORD, headers: ['Location', 'ETag'] }]),
    ],
    errors: [...WRITE_ERRORS, 'VERSION_CONFLICT'],
    assertAllowed: allowedTo('update'),
    resolvers: [mode === 'merge' ? 'records.updateRecord' : 'records.putRecord'],
    async run({ resolvers: { records } }, request) {
      const ifMatch = request.headers['if-match'];
      const address = recordAddress(request);
      const change = {
        ...address,
        data: withoutAddress(asRecord(request.body, ''), address),
        ifVersion: parseIfMatch(ifMatch),
        renameEverywhere: readFlag(request.parameters, 'renameEverywhere'),
      };
      if (mode === 'merge') {
        return answerChanged(await records.updateRecord(request.context, { ...change, mode }));
      }
      const ifThere = ifMatch === undefined ? undefined : 'existing';
      const only = request.headers['if-none-match'] === undefined ? ifThere : 'new';
      return answerStored(address.collection, await records.putRecord(request.context, { ...change, only }));
    },
  };
}

function createRoute(name: string, path: string): Omit<Route, 'summary' | 'parameters'> {
  return {
    name,
    method: 'POST',
    path,
    group: 'Records',
    description:
      'Validated against the declaration of the collection. With `Idempotency-Key`, a request that ' +
      'is repeated creates nothing twice.',
    body: recordBody(
      'The record, or a list of records. _collection names the collection and is not stored.',
      { anyOf: [RECORD, RECORDS] },
      { name: 'Chairs for 5-A', amount: 1250.5 },
    ),
    answers: [
      {
        status: 201,
        description: 'The stored record, or the list of them.',
        schema: { anyOf: [RECORD, RECORDS] },
        headers: ['Location', 'ETag'],
      },
      ...(path === '/o/' ? [] : [ok('With `by`: stored.', { anyOf: [RECORD, RECORDS] })]),
    ],
    errors: WRITE_ERRORS,
    assertAllowed: allowedTo('create'),
    resolvers: ['records.createRecord', 'records.createRecords', 'records.upsertRecords'],
    async run({ resolvers: { records } }, request) {
      const { collection, data, isList } = readCreation(request);
      const { by } = request.parameters;
      if (by !== undefined) {
        const sent = { collection, records: data, by, shown: data.length };
        const stored = await records.upsertRecords(request.context, sent);
        return isList ? jsonAnswer(printList(stored.records)) : answerStored(collection, stored);
      }
      if (isList) {
        const sent = { collection, records: data, shown: data.length };
        const created = await records.createRecords(request.context, sent);
        return jsonAnswer(printList(created.records), { status: 201 });
      }
      const [only = {}] = data;
      return answerCreated(
        collection,
        await records.createRecord(request.context, { collection, data: only }),
      );
    },
  };
}

function printList(records: readonly StoredRecord[]): string {
  return `[${records.map(({ json }) => json).join(',')}]`;
}

/** The answer for the one record that was sent. */
function answerStored(collection: string, { created, records: [record] }: RecordBatch): Answer {
  invariant(record !== undefined, 'one record was sent and one is stored');
  return created > 0 ? answerCreated(collection, record) : answerChanged(record);
}

function answerChanged(record: StoredRecord): Answer {
  return jsonAnswer(record.json, { headers: { etag: printEtag(record.version) } });
}

function answerCreated(collection: string, record: StoredRecord): Answer {
  const location = `/o/recs/${encodeURIComponent(collection)}/${encodeURIComponent(record.id)}`;
  return jsonAnswer(record.json, { status: 201, headers: { location, etag: printEtag(record.version) } });
}

/** @throws MALFORMED_REQUEST (400) if the collection is not named, or named twice. @see decisions 5 */
function readCreation(request: RestRequest) {
  const isList = Array.isArray(request.body);
  const members: readonly JsonValue[] = Array.isArray(request.body) ? request.body : [request.body ?? null];
  const data: JsonObject[] = [];
  let collection = agreed(request.path.collection, request.parameters.collection, 'collection');
  members.forEach((member, index) => {
    const pointer = isList ? `/${index}` : '';
    const { _collection: named, ...fields } = asRecord(member, pointer);
    if (named !== undefined) {
      if (typeof named !== 'string') throw bodyFault('_collection must be a text', `${pointer}/_collection`);
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

function COLLECTION_QUERY(role: string): Parameter {
  return inQuery('collection', `the collection, ${role}`, { example: 'task' });
}
