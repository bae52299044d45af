import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { performance } from 'node:perf_hooks';
import { isNativeError } from 'node:util/types';
import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import type { Domain } from '../base/model/scope.js';
import { closeInTurn, thenClose } from '../base/process/close-in-turn.js';
import { unlessAborted } from '../base/process/unless-aborted.js';
import { didYouMean } from '../base/text/did-you-mean.js';
import { createApp } from '../gateway/compose/app.js';
import { openDatabaseServer, openServices, type Services } from '../gateway/compose/services.js';
import { type Config, roleSettings } from '../gateway/config/config.js';
import { createLogger, openStandardOutput } from '../gateway/server/observation/logger.js';
import { createEventLog } from '../gateway/server/observation/observation.js';
import {
  DEMO_DEFAULTS,
  DEMO_DOMAIN,
  DEMO_USERS,
  isDemoWanted,
  isReachable,
} from '../school/demo/demo-options.js';
import { declaredRoles, listHeldRoles } from '../store/catalog/roles.js';
import { sql } from '../store/sql.js';
import { type CommandLine, printFault } from './command-line.js';
import { endWithFault, printNote } from './console-output.js';
import { listenForStopSignal, StoppedBySignal } from './stop-signal.js';
import { WorkerFailed, WorkerGroup, WorkerProcess } from './worker-group.js';

/** `campus start`: the gateway, until a signal stops it. */
export function registerStartCommand(command: Command, commandLine: CommandLine): void {
  command.action(() => start(commandLine.config));
}

async function start(config: Config): Promise<void> {
  tuneCollector();
  if (cluster.isWorker) {
    await serveAsWorker(config);
    return;
  }
  const stop = listenForStopSignal();
  stop.addEventListener('abort', () => endIfLate(config), { once: true });
  try {
    await unlessAborted(assertPortsAreFree(config), stop);
    if (config.workers > 1) await serveByWorkers(config, stop);
    else await serve(config, stop);
  } catch (fault) {
    if (fault instanceof WorkerFailed) {
      if (fault.isSilent) printNote(fault.message);
      process.exit(fault.exitCode);
    }
    if (!stop.aborted) throw fault;
    if (!(fault instanceof StoppedBySignal)) process.exit(endWithFault(fault));
    printNote('stopped before it had started; nothing is left half made');
  }
  if (stop.aborted) process.exit(0);
}

/** Longer than PostgreSQL may take over its stop. */
const CLOSE_MARGIN_MS = 75_000;

/** Whatever hangs while everything is closed, the process ends. */
function endIfLate({ shutdownDelayMs, shutdownGraceMs }: Config): void {
  const end = () => {
    printNote('stopping took too long; ended as it was');
    process.exit(1);
  };
  setTimeout(end, shutdownDelayMs + shutdownGraceMs + CLOSE_MARGIN_MS).unref();
}

/** The growth of old objects, in percent since their last collection, at which the next one is due. */
const OLD_OBJECTS_GROW_BY = 50;

function tuneCollector(): void {
  // The objects of a request are dead by the next collection of young objects, which has hardly anything to
  // move. Threads that share so little work wait for each other longer than they work.
  setFlagsFromString('--no-parallel-scavenge');
  // Requests that wait in a flood outlive two collections of young objects, count as old then, and are dead a
  // moment later. By default the engine lets old objects grow to several times the live ones before it
  // collects them, and more so the faster they come.
  setFlagsFromString(`--heap-growing-percent=${OLD_OBJECTS_GROW_BY}`);
}

function releaseMemory(): void {
  collectOnceQuiet().catch((fault: unknown) => printNote(`garbage was not collected: ${String(fault)}`));
}

/** The whole gateway in this process. */
async function serve(config: Config, stop: AbortSignal): Promise<void> {
  const opening = createApp(config, { onProgress: printNote, signal: stop });
  const app = await unlessAborted(opening, stop, config.shutdownGraceMs);
  const run = async () => {
    stop.throwIfAborted();
    await seedDemo(app.services, { config, stop });
    // Behind the open port the jobs begin, and wait for a database that has gone meanwhile.
    const url = await unlessAborted(app.listen().catch(explainAddress(config)), stop);
    stop.throwIfAborted();
    await unlessAborted(warnOfUnknownRoles(app.services, config), stop);
    const bannerFor = await unlessAborted(prepareBanner(app.services, config), stop);
    showBanner(bannerFor(readableUrl(url)));
    releaseMemory();
    await Promise.race([untilAborted(stop), app.fault]);
  };
  await thenClose(run, () => app.close(), reportClosing);
}

/** Runs the gateway in several processes; this one opens the database and manages them. */
async function serveByWorkers(config: Config, stop: AbortSignal): Promise<void> {
  const server = await openDatabaseServer(config, { onProgress: printNote, signal: stop });
  const run = async () => {
    stop.throwIfAborted();
    const bannerFor = await prepareDatabase(config, { databaseUrl: server.url, stop });
    // The workers are to share one port, so that it is chosen before they listen.
    const port = config.port === 0 ? await findFreePort(config.host) : config.port;
    const output = openStandardOutput();
    const { group, url } = await WorkerGroup.start(
      {
        count: config.workers,
        environment: { DATABASE_URL: server.url, PORT: String(port) },
        output,
        observe: createEventLog(createLogger({ level: config.logLevel, destination: output })),
        stopWithinMs: config.shutdownDelayMs + config.shutdownGraceMs + STOP_MARGIN_MS,
      },
      stop,
    );
    const untilStopped = async () => {
      stop.throwIfAborted();
      showBanner(bannerFor(readableUrl(url)));
      await untilAborted(stop);
    };
    const close = () => closeInTurn([() => output.close(LOG_GRACE_MS), () => group.stop()]);
    await thenClose(untilStopped, close, reportClosing);
  };
  await thenClose(run, () => server.stop(), reportClosing);
}

async function serveAsWorker(config: Config): Promise<void> {
  const worker = new WorkerProcess();
  const { stop, sharedFigures } = worker;
  stop.addEventListener('abort', () => endIfLate(config), { once: true });
  try {
    const { doesBackgroundWork } = await worker.begun;
    const opening = createApp(config, { worker: { doesBackgroundWork, sharedFigures }, signal: stop });
    const app = await unlessAborted(opening, stop, config.shutdownGraceMs);
    const run = async () => {
      worker.tellListening(await unlessAborted(app.listen().catch(explainAddress(config)), stop));
      releaseMemory();
      await Promise.race([untilAborted(stop), app.fault]);
    };
    await thenClose(run, () => app.close(), reportClosing);
  } catch (fault) {
    if (!(fault instanceof StoppedBySignal)) {
      worker.release();
      throw fault;
    }
  }
  process.exit(0);
}

/** Runs once before the workers start: migrations, and the demo school. Returns how to report it. */
async function prepareDatabase(
  config: Config,
  { databaseUrl, stop }: { readonly databaseUrl: string; readonly stop: AbortSignal },
): Promise<(url: string) => string> {
  const opening = openServices({
    config: { ...config, databaseUrl },
    onProgress: printNote,
    onFault: printFault,
    signal: stop,
  });
  const services = await unlessAborted(opening, stop, config.shutdownGraceMs);
  const prepare = async () => {
    await seedDemo(services, { config, stop });
    await unlessAborted(warnOfUnknownRoles(services, config), stop);
    return await unlessAborted(prepareBanner(services, config), stop);
  };
  return await thenClose(prepare, () => services.close(), reportClosing);
}

function reportClosing(error: unknown): void {
  printFault('closing', error);
}

async function seedDemo(
  services: Services,
  { config, stop }: { readonly config: Config; readonly stop: AbortSignal },
): Promise<void> {
  if (config.databaseUrl !== undefined || !isDemoWanted(config)) return;
  if (services.domains.top() !== undefined) return;
  printNote('first start, making the demo school');
  // This also loads the makers of names, which nothing else of a running gateway needs.
  const { seedFirstSchool } = await import('./seed-command.js');
  await seedFirstSchool(services, { ...DEMO_DEFAULTS, signal: stop });
}

async function warnOfUnknownRoles(services: Services, config: Config): Promise<void> {
  try {
    for (const line of await findUnknownRoles(services, config)) printNote(line);
  } catch (fault) {
    // The database may be unreachable by now; the gateway itself waits for it.
    printNote(`the roles in the settings were not checked: ${String(fault)}`);
  }
}

/** Prints to standard error: standard output has only the log, a JSON object a line. */
function showBanner(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** A port that nobody listens on: `wanted`, or one that the system chooses. */
async function findFreePort(host: string, wanted = 0): Promise<number> {
  const probe = createServer();
  probe.listen(wanted, host);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** The time a worker has after its grace to close its connections. */
const STOP_MARGIN_MS = 5_000;
/** The longest wait for a log that cannot be written. */
const LOG_GRACE_MS = 500;

/** A taken port is reported before the database is made or upgraded, which may take minutes. */
async function assertPortsAreFree(config: Config): Promise<void> {
  for (const port of [config.port, config.metricsPort]) {
    if (port !== undefined) await findFreePort(config.host, port).catch(explainAddress(config));
  }
}

/** Throws the system's error for an address in words of ours, and any other error unchanged. */
function explainAddress({ host, port, metricsPort }: Config): (fault: unknown) => never {
  return (fault) => {
    const reason = isNativeError(fault) && 'code' in fault ? ADDRESS_FAULTS.get(fault.code) : undefined;
    if (reason === undefined) throw fault;
    const isOfMetrics =
      isNativeError(fault) && 'port' in fault && fault.port === metricsPort && metricsPort !== port;
    const [taken, setting] = isOfMetrics ? [metricsPort, 'METRICS_PORT'] : [port, 'PORT'];
    throw new ServiceError(
      'UNAVAILABLE',
      `Port ${taken} of ${host} ${reason}; ${setting} and HOST name another address.`,
      { cause: fault },
    );
  };
}

/** Errors of the system for an address we may not listen on. */
const ADDRESS_FAULTS: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'is taken by another program'],
  ['EACCES', 'is not for this user'],
  ['EADDRNOTAVAIL', 'is not an address of this machine'],
  ['ENOTFOUND', 'is not an address of this machine'],
]);

/** Without a school, makes the link that sets one up; it is printed here only. */
async function prepareBanner(
  { domains, firstRun }: Services,
  config: Config,
): Promise<(url: string) => string> {
  const school = domains.top();
  if (school?.id === DEMO_DOMAIN && isReachable(config)) {
    printNote(
      'WARNING: this is the demo school, and others can reach it (HOST, PUBLIC_URL): everybody knows its ' +
        'passwords, such as demo-admin. Change them, or set HOST=127.0.0.1 and no PUBLIC_URL.',
    );
  }
  const token = await firstRun.offer();
  return (url) => banner(url, school, `${config.publicUrl ?? url}/first-run#${token ?? ''}`);
}

/** The next steps for a newcomer, on one screen. */
function banner(url: string, school: Domain | undefined, link: string): string {
  if (!school) {
    return [
      `Campus Gateway listens on ${url}. There is no school yet. Create one within a day, only by this link:`,
      `  ${link}`,
      'or here:',
      '  campus domain add <id> --name <name>          a school of your own, then',
      '  campus user add admin --name <name> --role admin',
      '  campus seed                                   or the demo school',
    ].join('\n');
  }
  const isDemo = school.id === DEMO_DOMAIN;
  return [
    '',
    `Campus Gateway serves ${school.name}`,
    '',
    `  Portal     ${url}/          for people, in a browser`,
    `  REST       ${url}/docs      every route to browse; ${url}/ gives them to programs, as JSON`,
    `  GraphQL    ${url}/explore   log in, run the examples, see tables and charts`,
    `             ${url}/graphql   for programs; in a browser, links to explorers`,
    `  Health     ${url}/healthz   ${url}/readyz   ${url}/metrics`,
    '',
    ...(isDemo ? demoLines(url) : []),
    'Ctrl-C stops it.',
    '',
  ].join('\n');
}

function demoLines(url: string): string[] {
  return [
    `Demo logins: ${DEMO_USERS.map(({ userName }) => userName).join(', ')}; the password is ` +
      'demo-<user>. Try:',
    '',
    `  TOKEN=$(curl -s -X POST '${url}/auth?user_name=admin&password=demo-admin' | sed ` +
      `'s/.*"access_token":"\\([^"]*\\).*/\\1/')`,
    '  curl -s -H "Authorization: Bearer $TOKEN" ' +
      `'${url}/o/recs/task?stream=true&oquery=amount=>5000&project=name,amount'`,
    `  curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' ${url}/graphql ` +
      `-d '{"query":"{ tasks(first: 3) { nodes { name amount manager { label } } } }"}'`,
    '',
  ];
}

/** An address a person can click: a wildcard is reached as localhost. */
function readableUrl(url: string): string {
  return url.replace(/\/\/(0\.0\.0\.0|127\.0\.0\.1|\[::1?\])/, '//localhost');
}

/**
 * One line for each role that a setting names, but no declaration of a collection and no user has. A misspelt
 * role in SECOND_FACTOR_ROLES would leave the roles that were meant without a second factor. The gateway
 * starts all the same, because the role may be given to users later.
 */
async function findUnknownRoles(
  { database, catalog }: Pick<Services, 'database' | 'catalog'>,
  config: Config,
): Promise<string[]> {
  const declared = declaredRoles(catalog.list());
  const named = roleSettings(config).map(({ variable, roles }) => ({
    variable,
    roles: roles.filter((role) => !declared.has(role)),
  }));
  const undeclared = named.flatMap(({ roles }) => roles);
  if (undeclared.length === 0) return [];
  const isNamed = sql`
    r.collection = 'pltf_user' and r.deleted_at is null and role = any(${undeclared}::text[])`;
  const held = await listHeldRoles(database, isNamed);
  return named.flatMap(({ variable, roles }) =>
    roles
      .filter((role) => !held.includes(role))
      .map(
        (role) =>
          `${variable} names the role "${role}", which no collection declares and no user has.` +
          didYouMean(role, declared),
      ),
  );
}

/** How often it is looked whether there is little to do. */
const LOOK_EVERY_MS = 5_000;
/** The share of its time for which a process that has little to do is busy. */
const QUIET_UTILIZATION = 0.02;

interface CollectOnceQuietOptions {
  readonly lookEveryMs?: number;
  /** The share of the time since the last call during which the process was busy. */
  readonly utilization?: () => number;
}

/**
 * Frees the memory that a start has left behind, once there is little to do: a fifth of the process. The
 * engine only collects when it needs memory, which a start does not reach. It runs only once, because such a
 * collection slows down the next work: a create of 10,000 records took half as much processor time again.
 */
export async function collectOnceQuiet({
  lookEveryMs = LOOK_EVERY_MS,
  utilization = utilizationOfThisProcess(),
}: CollectOnceQuietOptions = {}): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (utilization() >= QUIET_UTILIZATION) return;
      clearInterval(timer);
      resolve();
    }, lookEveryMs);
    timer.unref();
  });
  await collectGarbage();
}

function utilizationOfThisProcess(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** Requested like a debugger does: the engine then also frees the space of young objects. */
async function collectGarbage(): Promise<void> {
  // An engine that was built without this keeps its memory.
  const inspector = await import('node:inspector/promises').catch(() => undefined);
  if (inspector === undefined) return;
  const session = new inspector.Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
