import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import type { Scope } from '../base/model/scope.js';
import type { Services } from '../gateway/compose/services.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { instantOrNull, printList } from './print-list.js';

interface CreateOptions {
  readonly domain?: string;
  readonly user: string;
  readonly collection?: string[];
  readonly report?: string[];
  readonly script?: string[];
  readonly expires?: string;
}

/** `campus key`: API keys. @see decisions 6 */
export function registerKeyCommand(key: Command, commandLine: CommandLine): void {
  key
    .command('create <name>')
    .description('create a key; it is shown once')
    .requiredOption('--user <user-name>', 'whom the key acts as; it never may do more')
    .option('--collection <name:verbs...>', 'e.g. attendance:read,create or "*:read"')
    .option('--report <name...>', 'a report, or "*"')
    .option('--script <name...>', 'a script, or "*"')
    .option('--expires <instant>', 'ISO 8601, e.g. 2027-03-31T00:00:00Z; default: never')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((name: string, options: CreateOptions) =>
      withServices(commandLine, async (services) => {
        const scope = operatorScope(services, options.domain);
        const created = await services.apiKeys.create(scope, {
          name,
          userId: await findUserId(services, scope, options.user),
          scopes: {
            collections: Object.fromEntries((options.collection ?? []).map(parseCollectionScope)),
            reports: options.report ?? [],
            scripts: options.script ?? [],
          },
          ...(options.expires !== undefined && { expiresAt: parseInstant(options.expires) }),
        });
        printLine(`id:  ${created.id}`);
        printLine(`key: ${created.key}`);
        printLine('Keep the key now: only its hash is stored.');
      }),
    );

  key
    .command('revoke <id>')
    .description('revoke a key at once, on every gateway')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((id: string, options: { domain?: string }) =>
      withServices(commandLine, async (services) => {
        await services.apiKeys.revoke(operatorScope(services, options.domain), id);
        printLine(`revoked ${id}`);
      }),
    );

  key
    .command('list')
    .description('list the keys of a domain')
    .option('--json', 'print the list as JSON')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((options: { domain?: string; json?: boolean }) =>
      withServices(commandLine, async (services) => {
        const rows = await services.apiKeys.list(operatorScope(services, options.domain));
        printList({ rows, columns: KEY_COLUMNS, toJson: keyToJson }, options);
      }),
    );
}

type ApiKey = Awaited<ReturnType<Services['apiKeys']['list']>>[number];

const KEY_COLUMNS = {
  id: ({ id }: ApiKey) => id,
  name: ({ name }: ApiKey) => name,
  key: ({ prefix }: ApiKey) => `${prefix}…`,
  user: ({ userId }: ApiKey) => userId,
  expires: ({ expiresAt }: ApiKey) => expiresAt?.toISOString() ?? 'never',
  'last used': ({ lastUsedAt }: ApiKey) => lastUsedAt?.toISOString() ?? '',
  state: ({ revokedAt }: ApiKey) => (revokedAt ? 'revoked' : 'good'),
};

function keyToJson(key: ApiKey) {
  const { id, name, prefix, userId, scopes, allowedAddresses, createdAt } = key;
  return {
    ...{ id, name, prefix, userId, allowedAddresses },
    scopes: { collections: scopes.collections, reports: scopes.reports, scripts: scopes.scripts },
    createdAt: createdAt.toISOString(),
    expiresAt: instantOrNull(key.expiresAt),
    lastUsedAt: instantOrNull(key.lastUsedAt),
    revokedAt: instantOrNull(key.revokedAt),
  };
}

async function findUserId(services: Services, scope: Scope, userName: string): Promise<string> {
  const user = (await services.users.list(scope)).find((listed) => listed.userName === userName);
  if (user) return user.id;
  throw new ServiceError(
    'NOT_FOUND',
    `there is no user "${userName}" in ${scope.domain.id}; \`campus user list\` shows them`,
  );
}

/**
 * `attendance:read,create` → `['attendance', ['read', 'create']]`; the verbs are checked where the key is
 * made.
 */
function parseCollectionScope(text: string): [string, string[]] {
  const [collection, verbs] = text.split(':');
  if (!collection || !verbs) {
    throw new ServiceError(
      'INVALID_VALUE',
      `--collection ${text}: expected <name>:<verb>,… such as attendance:read,create`,
    );
  }
  return [collection, verbs.split(',')];
}

function parseInstant(text: string): Date {
  const instant = new Date(text);
  if (!Number.isNaN(instant.getTime())) return instant;
  throw new ServiceError(
    'INVALID_VALUE',
    `--expires ${text}: expected an instant such as 2027-03-31T00:00:00Z`,
  );
}
