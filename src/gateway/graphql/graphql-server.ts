/**
 * GraphQL over HTTP: Apollo Server at `/graphql`, with the current schema of the catalog. When a collection
 * changes, a server with the new schema takes over; running requests finish on the old one.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { FastifyPluginAsync } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { invariant } from '../../base/errors.js';
import { findPackageDirectory } from '../../base/process/package-directory.js';
import { printResult } from '../../base/scalars/json-text.js';
import type { ReportServices } from '../../school/reports/engine/report-context.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Database } from '../../store/database/database.js';
import { RepeatedWork } from '../../store/database/repeated-work.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';
import { createReportResolvers } from '../resolvers/reports/report-resolvers.js';
import type { RequestContext } from '../resolvers/request-context.js';
import type { Resolvers } from '../resolvers/resolvers.js';
import type { ScriptFieldServices } from '../resolvers/script-fields.js';
import type { CallerReach, NeededRight } from '../resolvers/services/caller-reach.js';
import { executionPlugin } from './http/execution-plugin.js';
import { landingPagePlugin } from './http/landing-page.js';
import {
  type EndpointOptions,
  PREFLIGHT_HEADERS,
  type SchemaServer,
  serveGraphql,
} from './http/serve-graphql.js';
import { createDocumentLimitRules } from './limits/document-limits.js';
import { OperationCosts } from './limits/operation-cost.js';
import { LiveServer, type LiveServices } from './live/live-server.js';
import { formatGraphqlError } from './operation/graphql-errors.js';
import { Introspections } from './operation/introspections.js';
import { answerOperation, type OperationAnswer, type OperationOptions } from './operation/operation.js';
import type { GraphqlCaller, GraphqlRequest, PreparedOperation } from './operation/prepared-operation.js';
import { ServedSchema } from './operation/served-schema.js';
import {
  PersistedQueries,
  type RegisteredOperations,
  readRegisteredOperations,
} from './persisted/registered-operations.js';
import { buildGatewaySchema } from './schema.js';

export interface GraphqlServices extends ScriptFieldServices {
  readonly resolvers: Resolvers;
  readonly reports: ReportServices;
  readonly catalog: Catalog;
  readonly store: Pick<RecordStore, 'transaction' | 'scannedRows'>;
  readonly database: Pick<Database, 'transaction'>;
  readonly fieldMeter: OperationOptions['fieldMeter'];
  /** The services of subscriptions. */
  readonly live: LiveServices;
  readonly config: Config;
  readonly callerOf: EndpointOptions['callerOf'];
  /** Receives every fault of ours, with its request id. */
  readonly onFault?: (error: unknown, requestId: string) => void;
}

export interface GraphqlEndpoint {
  /** Registers `/graphql`. */
  readonly plugin: FastifyPluginAsync;
  /** Serves the WebSockets opened at `/graphql`. */
  readonly live: LiveServer;
  readonly documents: OwnDocuments;
  /** Stops schema rebuilds and Apollo Server. */
  close(): Promise<void>;
}

/** The examples that come, and are tested, with the gateway. */
const REGISTERED_OPERATIONS = path.join(findPackageDirectory(), 'schema/operations');

/** A folder that is named is read even where any document is answered, so that a wrong name is noticed. */
async function readRegistered({
  registeredOperations,
  registeredOperationsOnly,
}: GraphqlServices['config']): Promise<RegisteredOperations | undefined> {
  if (!registeredOperationsOnly && registeredOperations === undefined) return undefined;
  const read = await readRegisteredOperations(registeredOperations ?? REGISTERED_OPERATIONS);
  return registeredOperationsOnly ? read : undefined;
}

/**
 * Runs documents that come with the gateway for other protocols (agents). They pass the same steps as
 * documents sent to `/graphql`, including rights, costs and errors.
 */
export interface OwnDocuments {
  /** The current schema. */
  readonly schema: GraphQLSchema;
  /** Roles that may introspect; `*`: every signed-in caller. */
  readonly introspectionRoles: readonly string[];
  /** The part of the schema that the caller may know. @throws UNAUTHENTICATED */
  schemaFor(context: RequestContext): GraphQLSchema;
  /** The fields and types in the caller's reach. @throws UNAUTHENTICATED */
  reachOf(context: RequestContext): CallerReach;
  /** The rights that a root field needs. */
  neededFor(field: string): readonly NeededRight[];
  /** @throws GraphQLError for a document that the current schema does not allow */
  prepare(text: string): PreparedOperation;
  /** Every failure is part of the answer. @throws GraphQLError as `prepare` does */
  answer(
    text: string,
    options: { readonly caller: GraphqlCaller; readonly variables: Record<string, unknown> },
  ): Promise<OperationAnswer>;
}

/**
 * The pause between two renewals of the schema: a multiple of the time the last one took, up to a maximum.
 */
const REST_FACTOR = 4;
const LONGEST_REST_MS = 2_000;

/** Builds the schema and starts Apollo Server. The caller closes it. */
export async function createGraphqlServer(services: GraphqlServices): Promise<GraphqlEndpoint> {
  const { config, resolvers, catalog } = services;
  const registered = await readRegistered(config);
  const persisted = new PersistedQueries({ maxLength: config.persistedQueriesMaxLength });
  const reports = createReportResolvers(services.reports);
  const instances = new Map<NewableFunction, object>(
    Object.values(resolvers).map((resolver) => [resolver.constructor, resolver]),
  );
  const onFault = services.onFault ?? (() => {});
  const operations: OperationOptions = {
    costs: new OperationCosts({
      ...config,
      maxCost: config.graphqlMaxCost,
      scans: {
        toScannedQuery: (request) => resolvers.records.toScannedQuery(request),
        scannedRows: (scope, query, extent) => services.store.scannedRows(scope, query, extent),
      },
    }),
    introspectionRoles: config.introspectionRoles,
    store: services.store,
    introspections: new Introspections(),
    database: services.database,
    fieldMeter: services.fieldMeter,
    onFault,
  };

  const reachOf = (context: RequestContext) => resolvers.caller.reach(context);

  async function startServer(): Promise<SchemaServer> {
    const served: ServedSchema = new ServedSchema({
      ...buildGatewaySchema({
        collections: catalog.list(),
        reports,
        instanceOf: (resolverClass) => {
          const instance = instances.get(resolverClass);
          invariant(instance, `there is an instance of ${resolverClass.name}`);
          return instance;
        },
        services: { records: resolvers.records, catalog, pages: config },
        scripts: services,
        subgraph: config.federation
          ? { ...config, schemaFor: (context) => served.shownTo(context).schema }
          : undefined,
      }),
      reachOf,
      rules: createDocumentLimitRules(config),
      maxTokens: config.graphqlMaxTokens,
    });
    const apollo = new ApolloServer<GraphqlRequest>({
      schema: served.schema,
      // The documents of requests are kept where they are prepared.
      documentStore: null,
      // Set here, so that Apollo does not read it from the environment.
      nodeEnv: 'production',
      introspection: true,
      // A page of another site cannot send our credential without a preflight, because we accept none from a
      // cookie.
      csrfPrevention: { requestHeaders: [...PREFLIGHT_HEADERS] },
      includeStacktraceInErrorResponses: false,
      stopOnTerminationSignals: false,
      allowBatchedHttpRequests: config.graphqlBatching,
      persistedQueries: { cache: persisted.cache },
      formatError: formatGraphqlError,
      stringifyResult: printResult,
      logger: { ...QUIET, error: (message: unknown) => onFault(message, 'apollo') },
      plugins: [
        executionPlugin(served, operations),
        // Apollo's plugin would wrap the resolver of every field; `cachePolicyOf` reads the hints of root
        // fields instead.
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
        landingPagePlugin(config),
      ],
    });
    await apollo.start();
    return { apollo, served };
  }

  let server = await startServer();
  const current = () => server;
  const served = () => server.served;
  const closing = new AbortController();
  const renewal = new RepeatedWork({
    // Building the schema blocks the process, so changes that arrive meanwhile wait several times as long as
    // it took, and become part of the next renewal.
    work: async () => {
      const startedAt = performance.now();
      const last = server;
      server = await startServer();
      await last.apollo.stop();
      const restMs = Math.min(LONGEST_REST_MS, REST_FACTOR * (performance.now() - startedAt));
      // A close does not wait for the pause.
      await sleep(restMs, undefined, { signal: closing.signal }).catch(() => {});
    },
    onFault: (error) => onFault(error, 'schema'),
  });
  const wake = () => renewal.wake();
  const stopListening = catalog.onChange(wake);
  services.scripts.fieldListeners.add(wake);
  const live = new LiveServer(services.live, { served, operations, registered, config });
  return {
    live,
    documents: {
      get schema() {
        return served().schema;
      },
      introspectionRoles: config.introspectionRoles,
      schemaFor: (context) => served().shownTo(context).schema,
      reachOf,
      neededFor: (field) => served().needed.get(field) ?? [],
      prepare: (text) => served().prepare(text, undefined),
      async answer(text, { caller, variables }) {
        const prepared = served().prepare(text, undefined);
        const request = { ...caller, timing: undefined, includeHeader: undefined, prepared, variables };
        return await answerOperation({ ...request, extensions: {} }, operations);
      },
    },
    plugin: async (app) => {
      const { callerOf } = services;
      serveGraphql(app, { current, callerOf, operations, live, persisted, registered, settings: config });
    },
    close: async () => {
      live.close();
      stopListening();
      services.scripts.fieldListeners.delete(wake);
      closing.abort();
      await renewal.close();
      await server.apollo.stop();
    },
  };
}

const QUIET = { debug: () => {}, info: () => {}, warn: () => {} };
