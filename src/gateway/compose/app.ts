/** The composition root: constructs the services of the gateway and opens its port. */

import path from 'node:path';
import type { DestinationStream } from 'pino';
import { type Closer, closeInTurn } from '../../base/process/close-in-turn.js';
import { findPackageDirectory } from '../../base/process/package-directory.js';
import { VERSION } from '../../base/process/version.js';
import { loadOperationsLibrary } from '../../portal/explore/operations-library.js';
import { printAct, readActs } from '../../school/acts/read-acts.js';
import { DEMO_DOMAIN, DEMO_USERS, isDemoWanted } from '../../school/demo/demo-options.js';
import { assertQueriesOf, readPrints } from '../../school/prints/read-prints.js';
import { readDeclarations } from '../../school/read-declarations.js';
import { Promotions } from '../../school/reports/promotion/promotions.js';
import { DueRaising } from '../../school/reports/receipts/due-raising.js';
import { Receipts } from '../../school/reports/receipts/receipts.js';
import { reports } from '../../school/reports/registry.js';
import { readSheets } from '../../school/sheets/read-sheets.js';
import { IdentityProvider } from '../../services/auth/identity-provider.js';
import { ProviderTokens } from '../../services/auth/provider-tokens.js';
import { countSecretsWithoutKey } from '../../services/auth/text-encryption.js';
import { JobWorkers } from '../../services/jobs/job-workers.js';
import { freeBytes } from '../../store/database/disk-guard.js';
import { InstanceWatch } from '../../store/database/instance-watch.js';
import { listKnownMigrations } from '../../store/database/migrations.js';
import { RecentSlowStatements, watchSlowStatements } from '../../store/reading/slow-statements.js';
import { AgentEndpoint } from '../agents/agent-endpoint.js';
import { AgentPrompts, type PromptDefinition } from '../agents/agent-prompts.js';
import { AgentTools } from '../agents/agent-tools.js';
import type { Config } from '../config/config.js';
import { createGraphqlServer } from '../graphql/graphql-server.js';
import { createResolvers } from '../resolvers/resolvers.js';
import { MaintenanceSwitch } from '../server/admission/maintenance-switch.js';
import { createServer, type Server } from '../server/create-server.js';
import { LogOutput } from '../server/observation/log-output.js';
import { createLogger, openStandardOutput } from '../server/observation/logger.js';
import type { SharedFigures } from '../server/observation/metrics-server.js';
import { createEventLog, type Observe } from '../server/observation/observation.js';
import { createJobs } from './jobs.js';
import { openServices, type Services, type ServicesOptions, schemaFolder } from './services.js';
import 'reflect-metadata';

export interface App {
  readonly services: Services;
  readonly server: Server;
  /** Rejects when the gateway cannot go on, because the database was replaced. */
  readonly fault: Promise<never>;
  /** Opens the port and returns the address, e.g. `http://127.0.0.1:4000`. */
  listen(): Promise<string>;
  /**
   * Finishes the work in progress, then closes everything, an embedded database last. Later calls wait for
   * the first.
   */
  close(): Promise<void>;
}

export interface AppOptions extends Pick<ServicesOptions, 'onProgress' | 'passwordCost' | 'signal'> {
  /** The output of the log. Default: standard output. */
  readonly logDestination?: DestinationStream;
  /** Absent if the gateway has only this process. */
  readonly worker?: WorkerRole;
}

/** The role of this process when several processes serve as one gateway. */
interface WorkerRole {
  /** Whether this process runs the jobs, schedules and purging for all of them. */
  readonly doesBackgroundWork: boolean;
  readonly sharedFigures: SharedFigures;
}

/**
 * @throws ServiceError or Error whose message is one line for the operator; whatever was opened is closed
 *   again
 */
export async function createApp(config: Config, options: AppOptions = {}): Promise<App> {
  const output = options.logDestination ?? openStandardOutput();
  const isTracing = config.otelExporterOtlpEndpoint !== undefined;
  const log = createEventLog(createLogger({ level: config.logLevel, destination: output, isTracing }));
  const closers: Closer[] = [];
  const close = async () => {
    try {
      await closeInTurn(closers);
    } catch (error) {
      log({ kind: 'backgroundFault', task: 'closing', error });
      throw error;
    } finally {
      if (output instanceof LogOutput) await output.close(LOG_GRACE_MS);
    }
  };
  try {
    if (config.otelExporterOtlpEndpoint !== undefined) {
      // The packages of tracing are loaded only if a setting turns it on.
      const { startTracing } = await import('./start-tracing.js');
      const tracing = startTracing(config.otelExporterOtlpEndpoint);
      closers.push(() => tracing.stop());
    }
    const services = await openServices({
      ...{ config, ...options },
      onFault: (task, error) => log({ kind: 'backgroundFault', task, error }),
      onAccountEvent: log,
    });
    closers.push(() => services.close());
    const droppedLogLines = () => (output instanceof LogOutput ? output.dropped : 0);
    const { worker } = options;
    return await buildApp({ config, services, log, droppedLogLines, worker, closers, close });
  } catch (fault) {
    await close().catch(() => {});
    throw fault;
  }
}

/** How long a stop waits for a log that accepts no lines. */
const LOG_GRACE_MS = 500;

interface AppParts {
  readonly config: Config;
  readonly services: Services;
  readonly log: Observe;
  readonly droppedLogLines: () => number;
  readonly worker: WorkerRole | undefined;
  /** Opened parts are added; `close` closes them in reverse order. */
  readonly closers: Closer[];
  readonly close: () => Promise<void>;
}

function identityLoginOf(config: Config, { authenticator, encryption }: Services) {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, publicUrl } = config;
  if (issuer === undefined || clientId === undefined || publicUrl === undefined) return undefined;
  const redirectUri = `${publicUrl}/auth/browser/oidc/callback`;
  const logoutRedirectUri = config.oidcLogout ? `${publicUrl}/` : undefined;
  const settings = { issuer, clientId, clientSecret, redirectUri, logoutRedirectUri };
  const provider = new IdentityProvider(settings, encryption);
  return {
    provider,
    tokens: new ProviderTokens({ provider, authenticator, issuer, resource: `${publicUrl}/mcp` }),
    ...{ authenticator, encryption },
    isTls: publicUrl.startsWith('https:'),
  };
}

async function buildApp(parts: AppParts): Promise<App> {
  const { config, services, log, droppedLogLines, worker, closers, close } = parts;
  const { database, domains, catalog, store, reportServices } = services;
  const pages = { defaultPageSize: config.defaultPageSize, maxPageSize: config.maxPageSize };
  const slowStatements = new RecentSlowStatements();
  const operations = await loadOperationsLibrary(path.join(findPackageDirectory(), 'schema', 'operations'));
  const identityLogin = identityLoginOf(config, services);
  const instanceWatch = new InstanceWatch({
    database,
    knownMigrations: await listKnownMigrations(),
    observe: (news) => server.observe(news),
  });
  const fault = new Promise<never>((_, reject) => {
    database.instance.onReplaced(reject);
  });
  // The runner of the app awaits it.
  fault.catch(() => {});
  const acts = await readActs(schemaFolder('acts'), catalog.list());
  const prints = await readPrints(schemaFolder('prints'), { collections: catalog.list(), reports });
  const resolvers = createResolvers({
    ...services,
    identityProvider: identityLogin?.provider,
    version: VERSION,
    clock: instanceWatch,
    slowStatements,
    diskFreeBytes: async () =>
      config.databaseUrl === undefined ? await freeBytes(config.dataDirectory) : undefined,
    reports,
    operations,
    receipts: new Receipts(reportServices),
    sheets: await readSheets(schemaFolder('sheets'), catalog.list()),
    acts,
    prints,
    promotions: new Promotions({ ...reportServices, catalog }),
    dueRaising: new DueRaising({ ...reportServices, catalog }),
    pages,
    keepRemovedDays: config.keepRemovedDays,
    maxRecordsPerWrite: config.maxRecordsPerWrite,
  });
  const maintenance = await MaintenanceSwitch.open({ database, isForced: config.maintenance });
  closers.push(() => maintenance.close());
  const onFault = (error: unknown, requestId: string) => log({ kind: 'requestFailed', requestId, error });
  const graphql = await createGraphqlServer({
    ...services,
    resolvers,
    reports: reportServices,
    live: {
      ...services,
      feed: services.changes,
      callers: services,
    },
    config,
    callerOf: ({ requestContext: context, lifecycle: { notes } }) => ({ context, notes }),
    onFault,
  });
  closers.push(() => graphql.close());
  // An act that does not fit the schema ends the start.
  for (const act of acts) printAct(act, graphql.documents.schema);
  assertQueriesOf(prints, graphql.documents.schema);
  const { documents } = graphql;
  const now = () => new Date();
  const tools = new AgentTools({
    ...{ documents, library: operations, collections: catalog, now, onFault },
    bounds: { maxRows: config.agentMaxRows, maxBytes: config.agentMaxBytes },
  });
  const declared = await readDeclarations<PromptDefinition>(schemaFolder('prompts'), 'prompt');
  const definitions = declared.map(({ definition }) => definition);
  const prompts = new AgentPrompts({ definitions, tools, documents, now });
  const agents = new AgentEndpoint({ tools, prompts, onFault });
  const server: Server = await createServer(
    {
      ...services,
      ...{ reports, maintenance, log, identityLogin, agents, droppedLogLines },
      rest: { resolvers, reports: reportServices },
      collections: catalog.list().filter(({ isDeclared }) => isDeclared),
      clock: instanceWatch,
      secretsWithoutKey: () => countSecretsWithoutKey(database.background, services.encryption),
      scripting: services,
      portal: {
        identityProvider: config.oidcIssuer === undefined ? undefined : config.oidcName,
        packageDirectory: findPackageDirectory(),
        school: () => domains.top(),
        demo: {
          domainId: DEMO_DOMAIN,
          userNames: isDemoWanted(config) ? DEMO_USERS.map(({ userName }) => userName) : [],
        },
      },
      graphql: graphql.plugin,
      live: graphql.live,
      mayWrite: (scope) => store.mayWrite(scope),
      sharedFigures: worker?.sharedFigures,
    },
    config,
  );
  database.onNews(server.observe);
  watchSlowStatements({
    database,
    catalog,
    thresholdMs: config.slowStatementMs,
    report: (statement) => {
      slowStatements.note(statement);
      server.observe({ kind: 'statementSlow', ...statement });
    },
    onFault: (error) => server.observe({ kind: 'backgroundFault', task: 'slow statements', error }),
  });
  const doesBackgroundWork = worker?.doesBackgroundWork ?? true;
  const workers = new JobWorkers({
    database,
    ...createJobs({ services, config, observe: server.observe }),
    concurrency: doesBackgroundWork ? config.jobConcurrency : 0,
    shutdownGraceMs: config.shutdownGraceMs,
    observe: server.observe,
  });
  closers.push(() => Promise.all([server.stop(), workers.stop(), services.webhookDeliveries.close()]));
  closers.push(instanceWatch.start());
  let closing: Promise<void> | undefined;
  return {
    services,
    server,
    fault,
    async listen() {
      const url = await server.listen({ host: config.host, port: config.port });
      await workers.start();
      if (doesBackgroundWork)
        services.webhookDeliveries.start((state) => server.observe({ kind: 'webhookTried', state }));
      await services.scriptRunner.warmUp(services.scripts.starts.expectedRuns);
      return url;
    },
    close: () => {
      closing ??= server.announceStop().then(close);
      return closing;
    },
  };
}
