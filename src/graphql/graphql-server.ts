/**
 * GraphQL over HTTP: Apollo Server behind `/graphql`, with the schema of the catalog as it is. When a collection changes, a
 * server with the new schema takes over; requests under way end on the one they began on.
 */
import { ApolloServer, HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { type DocumentNode, type GraphQLSchema, MaxIntrospectionDepthRule } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.js';
import { ERRORS, type ErrorCode, ServiceError } from '../errors.js';
import type { ReportServices } from '../reports/report.js';
import { createReportResolvers } from '../reports/resolvers.js';
import type { Catalog } from '../store/catalog.js';
import { executionPlugin } from './execution-plugin.js';
import type { GraphqlContext } from './graphql-context.js';
import { formatError } from './graphql-errors.js';
import { printResult } from './json-text.js';
import { createDocumentLimitsRule } from './limits/document-limits.js';
import { OperationCosts } from './limits/operation-cost.js';
import { parseRequestBody } from './request-body.js';
import type { Resolvers } from './resolvers.js';
import { buildGatewaySchema } from './schema.js';

/** The settings GraphQL needs. */
export type GraphqlSettings = Pick<
  Config,
  | 'defaultPageSize'
  | 'maxPageSize'
  | 'graphqlMaxDepth'
  | 'graphqlMaxCost'
  | 'graphqlMaxRootFields'
  | 'graphqlBatching'
  | 'introspectionRoles'
>;

export interface GraphqlServices {
  readonly resolvers: Resolvers;
  readonly reports: ReportServices;
  readonly catalog: Catalog;
  readonly config: GraphqlSettings;
  /** Hears of every fault of ours, with its request id. */
  readonly onFault?: (error: unknown, requestId: string) => void;
}

export interface GraphqlEndpoint {
  /** Registers `/graphql`. */
  readonly plugin: FastifyPluginAsync;
  /** Stops rebuilding and ends Apollo Server. */
  close(): Promise<void>;
}

/** A document of more tokens is not parsed. The largest introspection query has some 500. */
const MAX_TOKENS = 5000;
const MAX_DIRECTIVES = 50;
/** Characters of the documents that are kept parsed. */
const MAX_KEPT_DOCUMENTS_LENGTH = 4_000_000;

/** Builds the schema and starts Apollo Server. The caller closes it. */
export async function createGraphql(services: GraphqlServices): Promise<GraphqlEndpoint> {
  const endpoint = new RenewedServer(services);
  await endpoint.start();
  return {
    plugin: async (app) => serveGraphql(app, endpoint, services.config),
    close: () => endpoint.close(),
  };
}

/** The Apollo Server of the current schema. */
class RenewedServer {
  readonly #services: GraphqlServices;
  readonly #buildSchema: () => GraphQLSchema;
  readonly #costs: OperationCosts;
  #current: ApolloServer<GraphqlContext> | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #stopListening: () => void = () => {};

  constructor(services: GraphqlServices) {
    const { resolvers, reports, catalog, config } = services;
    const reportResolvers = createReportResolvers(reports);
    const instances = new Map<NewableFunction, object>([
      ...Object.values(resolvers).map((resolver): [NewableFunction, object] => [
        resolver.constructor,
        resolver,
      ]),
      ...reportResolvers.instances,
    ]);
    this.#services = services;
    this.#costs = new OperationCosts({ ...config, maxCost: config.graphqlMaxCost });
    this.#buildSchema = () =>
      buildGatewaySchema({
        collections: catalog.list(),
        otherClasses: reportResolvers.classes,
        instanceOf: (resolverClass) => getInstance(instances, resolverClass),
        services: { records: resolvers.records, catalog, pages: config },
      });
  }

  get current(): ApolloServer<GraphqlContext> {
    if (!this.#current) throw new Error('the GraphQL server is not started');
    return this.#current;
  }

  async start(): Promise<void> {
    this.#current = await this.#startServer();
    this.#stopListening = this.#services.catalog.onChange(() => this.#renew());
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#renewing;
    await this.#current?.stop();
  }

  /** One after the other: the last change wins. */
  #renew(): void {
    this.#renewing = this.#renewing.then(async () => {
      try {
        const next = await this.#startServer();
        const last = this.#current;
        this.#current = next;
        await last?.stop();
      } catch (error) {
        this.#services.onFault?.(error, 'schema');
      }
    });
  }

  async #startServer(): Promise<ApolloServer<GraphqlContext>> {
    const { config, onFault = () => {} } = this.#services;
    const server = new ApolloServer<GraphqlContext>({
      schema: this.#buildSchema(),
      // What Apollo would read from the environment is set here.
      nodeEnv: 'production',
      introspection: true,
      csrfPrevention: true,
      includeStacktraceInErrorResponses: false,
      stopOnTerminationSignals: false,
      allowBatchedHttpRequests: config.graphqlBatching,
      parseOptions: { maxTokens: MAX_TOKENS },
      validationRules: [
        MaxIntrospectionDepthRule,
        createDocumentLimitsRule({
          maxDepth: config.graphqlMaxDepth,
          maxRootFields: config.graphqlMaxRootFields,
          maxDirectives: MAX_DIRECTIVES,
        }),
      ],
      documentStore: createDocumentStore(),
      formatError,
      stringifyResult: printResult,
      logger: quietLogger(onFault),
      plugins: [
        executionPlugin({ costs: this.#costs, introspectionRoles: config.introspectionRoles, onFault }),
        // It would wrap the resolver of every field, and nothing here is marked for caches.
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
        ApolloServerPluginLandingPageLocalDefault({
          footer: false,
          embed: { runTelemetry: false, initialState: { pollForSchemaUpdates: false } },
          document: FIRST_DOCUMENT,
        }),
      ],
    });
    await server.start();
    return server;
  }
}

/** What Apollo Sandbox opens with. */
const FIRST_DOCUMENT = `# 1. Run this, with your user name and password.
# 2. Put the access token into the settings of the connection (top left), under shared headers:
#    Authorization: Bearer <accessToken>
# 3. The schema loads, and the documentation with it.
mutation Login {
  login(userName: "viewer", password: "demo-viewer") {
    accessToken
  }
}
`;

function getInstance(
  instances: ReadonlyMap<NewableFunction, object>,
  resolverClass: NewableFunction,
): object {
  const instance = instances.get(resolverClass);
  if (!instance) throw new Error(`no instance of ${resolverClass.name}`);
  return instance;
}

/** Parsed and validated documents, by hash. */
function createDocumentStore() {
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_KEPT_DOCUMENTS_LENGTH,
    sizeCalculation: (document) => Math.max(1, document.loc?.end ?? 1),
  });
  return {
    get: async (hash: string) => documents.get(hash),
    set: async (hash: string, document: DocumentNode) => {
      documents.set(hash, document);
    },
    delete: async (hash: string) => documents.delete(hash),
  };
}

function quietLogger(onFault: (error: unknown, requestId: string) => void) {
  const quiet = () => {};
  return { debug: quiet, info: quiet, warn: quiet, error: (message: unknown) => onFault(message, 'apollo') };
}

function serveGraphql(app: FastifyInstance, endpoint: RenewedServer, settings: GraphqlSettings): void {
  app.removeAllContentTypeParsers();
  for (const mediaType of ['application/json', /^application\/[\w.-]+\+json\b/]) {
    app.addContentTypeParser(
      mediaType,
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => parseRequestBody(body),
    );
  }
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    handler: async (request, reply) => {
      assertBatchSize(request.body, settings.graphqlMaxRootFields);
      return await answer(endpoint.current, request, reply);
    },
  });
  app.route({
    method: ['PUT', 'PATCH', 'DELETE'],
    url: '/graphql',
    handler: async () => {
      throw new ServiceError('METHOD_NOT_ALLOWED', '/graphql answers GET and POST.', {
        allow: ['GET', 'POST'],
      });
    },
  });
}

function assertBatchSize(body: unknown, max: number): void {
  if (!Array.isArray(body) || body.length <= max) return;
  throw new ServiceError('LIMIT_EXCEEDED', `A batch has at most ${max} operations, not ${body.length}.`);
}

/** `@as-integrations/fastify` in fewer steps: it parses the address as a URL and copies each header twice. */
async function answer(
  server: ApolloServer<GraphqlContext>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const context = toContext(request);
  const { status, headers, body } = await server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: toApolloRequest(request),
    context: async () => context,
  });
  reply.code(status ?? 200);
  for (const [name, value] of headers) reply.header(name, value);
  if (body.kind !== 'complete') throw new Error('incremental delivery is not offered');
  return reply.send(
    status !== undefined && status >= 400 ? withRequestId(body.string, context) : body.string,
  );
}

function toContext(request: FastifyRequest): GraphqlContext {
  const { requestContext } = request;
  const { scope, requestId, address, domainHeader, idempotencyKey, signal } = requestContext;
  return {
    ...{ scope, requestId, address, domainHeader, idempotencyKey, signal },
    noteError: (code) => {
      if (isErrorCode(code)) requestContext.errorCode = code;
    },
  };
}

function toApolloRequest(request: FastifyRequest): HTTPGraphQLRequest {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const { url } = request;
  const mark = url.indexOf('?');
  return { method: request.method, headers, body: request.body, search: mark < 0 ? '' : url.slice(mark) };
}

/** What Apollo refuses before there is a context (a batch, a request a form could have sent) has no request id yet. */
function withRequestId(text: string, context: GraphqlContext): string {
  const result: unknown = JSON.parse(text);
  if (!hasErrors(result)) return text;
  const errors = result.errors.map((error) => ({
    ...error,
    extensions: { ...error.extensions, requestId: context.requestId },
  }));
  return JSON.stringify({ ...result, errors });
}

function hasErrors(
  result: unknown,
): result is { readonly errors: readonly { readonly extensions?: Record<string, unknown> }[] } {
  return typeof result === 'object' && result !== null && 'errors' in result && Array.isArray(result.errors);
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
