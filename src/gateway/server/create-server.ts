/** Creates the HTTP server from its plugins, in this order. */
import cors from '@fastify/cors';
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import { toProxyTrust } from '../../base/http/trusted-proxies.js';
import type { Collection } from '../../base/model/collection.js';
import { VERSION } from '../../base/process/version.js';
import type { Report } from '../../school/reports/engine/report.js';
import type { KeyMeter } from '../../services/auth/key-meter.js';
import type { ProviderTokens } from '../../services/auth/provider-tokens.js';
import type { Files } from '../../services/files/files.js';
import type { Imports } from '../../services/importing/imports.js';
import type { AgentEndpoint } from '../agents/agent-endpoint.js';
import type { Config } from '../config/config.js';
import { CLOSE } from '../graphql/live/live-connection.js';
import type { LiveServer } from '../graphql/live/live-server.js';
import { CallerContracts } from '../rest/caller-contracts.js';
import type { RestServices } from '../rest/route.js';
import { createRouteTable, suggestPath } from '../rest/routes.js';
import { SERVICE_ROUTES } from '../rest/service-routes.js';
import { AdmissionControl, limitsOfProcess } from './admission/admission-control.js';
import {
  type AuthenticationOptions,
  adoptCredential,
  useAuthentication,
} from './admission/authentication.js';
import { type BodyLimits, useBodyAdmission } from './admission/body-admission.js';
import { ConnectionAdmission } from './admission/connection-admission.js';
import { type MaintenanceSwitch, useMaintenance } from './admission/maintenance-switch.js';
import { CallerCache, useRequestAdmission } from './admission/request-admission.js';
import { SerialRequests } from './admission/serial-requests.js';
import { StreamLimits } from './admission/stream-limits.js';
import { type HealthOptions, useHealth } from './observation/health.js';
import { Metrics, type MetricsSources } from './observation/metrics.js';
import { createMetricsServer, type SharedFigures, useMetrics } from './observation/metrics-server.js';
import { createObserver, type Observe } from './observation/observation.js';
import { useRequestTracing } from './observation/request-tracing.js';
import { RequestsInFlight, requestIdOf, useLifecycle } from './request-lifecycle.js';
import { useAgents } from './routes/agent-serving.js';
import { useContractFiles } from './routes/contract-files.js';
import { useFiles } from './routes/file-serving.js';
import { type IdentityLoginServices, useIdentityLogin } from './routes/identity-login.js';
import { useImports } from './routes/import-serving.js';
import { useManualPages } from './routes/manual-pages.js';
import { type PortalOptions, usePortal } from './routes/portal.js';
import { useRest } from './routes/rest.js';
import { type ScriptEndpointServices, useScriptEndpoints } from './routes/script-endpoints.js';
import { applyMethodOverride, useTusDiscovery } from './routes/tus.js';
import { useUnroutedAnswers } from './routes/unrouted.js';
import { WebSockets } from './routes/web-sockets.js';
import { useBodyParsing } from './sending/body-parsing.js';
import { createClientErrorHandler } from './sending/client-errors.js';
import { createUnreadablePathAnswer, useErrorAnswers } from './sending/error-answers.js';
import { API_HEADERS, LANDING_HEADERS } from './sending/security-headers.js';
import { UnreadAnswers } from './sending/unread-answers.js';
import { Stop } from './stop.js';

export interface ServerServices extends AuthenticationOptions, MetricsSources {
  readonly rest: RestServices;
  /** Counts the requests of API keys. */
  readonly keyMeter: Pick<KeyMeter, 'note'>;
  readonly reports: readonly Report[];
  /** The declared collections, which the documentation describes. */
  readonly collections: readonly Collection[];
  readonly database: MetricsSources['database'] & HealthOptions['database'];
  readonly files: Files;
  readonly imports: Imports;
  readonly maintenance: Pick<MaintenanceSwitch, 'isOn' | 'onChange'>;
  /** The log that events are written to. */
  readonly log: Observe;
  readonly portal: PortalOptions;
  /** Absent if no identity provider is configured. */
  readonly identityLogin: (IdentityLoginServices & { readonly tokens: ProviderTokens }) | undefined;
  /** Answers `/x/<name>`. */
  readonly scripting: ScriptEndpointServices;
  /** Answers agents at `/mcp`. */
  readonly agents: AgentEndpoint;
  /** Serves `/graphql`. */
  readonly graphql: FastifyPluginAsync;
  /** Serves the WebSockets opened there. */
  readonly live: LiveServer;
  readonly mayWrite: BodyLimits['mayWrite'];
  /** Absent: this process is the whole gateway. */
  readonly sharedFigures: SharedFigures | undefined;
}

export interface Server {
  readonly fastify: FastifyInstance;
  readonly metrics: Metrics;
  readonly observe: Observe;
  /** Opens the port and returns the address, e.g. `http://127.0.0.1:4000`. */
  listen(settings: { readonly host: string; readonly port: number }): Promise<string>;
  /** Reports "not ready" while still answering everything, until balancers have noticed. */
  announceStop(): Promise<void>;
  /**
   * Finishes requests in progress, refuses new ones, then closes. Requests that outlast the grace period are
   * cut off.
   */
  stop(): Promise<void>;
}

/** How long an idle connection stays open, unless a proxy in front closes it earlier. */
const KEEP_ALIVE_MS = 72_000;

/** Limits how long a request may take to arrive; Fastify's default is to wait for ever. */
const REQUEST_TIMEOUT_MS = 300_000;

/** Connections waiting to be accepted; with a full backlog, clients would retry after a second. */
const BACKLOG = 4096;
/** The same time as a request waits for a connection to the database. */
const WAIT_MS = 10_000;
/** Complete answers that the operating system has not taken yet. */
const UNREAD_BYTES_OF_ADDRESS = 32 * 1024 * 1024;
const UNREAD_BYTES_OF_ALL = 64 * 1024 * 1024;
/** New connections of one address. */
const NEW_CONNECTIONS = { perSecond: 200, burst: 1000, mostWaitMs: 2000 };
/** The places of vital routes, whose answers are cached. */
const VITAL_LIMITS = { all: 8, besideOthers: 8 };

export async function createServer(services: ServerServices, config: Config): Promise<Server> {
  const { publicUrl, corsOrigins, metricsPort, streamStallMs: stallMs } = config;
  const { reports, files, imports, sharedFigures } = services;
  const inFlight = new RequestsInFlight();
  const admission = new AdmissionControl({ limits: limitsOfProcess(config), waitMs: WAIT_MS });
  const vitalAdmission = new AdmissionControl({ limits: VITAL_LIMITS, waitMs: WAIT_MS });
  const streams = new StreamLimits(config);
  const metrics = new Metrics(services, {
    inFlight: () => inFlight.count,
    waiting: () => admission.waiting + vitalAdmission.waiting,
  });
  const observe = createObserver({ log: services.log, metrics, keyMeter: services.keyMeter });
  services.maintenance.onChange((isOn) => observe({ kind: 'maintenanceSwitched', isOn }));
  const serverRoutes = SERVICE_ROUTES.filter(({ path }) => path !== '/metrics' || metricsPort === undefined);
  const table = createRouteTable({ serverRoutes, reports, version: VERSION });
  const contracts = new CallerContracts({
    caller: services.rest.resolvers.caller,
    declared: services.collections,
    ...{ serverRoutes, reports, version: VERSION },
  });

  const requests = new SerialRequests();
  const app = fastify({
    logger: false,
    http: { IncomingMessage: requests.IncomingMessage },
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: toProxyTrust(config.trustProxy),
    bodyLimit: config.bodyLimitBytes,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    frameworkErrors: createUnreadablePathAnswer(admission),
    rewriteUrl: (request) => {
      applyMethodOverride(request);
      adoptCredential(request);
      return request.url ?? '/';
    },
    clientErrorHandler: createClientErrorHandler(observe),
  });

  if (config.otelExporterOtlpEndpoint !== undefined) useRequestTracing(app, config.tracesPerSecond);
  const unread = new UnreadAnswers({
    stallMs,
    bytesOfAddress: UNREAD_BYTES_OF_ADDRESS,
    bytesOfAll: UNREAD_BYTES_OF_ALL,
    onCut: (requestId, reason) => observe({ kind: 'readerCut', requestId, reason }),
  });
  useLifecycle(app, { inFlight, observe, headers: API_HEADERS, unread });
  const callers = new CallerCache();
  useRequestAdmission(app, { admission, vitalAdmission, callers });
  useTusDiscovery(app, { uploads: files.uploads, imports });
  if (corsOrigins.length > 0) await app.register(cors, crossOrigin(corsOrigins));
  const stop = new Stop(app, { config, inFlight, observe });
  useMaintenance(app, services.maintenance);
  // Refuses what was not admitted, after the hooks that set headers, such as CORS.
  app.addHook('onRequest', (request, _reply, done) => done(request.lifecycle.refusal));
  const providerTokens = services.identityLogin?.tokens;
  useAuthentication(app, { ...services, providerTokens }, callers);
  useBodyAdmission(app, { ...config, mayWrite: services.mayWrite }, config);
  const paths = table.descriptions.map(({ path }) => path);
  useUnroutedAnswers(app, (path, fixed) => suggestPath(path, [...paths, ...fixed]));
  useErrorAnswers(app, observe);

  useHealth(app, {
    database: services.database,
    findObstacle: () => {
      if (stop.isAnnounced) return 'This gateway is shutting down.';
      return services.maintenance.isOn ? 'The service is down for maintenance.' : undefined;
    },
  });
  const figuresOptions = { config, metrics, sharedFigures };
  const figures = metricsPort === undefined ? undefined : createMetricsServer({ ...figuresOptions, observe });
  if (!figures) useMetrics(app, { ...figuresOptions, rateLimits: services.rateLimits });
  useContractFiles(app, { contracts, publicUrl });
  await usePortal(app, services.portal);
  await useManualPages(app, services.portal);
  await app.register(async (rest) => {
    useBodyParsing(rest, config);
    useRest(rest, { ...table, services: services.rest, observe, streams, publicUrl });
  });
  if (services.identityLogin) await useIdentityLogin(app, services.identityLogin, { config, observe });
  await useScriptEndpoints(app, services.scripting, config);
  await app.register((scope) => useImports(scope, { imports, stallMs }));
  await app.register((scope) => useFiles(scope, { files, imports, stallMs }));
  const { live } = services;
  const origins = publicUrl === undefined ? corsOrigins : [...corsOrigins, new URL(publicUrl).origin];
  const access = providerTokens && publicUrl !== undefined ? { ...providerTokens, publicUrl } : undefined;
  await app.register((scope) => useAgents(scope, { endpoint: services.agents, config, origins, access }));
  const webSockets = new WebSockets({ live, config, admission, observe });
  webSockets.listen(app, requests);
  if (config.trustProxy === false) {
    new ConnectionAdmission({
      mostOpen: config.connectionsPerAddress,
      ...NEW_CONNECTIONS,
      onRefused: (reason) => observe({ kind: 'connectionRefused', reason }),
    }).listen(app.server);
  }
  services.maintenance.onChange((isOn) => {
    if (isOn) live.closeAll(CLOSE.tryAgainLater, 'The service is down for maintenance');
  });
  await app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      // JSON answers need no content security policy, which is longer than many of them.
      if (request.headers.accept?.includes('text/html')) reply.headers(LANDING_HEADERS);
      done();
    });
    webSockets.accept(scope);
    await scope.register(services.graphql);
  });

  return {
    fastify: app,
    metrics,
    observe,
    async listen(address) {
      const url = await app.listen({ ...address, backlog: BACKLOG });
      if (metricsPort !== undefined) await figures?.listen({ host: address.host, port: metricsPort });
      observe({ kind: 'listening', url });
      return url;
    },
    announceStop: () => stop.announce(),
    async stop() {
      await stop.finish(webSockets);
      await figures?.close();
    },
  };
}

/** If browsers may call from other origins, every OPTIONS is answered as a preflight. */
function crossOrigin(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders:
      'ETag, Preference-Applied, Link, Location, Retry-After, X-Next-Cursor, X-Next-Since, X-Read-After, ' +
      'Server-Timing, X-Hint, X-Request-Id, X-Total-Count, RateLimit-Limit, RateLimit-Remaining, ' +
      'RateLimit-Reset, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, ' +
      'Upload-Offset, Upload-Length, Upload-Defer-Length, Upload-Metadata, Upload-Expires',
    maxAge: 600,
    strictPreflight: false,
  };
}
