/** The server: what it serves is in the plugins it is built of, in this order. */
import cors from '@fastify/cors';
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import type { Logger } from 'pino';
import type { Files } from '../files/files.js';
import { CLOSE } from '../graphql/live/live-connection.js';
import type { LiveServer } from '../graphql/live/live-server.js';
import type { JobQueue } from '../messaging/job-queue.js';
import type { Report } from '../reports/report.js';
import { printOpenapi } from '../rest/openapi.js';
import type { RestServices } from '../rest/route.js';
import { createRouteTable } from '../rest/routes.js';
import { SERVER_ROUTES } from '../rest/service-routes.js';
import type { Database } from '../store/database/database.js';
import { RequestsInFlight, requestIdOf, useArrival } from './arrival.js';
import { type AuthenticationOptions, useAuthentication } from './authentication.js';
import { useBodyParsing } from './body-parsing.js';
import { createClientErrorHandler } from './client-errors.js';
import { useDocumentation } from './documentation.js';
import { answerUnreadablePath, useGraphqlErrorAnswers, useProblemAnswers } from './error-answers.js';
import { type ExplorerOptions, useExplorer } from './explorer.js';
import { useFiles } from './files.js';
import { useHealth } from './health.js';
import { type MaintenanceSwitch, useMaintenance } from './maintenance.js';
import { Metrics } from './metrics.js';
import { createObserver, type Observe } from './observation.js';
import { addAllMethods, addOtherMethods, useRest } from './rest.js';
import { type ScriptEndpointServices, useScriptEndpoints } from './script-endpoints.js';
import { API_HEADERS, SANDBOX_HEADERS } from './security-headers.js';
import { Stopping, stopServer, useStopping } from './stopping.js';
import { StreamLimits, type StreamLimitsOptions } from './stream-limits.js';
import { WebSockets } from './web-sockets.js';

export interface ServerServices extends AuthenticationOptions {
  readonly rest: RestServices;
  readonly reports: readonly Report[];
  readonly database: Pick<Database, 'query' | 'pool'>;
  readonly jobs: Pick<JobQueue, 'counts'>;
  readonly files: Files;
  readonly maintenance: Pick<MaintenanceSwitch, 'isOn' | 'onChange'>;
  readonly logger: Logger;
  readonly explorer: ExplorerOptions;
  /** What answers `/x/<name>`. */
  readonly scripting: ScriptEndpointServices;
  /** Serves `/graphql`. Absent: REST alone. */
  readonly graphql?: FastifyPluginAsync;
  /** Serves the WebSockets opened there. */
  readonly live?: LiveServer;
}

export interface ServerOptions {
  /** Of the package, shown in `GET /` and openapi.json. */
  readonly version: string;
  readonly bodyLimitBytes: number;
  readonly maxWebSockets: number;
  readonly corsOrigins: readonly string[];
  /** Takes the caller's address from X-Forwarded-For. */
  readonly trustProxy: boolean;
  readonly shutdownGraceMs: number;
  readonly streams: StreamLimitsOptions;
}

export interface Server {
  readonly fastify: FastifyInstance;
  readonly metrics: Metrics;
  readonly observe: Observe;
  /** Opens the port; gives the address, e.g. `http://127.0.0.1:4000`. */
  listen(o: { readonly host: string; readonly port: number }): Promise<string>;
  /** Answers what is under way, refuses what is new, then closes. What takes longer than the grace is cut. */
  stop(): Promise<void>;
}

/** Connections that send nothing are closed after this, unless a proxy in front closes them first. */
const KEEP_ALIVE_MS = 72_000;

/** A request that takes longer to arrive holds a connection for nothing; Fastify would wait for ever. */
const REQUEST_TIMEOUT_MS = 300_000;

export async function createServer(services: ServerServices, options: ServerOptions): Promise<Server> {
  const inFlight = new RequestsInFlight();
  const stopping = new Stopping();
  const streams = new StreamLimits(options.streams);
  const metrics = new Metrics({
    pool: services.database.pool,
    inFlight: () => inFlight.count,
    live: services.live,
    jobs: services.jobs,
  });
  const observe = createObserver({ logger: services.logger, metrics });
  services.maintenance.onChange((isOn) => observe({ kind: 'maintenanceSwitched', isOn }));
  const table = createRouteTable({ reports: services.reports, version: options.version });

  const app = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: options.trustProxy,
    bodyLimit: options.bodyLimitBytes,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    frameworkErrors: answerUnreadablePath,
    clientErrorHandler: createClientErrorHandler(observe),
  });
  addAllMethods(app);

  useArrival(app, { inFlight, observe, headers: API_HEADERS });
  if (options.corsOrigins.length > 0) await app.register(cors, crossOrigin(options.corsOrigins));
  useStopping(app, stopping);
  useMaintenance(app, services.maintenance);
  useAuthentication(app, services);
  useProblemAnswers(app, observe);

  useHealth(app, {
    database: services.database,
    metrics,
    findObstacle: () => obstacle({ stopping, maintenance: services.maintenance }),
  });
  useDocumentation(app, { openapi: printOpenapi(table, options.version) });
  await useExplorer(app, services.explorer);
  for (const { path } of SERVER_ROUTES) addOtherMethods(app, path, ['GET', 'HEAD']);
  await app.register(async (rest) => {
    await useBodyParsing(rest);
    useRest(rest, { routes: table.routes, services: services.rest, observe, streams });
  });
  await useScriptEndpoints(app, services.scripting);
  await app.register((scope) => useFiles(scope, { files: services.files, stallMs: options.streams.stallMs }));
  const { graphql, live } = services;
  const webSockets =
    live &&
    new WebSockets({
      live,
      maxConnections: options.maxWebSockets,
      maxMessageBytes: options.bodyLimitBytes,
      observe,
    });
  webSockets?.listen(app);
  services.maintenance.onChange((isOn) => {
    if (isOn) live?.closeAll(CLOSE.tryAgainLater, 'The service is down for maintenance');
  });
  if (graphql) {
    await app.register(async (scope) => {
      scope.addHook('onRequest', (request, reply, done) => {
        // Answers in JSON need no policy of a page, which is longer than many of them.
        if (request.headers.accept?.includes('text/html')) {
          reply.removeHeader('cross-origin-embedder-policy').headers(SANDBOX_HEADERS);
        }
        done();
      });
      useGraphqlErrorAnswers(scope, observe);
      webSockets?.accept(scope);
      await scope.register(graphql);
    });
  }

  return {
    fastify: app,
    metrics,
    observe,
    async listen(address) {
      const url = await app.listen(address);
      observe({ kind: 'listening', url });
      return url;
    },
    stop: () =>
      stopServer(app, { stopping, inFlight, webSockets, graceMs: options.shutdownGraceMs, observe }),
  };
}

/** Every OPTIONS is answered as a preflight where browsers may call from elsewhere. */
function crossOrigin(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'ETag',
      'Link',
      'Location',
      'Retry-After',
      'X-Next-Cursor',
      'Server-Timing',
      'X-Hint',
      'X-Request-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
    ],
    maxAge: 600,
    strictPreflight: false,
  };
}

function obstacle(o: {
  readonly stopping: Stopping;
  readonly maintenance: { readonly isOn: boolean };
}): string | undefined {
  if (o.stopping.isOn) return 'This gateway is shutting down.';
  return o.maintenance.isOn ? 'The service is down for maintenance.' : undefined;
}
