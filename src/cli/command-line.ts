/** Shared by all commands: the settings, the services, and the scope they act in. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type Domain, type Scope, systemPrincipal } from '../base/model/scope.js';
import { thenClose } from '../base/process/close-in-turn.js';
import {
  openDatabaseServer,
  openServices,
  type Services,
  type ServicesOptions,
} from '../gateway/compose/services.js';
import type { Config } from '../gateway/config/config.js';
import { openDatabase } from '../store/database/database.js';
import { printNote } from './console-output.js';
import { listenForStopSignal } from './stop-signal.js';

export interface CommandLine {
  readonly config: Config;
  /** Ends the opening of the services or the database, for a command that handles Ctrl-C itself. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens the services for a command and closes them after it. */
export async function withServices<T>(
  { config, signal }: CommandLine,
  work: (services: Services) => Promise<T>,
  options: Pick<ServicesOptions, 'signal' | 'onProgress' | 'onUnfinishedRestore'> = {
    onUnfinishedRestore: ({ message }) => printFault('the restore is still unfinished', message),
  },
): Promise<T> {
  const services = await openServices({ config, onFault: printFault, signal, ...options });
  return await thenClose(
    () => work(services),
    () => services.close(),
    (error) => printFault('closing', error),
  );
}

/** The values that a command in a domain works with. */
export interface DomainWork<Options = object> {
  readonly services: Services;
  /** The operator's scope in the named domain. */
  readonly scope: Scope;
  readonly options: Options & { readonly domain?: string };
  /** Aborted by Ctrl-C, for a command that `listens`. */
  readonly signal: AbortSignal;
}

/**
 * Gives a command the option `--domain`, and an action with the operator's scope there. One that `listens`
 * finishes or undoes its work when it is stopped; any other is ended at once.
 */
export function actInDomain<Options = object, Words extends readonly unknown[] = string[]>(
  command: Command,
  commandLine: CommandLine,
  work: (input: DomainWork<Options>, ...words: Words) => Promise<void>,
  stop: 'ends' | 'listens' = 'ends',
): Command {
  return command.option('--domain <id>', 'the domain; default: the top one').action((...sent: unknown[]) => {
    const options = sent.at(-2) as Options & { readonly domain?: string };
    const signal = stop === 'listens' ? listenForStopSignal() : undefined;
    return withServices({ ...commandLine, signal }, async (services) => {
      const scope = operatorScope(services, options.domain);
      const input = { services, scope, options, signal: signal ?? new AbortController().signal };
      await work(input, ...(sent.slice(0, -2) as unknown as Words));
    });
  });
}

/** Opens only the database, without applying migrations. */
export async function withDatabaseUrl<T>(
  { config, signal }: CommandLine,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const server = await openDatabaseServer(config, { signal });
  const use = async () => {
    // Says in one line why a database cannot be used.
    const database = await openDatabase({ url: server.url, poolSize: 1, statementTimeoutMs: 0, signal });
    const { url } = database;
    await database.close();
    return await work(url);
  };
  return await thenClose(
    use,
    () => server.stop(),
    (error) => printFault('closing', error),
  );
}

/** Reports a fault that does not end the command. */
export function printFault(task: string, error: unknown): void {
  printNote(`${task}: ${String(error)}`);
}

/** The operator of the machine, acting as an admin of one domain; the top one when none is named. */
export function operatorScope(services: Services, domainId: string | undefined): Scope {
  const domain = domainId === undefined ? topDomain(services) : services.domains.get(domainId);
  return {
    domain,
    principal: systemPrincipal('command line', ['admin'], domain.id),
    call: { requestId: randomUUID() },
  };
}

/** @throws NOT_FOUND for a user name that none of the users of the domain has */
export function userNamed<User extends { readonly userName: string }>(
  users: readonly User[],
  userName: string,
  { domain }: Scope,
): User {
  const user = users.find((one) => one.userName === userName);
  if (user) return user;
  const detail = `There is no user "${userName}" in ${domain.id}: \`campus user list\` shows them.`;
  throw new ServiceError('NOT_FOUND', detail);
}

function topDomain(services: Services): Domain {
  const domain = services.domains.top();
  if (domain) return domain;
  throw new ServiceError(
    'NOT_FOUND',
    'There is no school yet: `campus seed` makes the demo school, `campus domain add` one of your own.',
  );
}
