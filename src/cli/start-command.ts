import { isNativeError } from 'node:util/types';
import type { Command } from 'commander';
import { type App, createApp } from '../compose/app.js';
import type { Config } from '../config.js';
import { DEMO_DEFAULTS, DEMO_DOMAIN, DEMO_USERS } from '../demo/demo-options.js';
import { isDemoAbandoned } from '../demo/load.js';
import { ServiceError } from '../errors.js';
import type { CommandLine } from './command-line.js';
import { printLine } from './console-output.js';
import { seedFirstSchool } from './seed-command.js';
import { listenForStopSignal, StoppedBySignal } from './stop-signal.js';

/** `campus start`: the gateway, until a signal stops it. */
export function registerStartCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('start')
    .description('start the gateway; the first start of the embedded database fills in the demo school')
    .action(() => start(commandLine.config));
}

async function start(config: Config): Promise<void> {
  const stop = listenForStopSignal();
  const tell = (line: string) => process.stderr.write(`campus: ${line}\n`);
  try {
    const app = await createApp(config, { onProgress: tell });
    try {
      stop.throwIfAborted();
      if (config.databaseUrl === undefined && config.demo && (await needsDemo(app))) {
        tell('first start, making the demo school');
        await seedFirstSchool(app.services, { ...DEMO_DEFAULTS, signal: stop });
      }
      const url = await listen(app, config);
      stop.throwIfAborted();
      printLine(banner(app, readableUrl(url)));
      await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
    } finally {
      await app.close();
    }
  } catch (fault) {
    if (!stop.aborted) throw fault;
    if (!(fault instanceof StoppedBySignal)) {
      tell(`while stopping: ${String(fault)}`);
      process.exit(1);
    }
    tell('stopped before it had started; nothing is left half made');
  }
  if (stop.aborted) process.exit(0);
}

async function needsDemo({ services }: App): Promise<boolean> {
  return services.domains.top() === undefined || (await isDemoAbandoned(services.database.pool));
}

async function listen(app: App, { host, port, metricsPort }: Config): Promise<string> {
  try {
    return await app.listen();
  } catch (fault) {
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
  }
}

/** What the system says of an address it does not let us listen on. */
const ADDRESS_FAULTS: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'is taken by another program'],
  ['EACCES', 'is not for this user'],
  ['EADDRNOTAVAIL', 'is not an address of this machine'],
  ['ENOTFOUND', 'is not an address of this machine'],
]);

/** What a newcomer needs to go on, on one screen. */
function banner(app: App, url: string): string {
  const school = app.services.domains.top();
  if (!school) {
    return [
      `Campus Gateway listens on ${url}. There is no school yet:`,
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
    `  REST       ${url}/          every route, as JSON`,
    `             ${url}/docs      the same to browse`,
    `  GraphQL    ${url}/explore   log in, run the examples, see tables and charts`,
    `             ${url}/graphql   for programs; in a browser, Apollo Sandbox`,
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
