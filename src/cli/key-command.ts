import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import type { Services } from '../gateway/compose/services.js';
import { actInDomain, type CommandLine, userNamed } from './command-line.js';
import { printLine } from './console-output.js';
import { addListCommand, membersOf } from './print-table.js';

interface CreateOptions {
  readonly user: string;
  readonly collection?: string[];
  readonly report?: string[];
  readonly script?: string[];
  readonly expires?: string;
}

type ApiKey = Awaited<ReturnType<Services['apiKeys']['list']>>[number];

/** `campus key`: API keys. @see decisions 6 */
export function registerKeyCommand(key: Command, commandLine: CommandLine): void {
  const create = key
    .command('create <name>')
    .description('create a key; it is shown once')
    .requiredOption('--user <user-name>', 'the user the key acts as; the key never has more rights')
    .option('--collection <name:verbs...>', 'e.g. attendance:read,create or "*:read"')
    .option('--report <name...>', 'a report, or "*"')
    .option('--script <name...>', 'a script, or "*"')
    .option('--expires <instant>', 'ISO 8601, e.g. 2027-03-31T00:00:00Z; default: never');
  actInDomain<CreateOptions>(create, commandLine, async ({ services, scope, options }, name = '') => {
    const created = await services.apiKeys.create(scope, {
      name,
      userId: userNamed(await services.users.list(scope), options.user, scope).id,
      scopes: {
        collections: Object.fromEntries((options.collection ?? []).map(parseCollectionScope)),
        reports: options.report ?? [],
        scripts: options.script ?? [],
      },
      ...(options.expires !== undefined && { expiresAt: parseInstant(options.expires) }),
    });
    printLine(`id:  ${created.id}\nkey: ${created.key}\nKeep the key now: only its hash is stored.`);
  });

  const revoke = key.command('revoke <id>').description('revoke a key at once, on every gateway');
  actInDomain(revoke, commandLine, async ({ services, scope }, id = '') => {
    await services.apiKeys.revoke(scope, id);
    printLine(`revoked ${id}`);
  });

  addListCommand(key, commandLine, {
    description: 'list the keys of a domain',
    rowsOf: ({ services, scope }) => services.apiKeys.list(scope),
    columns: {
      id: ({ id }: ApiKey) => id,
      name: ({ name }) => name,
      key: ({ prefix }) => `${prefix}…`,
      user: ({ userId }) => userId,
      expires: ({ expiresAt }) => expiresAt?.toISOString() ?? 'never',
      'last used': ({ lastUsedAt }) => lastUsedAt?.toISOString() ?? '',
      state: ({ revokedAt }) => (revokedAt ? 'revoked' : 'good'),
    },
    toJson: membersOf<ApiKey>(
      ...(['id', 'name', 'prefix', 'userId', 'scopes', 'allowedAddresses'] as const),
      ...(['createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt'] as const),
    ),
  });
}

/**
 * `attendance:read,create` → `['attendance', ['read', 'create']]`; the verbs are checked where the key is
 * made.
 */
function parseCollectionScope(text: string): [string, string[]] {
  const [collection, verbs] = text.split(':');
  if (collection && verbs) return [collection, verbs.split(',')];
  const expected = 'expected <name>:<verb>,… such as attendance:read,create';
  throw new ServiceError('INVALID_VALUE', `--collection ${text}: ${expected}`);
}

function parseInstant(text: string): Date {
  const instant = new Date(text);
  if (!Number.isNaN(instant.getTime())) return instant;
  const expected = 'expected an instant such as 2027-03-31T00:00:00Z';
  throw new ServiceError('INVALID_VALUE', `--expires ${text}: ${expected}`);
}

type ListedUser = Awaited<ReturnType<Services['users']['list']>>[number];

/** `campus user`: the staff who may log in. */
export function registerUserCommand(user: Command, commandLine: CommandLine): void {
  const add = user
    .command('add <user-name>')
    .description('add a member of staff; the password is read from standard input, or made and shown once')
    .requiredOption('--name <full-name>', 'full name')
    .requiredOption('--role <role...>', 'admin, accountant, teacher, clerk, viewer, or a role of your own');
  actInDomain<{ readonly name: string; readonly role: string[] }>(
    add,
    commandLine,
    async ({ services, scope, options: { name, role: roles } }, userName = '') => {
      const { password, isMade } = await askPassword();
      const { id } = await services.users.add(scope, { userName, name, roles, password });
      printLine(`added ${userName} (${id}) to ${scope.domain.id}`);
      if (isMade) printLine(`password: ${password}`);
    },
  );

  const passwd = user
    .command('passwd <user-name>')
    .description(
      'set a password and end all sessions of the user; read from standard input, or made and shown once',
    );
  actInDomain(passwd, commandLine, async ({ services, scope }, userName = '') => {
    const { password, isMade } = await askPassword();
    await services.users.setPassword(scope, { userName, password });
    printLine(`the password of ${userName} is set`);
    if (isMade) printLine(`password: ${password}`);
  });

  addListCommand(user, commandLine, {
    description: 'list the staff with their roles',
    rowsOf: ({ services, scope }) => services.users.list(scope),
    columns: {
      'user name': ({ userName }: ListedUser) => userName,
      name: ({ name }) => name,
      roles: ({ roles }) => roles.join(', '),
      active: ({ isActive }) => (isActive ? 'yes' : 'no'),
      password: ({ hasPassword }) => (hasPassword ? 'yes' : 'no'),
      'last login': ({ lastLoginAt }) => lastLoginAt?.toISOString() ?? '',
    },
    toJson: membersOf<ListedUser>(
      ...(['id', 'userName', 'name', 'email', 'roles'] as const),
      ...(['isActive', 'hasPassword', 'hasSecondFactor', 'lastLoginAt'] as const),
    ),
  });
}

/** A password is never an argument: those are seen by every user of the machine. */
async function askPassword(): Promise<{ readonly password: string; readonly isMade: boolean }> {
  const { isTTY } = process.stdin;
  const lines = createInterface({ input: process.stdin, output: isTTY ? process.stderr : undefined });
  try {
    const password = isTTY
      ? await lines.question('Password (empty: one is made): ')
      : ((await lines[Symbol.asyncIterator]().next()).value ?? '');
    const isMade = password === '';
    return { password: isMade ? randomBytes(15).toString('base64url') : password, isMade };
  } finally {
    lines.close();
  }
}
