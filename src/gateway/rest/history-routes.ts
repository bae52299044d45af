/** The routes that read earlier versions of records and restore them. */
import { invalidAt } from '../../base/errors.js';
import { type JsonValue, printExactJson } from '../../base/json/json.js';
import { FieldChangeResult, RecordVersionResult } from '../resolvers/records/history-resolver.js';
import { nextPage } from './answer-records.js';
import { parseIfMatch, printEtag } from './conditional.js';
import { describeAnswer, toAnswer } from './describe-answers.js';
import { RECORD } from './describe-records.js';
import { pageParameters } from './parameter-reader.js';
import { allowedTo, COLLECTION, RECORD_ID, recordAddress } from './record-address.js';
import { READ_ERRORS } from './record-read-routes.js';
import { asRecord, IDEMPOTENCY_KEY, IF_MATCH, WRITE_ERRORS } from './record-write-routes.js';
import { inQuery, jsonAnswer, ok, type Route, recordBody, via } from './route.js';

const MAY_BE_ABSENT = ['before', 'after'];
const CHANGE = describeAnswer(
  FieldChangeResult,
  {
    before: { description: 'Absent if the field did not exist before.' },
    after: { description: 'Absent if the field no longer exists.' },
  },
  MAY_BE_ABSENT,
);
const VERSION = describeAnswer(RecordVersionResult, {
  operation: { enum: ['created', 'updated', 'deleted'] },
  changes: { items: CHANGE },
});

const readHistory: Route = {
  name: 'readHistory',
  method: 'GET',
  path: '/o/recs/{collection}/{id}/history',
  group: 'Records',
  summary: 'The changes of a record, the newest first, with what they replaced',
  description:
    'Every write is an entry of the audit trail. Fields that are hidden from the caller are left out.',
  parameters: [
    COLLECTION,
    RECORD_ID,
    inQuery('limit', 'the most changes to return; the answer has a Link to the next page', {
      schema: { type: 'integer', minimum: 1 },
    }),
    inQuery('after', 'a cursor, from X-Next-Cursor: only older changes'),
  ],
  answers: [ok('The changes.', { type: 'array', items: VERSION }, 'Link', 'X-Next-Cursor')],
  errors: READ_ERRORS,
  assertAllowed: allowedTo('read'),
  ...via('history', ['recordHistory'], async (history, request) => {
    const address = { ...recordAddress(request), ...pageParameters(request.parameters) };
    const { nodes, pageInfo } = await history.recordHistory(request.context, address);
    const cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    const versions = nodes.map((one) => toAnswer(RecordVersionResult, one, MAY_BE_ABSENT));
    return jsonAnswer(printExactJson(versions), {
      ...(cursor && { headers: nextPage(cursor, request.parameters) }),
    });
  }),
};

const restoreRecord: Route = {
  name: 'restoreRecord',
  method: 'POST',
  path: '/o/recs/{collection}/{id}/restore',
  group: 'Records',
  summary: 'Restore a record to an earlier version; a removed record is created again',
  description: 'This is a write like any other: it is validated, and recorded in the history.',
  parameters: [COLLECTION, RECORD_ID, IF_MATCH, IDEMPOTENCY_KEY],
  body: recordBody(
    'The version to restore.',
    {
      type: 'object',
      required: ['version'],
      properties: { version: { type: 'integer', minimum: 1 } },
      additionalProperties: false,
    },
    { version: 1 },
  ),
  answers: [ok('The record as it is now.', RECORD, 'ETag')],
  errors: [...WRITE_ERRORS, 'VERSION_CONFLICT'],
  ...via('history', ['restore'], async (history, request) => {
    const record = await history.restore(request.context, {
      ...recordAddress(request),
      version: versionOf(request.body),
      ifVersion: parseIfMatch(request.headers['if-match']),
    });
    return jsonAnswer(record.json, { headers: { etag: printEtag(record.version) } });
  }),
};

export const HISTORY_ROUTES: readonly Route[] = [readHistory, restoreRecord];

/** @throws INVALID_VALUE, MALFORMED_REQUEST (400) */
function versionOf(body: JsonValue | undefined): number {
  const { version, ...others } = asRecord(body, '');
  const [other] = Object.keys(others);
  const number = Number(version ?? Number.NaN);
  if (other === undefined && /^[1-9]\d{0,8}$/.test(String(version))) return number;
  const pointer = other === undefined ? '/version' : `/${other}`;
  const expected = 'only the member version, a whole number from 1';
  throw invalidAt(`${pointer}: ${expected} is expected`, {
    pointer,
    detail: 'not a request to restore a record',
    expected,
  });
}
