/** The routes that write many records: those that a filter selects, and several writes as one. */
import { faultAt, ServiceError, tryTo } from '../../base/errors.js';
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import { toUpdateOperations } from '../resolvers/records/update-arguments.js';
import { assertConditions } from './conditional.js';
import { createParameterReader, readFlag } from './parameter-reader.js';
import { allowedTo, COLLECTION, collectionIn } from './record-address.js';
import { FILTER_PARAMETERS, readFilter } from './record-read-routes.js';
import {
  asRecord,
  FORCE,
  IDEMPOTENCY_KEY,
  RECORD_WRITE_ROUTES,
  WRITE_ERRORS,
} from './record-write-routes.js';
import {
  type Answer,
  inQuery,
  jsonAnswer,
  ok,
  type RestRequest,
  type RestServices,
  type Route,
  recordBody,
  type Schema,
  via,
} from './route.js';

const COUNTS: Schema = {
  type: 'object',
  required: ['count', 'matched'],
  properties: {
    count: { type: 'integer', description: 'Records changed or removed.' },
    matched: { type: 'integer', description: 'Records that matched.' },
  },
};
const ALL = inQuery('allowAll', 'true: every record of the collection; without it a condition is required', {
  schema: { type: 'boolean' },
});

const MATCHING_ROUTES: readonly Route[] = [matchingRoute('PATCH'), matchingRoute('DELETE')];

function matchingRoute(method: 'PATCH' | 'DELETE'): Route {
  const isChange = method === 'PATCH';
  return {
    name: isChange ? 'updateRecords' : 'deleteRecords',
    method,
    path: '/o/recs/{collection}',
    group: 'Records',
    summary: `${isChange ? 'Change' : 'Remove'} the records that match a filter`,
    description:
      'All or none. `sort` and `limit` select some of them. A request without a condition is refused (400).',
    parameters: [COLLECTION, ...FILTER_PARAMETERS, ALL, ...(isChange ? [] : [FORCE]), IDEMPOTENCY_KEY],
    ...(isChange && {
      body: recordBody('The fields to change; null removes one.', { type: 'object' }, { amount: 120 }),
    }),
    answers: [ok('How many records.', COUNTS)],
    errors: [...WRITE_ERRORS, 'MALFORMED_FILTER'],
    urgencyOf: () => 'stream',
    assertAllowed: allowedTo(isChange ? 'update' : 'delete'),
    ...via('records', ['updateRecords', 'deleteRecords'], async (records, request) => {
      const { parameters } = request;
      const matching = {
        ...readFilter(collectionIn(request), request),
        allowAll: readFlag(parameters, 'allowAll') ?? false,
        shown: 0,
      };
      const { count, matched } = isChange
        ? await records.updateRecords(request.context, {
            ...matching,
            update: toUpdateOperations({ set: asRecord(request.body, '') }),
          })
        : await records.deleteRecords(request.context, { ...matching, force: readFlag(parameters, 'force') });
      return jsonAnswer(JSON.stringify({ count, matched }));
    }),
  };
}

const MOST_OPERATIONS = 100;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];

const batch: Route = {
  name: 'batch',
  method: 'POST',
  path: '/batch',
  group: 'Records',
  summary: 'Several writes of records in one transaction, all or none',
  description:
    `At most ${MOST_OPERATIONS} requests to the paths that write records, in order. The first that fails ` +
    'undoes those before it; its error is the answer. As `@transaction` in GraphQL.',
  parameters: [IDEMPOTENCY_KEY],
  body: recordBody(
    'The requests.',
    {
      type: 'array',
      maxItems: MOST_OPERATIONS,
      items: {
        type: 'object',
        required: ['method', 'path'],
        properties: {
          method: { type: 'string', enum: METHODS },
          path: { type: 'string', description: 'With its query.' },
          headers: { type: 'object', description: 'If-Match, If-None-Match.' },
          body: {},
        },
        additionalProperties: false,
      },
    },
    [{ method: 'POST', path: '/o/task', body: { name: 'Chairs for 5-A' } }],
  ),
  answers: [
    ok('The answers, in order.', {
      type: 'array',
      items: { type: 'object', properties: { status: { type: 'integer' }, headers: {}, body: {} } },
    }),
  ],
  errors: [...WRITE_ERRORS, 'VERSION_CONFLICT', 'MALFORMED_FILTER'],
  resolvers: ['records.batch'],
  async run(services, request) {
    const { body } = request;
    if (!Array.isArray(body) || body.length > MOST_OPERATIONS) {
      throw malformed(`expected a list of at most ${MOST_OPERATIONS} requests`, '');
    }
    const operations = body.map((one: JsonValue, index) => toOperation(one, `/${index}`));
    const answers = await services.resolvers.records.batch(request.context, body, async (context) => {
      const done: string[] = [];
      for (const [index, operation] of operations.entries()) {
        done.push(await perform(services, operation, index, { ...request, context }));
      }
      return done;
    });
    return jsonAnswer(`[${answers.join(',')}]`);
  },
};

export const RECORD_SET_ROUTES: readonly Route[] = [...MATCHING_ROUTES, batch];

interface Operation {
  readonly route: Route;
  readonly label: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: RestRequest['headers'];
  readonly body: JsonValue | undefined;
}

/** The more literal path first, as the server decides. */
const WRITES = [...RECORD_WRITE_ROUTES, ...MATCHING_ROUTES].map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)').replace(/\/$/, '')}/?$`),
}));

function toOperation(sent: JsonValue, pointer: string): Operation {
  if (!isJsonObject(sent)) throw malformed('expected an object with method and path', pointer);
  const { method, path, headers = {}, body, ...others } = sent;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw malformed('expected only method, path, headers and body', `${pointer}/${other}`);
  if (typeof path !== 'string' || !URL.canParse(path, 'http://gateway')) {
    throw malformed('expected a path such as /o/task', `${pointer}/path`);
  }
  const { pathname, searchParams: query } = new URL(path, 'http://gateway');
  const found = WRITES.find(({ route, pattern }) => route.method === method && pattern.test(pathname));
  if (found === undefined) {
    const expected = 'a method and path that write records, such as PATCH /o/recs/<collection>/<id>';
    throw malformed(`expected ${expected}`, pointer);
  }
  const groups = Object.entries(found.pattern.exec(pathname)?.groups ?? {});
  return {
    route: found.route,
    label: `${found.route.method} ${path}`,
    path: Object.fromEntries(groups.map(([name, text]) => [name, decode(text, pointer)])),
    query,
    headers: Object.fromEntries(
      Object.entries(isJsonObject(headers) ? headers : {}).map(([name, value]) => [
        name.toLowerCase(),
        String(value),
      ]),
    ),
    body,
  };
}

function decode(text: string, pointer: string): string {
  const decoded = tryTo(() => decodeURIComponent(text));
  if (decoded !== undefined) return decoded;
  throw malformed('expected a percent-encoded path', `${pointer}/path`);
}

/** Performs one request of a batch and prints its answer. */
async function perform(
  services: RestServices,
  operation: Operation,
  index: number,
  request: RestRequest,
): Promise<string> {
  const { route, label, path, query, headers, body } = operation;
  try {
    if (route.body?.isRequired && body === undefined) throw malformed('the body is missing', '');
    assertConditions(route, headers);
    const parameters = createParameterReader(route)(Object.fromEntries(query), undefined);
    return printAnswer(await route.run(services, { ...request, path, parameters, headers, body }));
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault;
    const errors = fault.errors?.map((one) => ({ ...one, pointer: `/${index}/body${one.pointer ?? ''}` }));
    const reason = fault.message.replace(/\.?$/, '.');
    throw new ServiceError(fault.code, `Request ${index} (${label}): ${reason} Nothing was done.`, {
      cause: fault,
      errors: errors ?? [{ detail: fault.message, pointer: `/${index}` }],
    });
  }
}

function printAnswer(answer: Answer): string {
  if (answer.kind === 'stream') throw new Error('a write does not answer with a stream');
  const headers = answer.headers === undefined ? '' : `,"headers":${JSON.stringify(answer.headers)}`;
  const body = answer.kind === 'text' ? `,"body":${String(answer.text)}` : '';
  return `{"status":${answer.status}${headers}${body}}`;
}

function malformed(detail: string, pointer: string): ServiceError {
  const text = `The batch${pointer === '' ? '' : ` at ${pointer}`}: ${detail}.`;
  return faultAt('MALFORMED_REQUEST', text, { detail, pointer });
}
