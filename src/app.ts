/** The composition root: builds the gateway of its services and opens the port. */
import 'reflect-metadata';
import type { DestinationStream } from 'pino';
import type { PasswordCost } from './auth/passwords.js';
import type { Config } from './config.js';
import { createGraphql } from './graphql/graphql-server.js';
import { createResolvers } from './graphql/resolvers.js';
import { CRON_ITEMS, createTasks } from './jobs.js';
import { JobWorkers } from './messaging/job-workers.js';
import { findPackageDirectory } from './package-directory.js';
import { reports } from './reports/registry.js';
import { createServer, type Server } from './server/create-server.js';
import { createLogger } from './server/logger.js';
import { MaintenanceSwitch } from './server/maintenance.js';
import { Purging } from './server/purging.js';
import { openServices, type Services } from './services.js';
import { watchSlowStatements } from './store/slow-statements.js';
import { VERSION } from './version.js';

export interface App {
  readonly services: Services;
  readonly server: Server;
  /** Opens the port; gives the address, e.g. `http://127.0.0.1:4000`. */
  listen(): Promise<string>;
  /** Finishes what is under way, then closes everything, an embedded database last. Later calls wait for the first. */
  close(): Promise<void>;
}

export interface AppOptions {
  /** One line each, of what an operator may want to know while the gateway starts. */
  readonly onProgress?: (line: string) => void;
  /** Where the log goes. Default: standard output. */
  readonly logDestination?: DestinationStream;
  readonly passwordCost?: PasswordCost;
}

/** @throws ServiceError or Error whose message is one line for the operator; nothing is left open then */
export async function createApp(config: Config, options: AppOptions = {}): Promise<App> {
  const logger = createLogger({
    level: config.logLevel,
    ...(options.logDestination && { destination: options.logDestination }),
  });
  const services = await openServices({
    config,
    onFault: (task, error) =>
      logger.error({ event: 'backgroundFault', task, err: error }, 'background fault'),
    ...(options.onProgress && { onProgress: options.onProgress }),
    ...(options.passwordCost && { passwordCost: options.passwordCost }),
  });
  try {
    return await buildApp(config, services, logger);
  } catch (fault) {
    await services.close();
    throw fault;
  }
}

async function buildApp(
  config: Config,
  services: Services,
  logger: ReturnType<typeof createLogger>,
): Promise<App> {
  const { database, domains, catalog, store, authenticator, rateLimits, changes, topics } = services;
  const pages = { defaultPageSize: config.defaultPageSize, maxPageSize: config.maxPageSize };
  const resolvers = createResolvers({ ...services, pages });
  const reportServices = { database, store, domains, now: () => new Date(), ...pages };
  const maintenance = await MaintenanceSwitch.open({ database, isForced: config.maintenance });
  const graphql = await createGraphql({
    resolvers,
    reports: reportServices,
    catalog,
    database,
    live: { feed: changes, topics, store, callers: { authenticator, domains }, rateLimits },
    config,
    onFault: (error, requestId) =>
      logger.error({ event: 'requestFailed', requestId, err: error }, 'request failed'),
  });
  const server = await createServer(
    {
      rest: { resolvers, reports: reportServices },
      reports,
      database,
      jobs: services.jobs,
      files: services.files,
      maintenance,
      logger,
      authenticator,
      domains,
      rateLimits,
      scripting: services,
      explorer: { packageDirectory: findPackageDirectory(), school: () => domains.top() },
      graphql: graphql.plugin,
      live: graphql.live,
    },
    {
      version: VERSION,
      bodyLimitBytes: config.bodyLimitBytes,
      maxWebSockets: config.liveConnections,
      corsOrigins: config.corsOrigins,
      trustProxy: config.trustProxy,
      shutdownGraceMs: config.shutdownGraceMs,
      streams: { maxPerCredential: config.maxStreamsPerCredential, stallMs: config.streamStallMs },
    },
  );
  watchSlowStatements({
    database,
    catalog,
    thresholdMs: config.slowStatementMs,
    report: (statement) => server.observe({ kind: 'statementSlow', ...statement }),
  });
  const purging = new Purging({
    store,
    topDomain: () => domains.top(),
    keepRemovedDays: config.keepRemovedDays,
    observe: server.observe,
  });
  const workers = new JobWorkers({
    url: services.databaseUrl,
    tasks: createTasks({ services, config, observe: server.observe }),
    cronItems: CRON_ITEMS,
    concurrency: config.jobConcurrency,
    shutdownGraceMs: config.shutdownGraceMs,
    observe: server.observe,
  });
  let closing: Promise<void> | undefined;
  return {
    services,
    server,
    async listen() {
      const url = await server.listen({ host: config.host, port: config.port });
      await workers.start();
      await services.scriptRunner.warmUp();
      return url;
    },
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };

  async function closeAll(): Promise<void> {
    await Promise.all([server.stop(), workers.stop()]);
    await purging.close();
    await graphql.close();
    await maintenance.close();
    await services.close();
  }
}
