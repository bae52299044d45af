/**
 * Serves `/graphql` over HTTP. A document that is already prepared for this schema runs directly
 * (operation/operation.ts); every other request goes through Apollo, which reports malformed ones. A failure
 * after a document was prepared is final; it is not retried in another way.
 */
import { type ApolloServer, HeaderMap } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type DocumentNode, Kind, OperationTypeNode } from 'graphql';
import Negotiator from 'negotiator';
import { type ErrorCode, ServiceError } from '../../../base/errors.js';
import { assertPercentEncoded } from '../../../base/http/assert-percent-encoded.js';
import { etagHeld, etagOf, isUnchanged } from '../../../base/http/etag.js';
import { sendText } from '../../../base/http/text-answer.js';
import { type BodyShape, bodyShape, readJsonBody } from '../../../base/json/body-shape.js';
import { type JsonValue, type PrintedJson, parseSentJson, toPlainNumber } from '../../../base/json/json.js';
import { type NumberReading, parseJsonBody } from '../../../base/json/json-body-parser.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { rememberLatest } from '../../../base/process/remember-latest.js';
import { leastUrgent, type Urgency } from '../../../base/process/urgency.js';
import { printAnswer } from '../../../base/scalars/json-text.js';
import type { Config } from '../../config/config.js';
import { credentialNeeded } from '../../resolvers/request-context.js';
import { EVENT_STREAM, type LiveEvents, streamEvents } from '../live/event-stream.js';
import { answerOperation, type OperationOptions } from '../operation/operation.js';
import {
  type Incoming,
  isMembers,
  listSentMembers,
  type OperationText,
  readOperationText,
} from '../operation/operation-text.js';
import { OperationTiming } from '../operation/operation-timing.js';
import {
  fieldNames,
  fragmentsOf,
  type GraphqlCaller,
  type GraphqlRequest,
  NO_STORE,
  operationUrgency,
  type PreparedOperation,
  VARY,
} from '../operation/prepared-operation.js';
import type { ServedSchema } from '../operation/served-schema.js';
import {
  hashIn,
  type PersistedQueries,
  type RegisteredOperations,
} from '../persisted/registered-operations.js';
import { httpStatusFor } from './execution-plugin.js';

/** Serves one schema. */
export interface SchemaServer {
  readonly apollo: ApolloServer<GraphqlRequest>;
  readonly served: ServedSchema;
}

export interface EndpointOptions {
  /** The server of the current schema. */
  readonly current: () => SchemaServer;
  /** The caller, as identified by the preceding hooks. */
  readonly callerOf: (request: FastifyRequest) => GraphqlCaller;
  readonly operations: OperationOptions;
  readonly live: LiveEvents;
  readonly persisted: PersistedQueries;
  /** The only documents that are answered. `undefined`: any document. */
  readonly registered: RegisteredOperations | undefined;
  readonly settings: Pick<
    Config,
    'graphqlMaxBatch' | 'graphqlMaxTokens' | 'anyOperationRoles' | 'serverTiming' | 'bodyMaxMembers'
  >;
}

/**
 * A GET with one of these headers is not a simple request, so no other site's page can make a browser send
 * it.
 */
export const PREFLIGHT_HEADERS = ['authorization', 'apollo-require-preflight', 'x-apollo-operation-name'];

export function serveGraphql(app: FastifyInstance, options: EndpointOptions): void {
  const operationsByServer = new WeakMap<SchemaServer, WeakMap<FastifyRequest, ReadOperations>>();
  /** Read and looked up once for a request: its urgency is needed before its turn comes. */
  const operationsOf = (request: FastifyRequest) => {
    const server = options.current();
    const known = getOrMake(operationsByServer, server, () => new WeakMap());
    return getOrMake(known, request, () => readOperations(request, server, options));
  };
  app.removeAllContentTypeParsers();
  for (const mediaType of ['application/json', /^application\/[\w.-]+\+json\b/]) {
    app.addContentTypeParser(
      mediaType,
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) =>
        parseRequestBody(
          body,
          bodyShape(
            options.callerOf(request).context.scope ? 'large' : 'small',
            options.settings.bodyMaxMembers,
          ),
        ),
    );
  }
  app.route({
    method: ['GET', 'HEAD', 'POST'],
    url: '/graphql',
    config: {
      body: 'operations',
      urgencyOf: (request) => urgencyOf(operationsOf(request), request, options.operations),
    },
    handler: async (request, reply) => {
      assertBatchSize(request.body, options.settings.graphqlMaxBatch);
      const caller = options.callerOf(request);
      const incoming = toAnswerable(request, caller, options);
      if (caller.context.scope === undefined) assertPublicFields(incoming, options);
      const [operation] = Array.isArray(request.body) ? [] : operationsOf(request);
      if (operation !== undefined && acceptsEvents(request)) {
        if (caller.context.scope === undefined) throw credentialNeeded();
        const { sent, text: query } = operation;
        return await streamEvents(options.live, { request, reply, operation: { ...sent, query } });
      }
      const call: Call = {
        options,
        request,
        incoming,
        server: options.current(),
        query: toGraphqlRequest(request, caller, options.settings),
      };
      const answer = (operation && (await answerKnown(operation, call))) ?? (await answerByApollo(call));
      return send(answer, call, reply);
    },
  });
}

function assertBatchSize(body: unknown, max: number): void {
  if (!Array.isArray(body) || body.length <= max) return;
  throw new ServiceError('LIMIT_EXCEEDED', `A batch has at most ${max} operations, not ${body.length}.`);
}

/**
 * @throws FORBIDDEN (403) for a document that is not registered, where only registered ones are answered;
 *   UNAUTHENTICATED (401) without a credential, so that the registered ones cannot be guessed;
 *   MALFORMED_REQUEST (400) for a query that cannot be decoded
 */
function toAnswerable(
  request: FastifyRequest,
  { context: { scope } }: GraphqlCaller,
  { registered, settings }: EndpointOptions,
): Incoming {
  const incoming = toIncoming(request);
  assertPercentEncoded(incoming.search, 'The query');
  if (!registered) return incoming;
  if (scope && settings.anyOperationRoles.some((role) => scope.principal.roles.has(role))) return incoming;
  try {
    return withRegisteredTexts(incoming, registered);
  } catch (refusal) {
    throw scope ? refusal : credentialNeeded();
  }
}

interface Call {
  readonly options: EndpointOptions;
  readonly request: FastifyRequest;
  readonly incoming: Incoming;
  readonly server: SchemaServer;
  readonly query: GraphqlRequest;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: PrintedJson;
}

/** Answers without Apollo. `undefined` if the document is not known yet, or the request is unusual. */
async function answerKnown(
  { sent, prepared }: ReadOperation,
  { request, incoming, query, options }: Call,
): Promise<HttpAnswer | undefined> {
  const isGet = incoming.method === 'GET';
  if (!prepared || (isGet && prepared.operation.operation !== OperationTypeNode.QUERY)) return undefined;
  if (isGet && !PREFLIGHT_HEADERS.some((name) => request.headers[name] !== undefined)) return undefined;
  const { accept } = request.headers;
  const mediaType = accept === undefined ? JSON_TYPE : acceptedType(accept);
  if (mediaType === undefined) return undefined;
  const { variables, extensions } = sent;
  const { context, notes, timing, includeHeader } = query;
  // Written member by member, because members after a spread in a literal are added one by one, slowly.
  const operation = { context, notes, timing, includeHeader, prepared, variables, extensions };
  const { result, status, headers } = await answerOperation(operation, options.operations);
  const isWhole = result.errors === undefined;
  return {
    status: isWhole ? status : httpStatusFor(status, result.errors, accept),
    headers: [
      ['content-type', mediaType],
      ...headers,
      ...(isWhole && isGet ? [['cache-control', prepared.cachePolicy] as const] : []),
    ],
    body: printAnswer(result),
  };
}

/** An operation as it was sent, and as it is known under the schema of a server. */
interface ReadOperation {
  readonly sent: OperationText;
  readonly text: string | undefined;
  /** `undefined`: the document is new, or is not known by its hash. */
  readonly prepared: PreparedOperation | undefined;
}

/** Those of a batch in their order; `undefined`: an unusual one. */
type ReadOperations = readonly (ReadOperation | undefined)[];

function readOperations(
  request: FastifyRequest,
  { served }: SchemaServer,
  options: EndpointOptions,
): ReadOperations {
  const incoming = toIncoming(request);
  const bodies: readonly unknown[] = Array.isArray(incoming.body) ? incoming.body : [incoming.body];
  return bodies.slice(0, options.settings.graphqlMaxBatch).map((body) => {
    const sent = readOperationText({ ...incoming, body });
    if (!sent) return undefined;
    const text = textOf(sent, options);
    return { sent, text, prepared: text === undefined ? undefined : served.find(text, sent.operationName) };
  });
}

/** The urgency of a request's operations; new documents count as short. */
function urgencyOf(
  operations: ReadOperations,
  request: FastifyRequest,
  { costs }: Pick<OperationOptions, 'costs'>,
): Urgency {
  // A request without a body arrives before its credential was checked.
  const context = { scope: request.requestContext?.scope };
  const urgencies = operations.map((one) => {
    if (!one?.prepared) return 'short';
    return operationUrgency({ prepared: one.prepared, variables: one.sent.variables, context }, costs);
  });
  return leastUrgent(urgencies);
}

/** `undefined` for an unknown hash, or one that comes with its text; checking it is up to Apollo. */
function textOf(
  sent: OperationText,
  { persisted, registered }: Pick<EndpointOptions, 'persisted' | 'registered'>,
): string | undefined {
  const { query, extensions } = sent;
  const { persistedQuery } = extensions;
  if (persistedQuery === undefined) return query ?? registered?.findText(sent);
  const hash = isMembers(persistedQuery) && persistedQuery.version === 1 ? hashIn(extensions) : undefined;
  if (hash === undefined) return undefined;
  const known = persisted.find(hash) ?? registered?.findText({ extensions });
  return query === undefined || query === known ? known : undefined;
}

/**
 * Does what `@as-integrations/fastify` does in fewer steps: that parses the address as a URL and copies each
 * header twice.
 */
async function answerByApollo({ request, incoming, server, query }: Call): Promise<HttpAnswer> {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const answer = await server.apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { ...incoming, headers },
    context: async () => query,
  });
  const { status = 200, body } = answer;
  if (body.kind !== 'complete') throw new Error('incremental delivery is not offered');
  const text = status >= 400 ? refusalText(status, body.string, query.context.requestId) : body.string;
  return { status, headers: answer.headers, body: text };
}

function send(
  { status, headers, body }: HttpAnswer,
  { request, incoming, query: { timing } }: Call,
  reply: FastifyReply,
): FastifyReply {
  for (const [name, value] of headers) reply.header(name, value);
  if (timing) reply.header('server-timing', timing.print());
  const mediaType = String(reply.getHeader('content-type'));
  if (incoming.method === 'GET' && !mediaType.startsWith('text/html')) {
    const vary = reply.getHeader('vary');
    // CORS may have set `Vary: Origin`.
    reply.header('vary', vary === undefined ? VARY : `${vary}, ${VARY}`);
    const policy = reply.getHeader('cache-control') ?? NO_STORE;
    reply.header('cache-control', policy);
    const etag = policy === NO_STORE ? undefined : etagOf(mediaType, body);
    if (etag !== undefined) reply.header('etag', etag);
    if (etag !== undefined && isUnchanged(request.headers['if-none-match'], etag)) {
      reply.header('etag', etagHeld(request.headers['if-none-match'], etag));
      return reply.removeHeader('content-type').code(304).send();
    }
  }
  return sendText(reply, { status, mediaType, text: body });
}

function toGraphqlRequest(
  request: FastifyRequest,
  { context, notes }: GraphqlCaller,
  settings: Pick<EndpointOptions['settings'], 'serverTiming'>,
): GraphqlRequest {
  const timing = settings.serverTiming ? new OperationTiming() : undefined;
  if (timing) notes.onDuration = (durationMs) => timing.addStatement(durationMs);
  const includeHeader = request.headers['x-include-extensions'];
  return {
    context,
    notes,
    timing,
    includeHeader: Array.isArray(includeHeader) ? includeHeader.join() : includeHeader,
  };
}

/** HEAD is treated as GET; the server leaves out the body. */
function toIncoming({ method, body, url }: FastifyRequest): Incoming {
  const mark = url.indexOf('?');
  return { method: method === 'HEAD' ? 'GET' : method, body, search: mark < 0 ? '' : url.slice(mark) };
}

/**
 * The same request with the registered text of each operation. @throws FORBIDDEN (403) for one that is not
 * registered
 */
function withRegisteredTexts(incoming: Incoming, registered: RegisteredOperations): Incoming {
  const { method, body, search } = incoming;
  if (method === 'GET') {
    if (search === '') return incoming;
    const parameters = new URLSearchParams(search);
    const [sent = {}] = listSentMembers(incoming);
    parameters.set('query', registered.getText(sent));
    return { ...incoming, search: `?${parameters}` };
  }
  if (Array.isArray(body))
    return { ...incoming, body: body.map((one: unknown) => ofMember(one, registered)) };
  return { ...incoming, body: ofMember(body, registered) };
}

/** Apollo refuses anything that is not an object. */
function ofMember(sent: unknown, registered: RegisteredOperations): unknown {
  return isMembers(sent) ? { ...sent, query: registered.getText(sent) } : sent;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const RESULT_TYPE = 'application/graphql-response+json; charset=utf-8';
/** Clients send a handful of different headers. */
const MAX_REMEMBERED = 100;

/** `undefined`: `Accept` allows none. */
const acceptedType = rememberLatest(
  (accept) => new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, RESULT_TYPE, EVENT_STREAM]),
  MAX_REMEMBERED,
);

/** Whether the caller prefers Server-Sent Events to JSON, as clients do for a subscription. */
function acceptsEvents({ method, headers: { accept } }: FastifyRequest): boolean {
  return method !== 'HEAD' && accept !== undefined && acceptedType(accept) === EVENT_STREAM;
}

/** Errors that Apollo reports only by HTTP status, with the code of a bad request. */
const CODES_BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [405, 'METHOD_NOT_ALLOWED'],
  [406, 'NOT_ACCEPTABLE'],
]);

/**
 * Completes errors that Apollo reports before there is a context (a batch, a request that a form could have
 * sent): adds the request id, and the status and code of our catalog.
 *
 * @see decisions 4
 */
function refusalText(status: number, text: string, requestId: string): string {
  const result: unknown = JSON.parse(text);
  if (!hasErrors(result)) return text;
  const code = CODES_BY_STATUS.get(status);
  const errors = result.errors.map((error) => ({
    ...error,
    extensions: { ...error.extensions, ...(code && { code, status }), requestId },
  }));
  return JSON.stringify({ ...result, errors });
}

function hasErrors(
  result: unknown,
): result is { readonly errors: readonly { readonly extensions?: Record<string, unknown> }[] } {
  return typeof result === 'object' && result !== null && 'errors' in result && Array.isArray(result.errors);
}

/** The root fields for everybody. A rule of its own refuses introspection, with a message of its own. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set([
  ...['__typename', '__schema', '__type', 'login', 'refresh'],
  // The user of a link has no password yet.
  ...['accountLink', 'useAccountLink', 'firstRun', 'makeSchool'],
]);

/**
 * Refuses a request without a credential unless each of its documents selects only public fields. Documents
 * with syntax errors pass: their errors disclose nothing of the schema.
 *
 * @throws UNAUTHENTICATED (401)
 */
function assertPublicFields(incoming: Incoming, { current, persisted }: EndpointOptions): void {
  const { served } = current();
  for (const { query, operationName, extensions } of listSentMembers(incoming)) {
    const hash = hashIn(extensions);
    for (const text of [query, hash === undefined ? undefined : persisted.find(hash)]) {
      if (typeof text !== 'string') continue;
      const document = served.documentOf(text, typeof operationName === 'string' ? operationName : undefined);
      if (document !== undefined && !isPublic(document)) throw credentialNeeded();
    }
  }
}

function isPublic(document: DocumentNode): boolean {
  const fragments = fragmentsOf(document);
  return document.definitions.every(
    (definition) =>
      definition.kind !== Kind.OPERATION_DEFINITION ||
      [...fieldNames(definition.selectionSet, fragments)].every((name) => PUBLIC_FIELDS.has(name)),
  );
}

/**
 * An empty body counts as none. @throws MALFORMED_REQUEST (400); LIMIT_EXCEEDED (400) for too many members
 */
export function parseRequestBody(body: Buffer, shape: BodyShape): JsonValue | undefined {
  return body.length === 0
    ? undefined
    : readJsonBody(body, shape, (text, bytes) => parseJsonBody(text, bytes, PLAIN));
}

const PLAIN: NumberReading = { ofFloat: (value) => value, ofDigits: toPlainNumber, parse: parseSentJson };
