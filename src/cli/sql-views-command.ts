/** `campus sql-views`: the records of a school as SQL views, for programs that read nothing else. */
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { didYouMean } from '../base/text/did-you-mean.js';
import type { Services } from '../gateway/compose/services.js';
import { type Audience, describeAudience } from '../services/sql-views/compile-view.js';
import { type AudienceChange, SqlViews, type ViewChange } from '../services/sql-views/sql-views.js';
import { declaredRoles } from '../store/catalog/roles.js';
import { actInDomain, type CommandLine, type DomainWork, userNamed } from './command-line.js';
import { printLine } from './console-output.js';

interface SqlViewsCommandOptions {
  readonly role?: readonly string[];
  readonly user?: readonly string[];
  readonly newPassword?: boolean;
  readonly dryRun?: boolean;
  readonly drop?: boolean;
}

export function registerSqlViewsCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--role <role...>', 'for these roles; without --role and --user: for all that already have views')
    .option('--user <user-name...>', 'for these users, with the rows their role rules leave them')
    .option('--new-password', 'give their logins new passwords')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--drop', 'remove logins, schemas and views');
  actInDomain<SqlViewsCommandOptions>(command, commandLine, async (work) => {
    const { services, options } = work;
    const views = new SqlViews({ database: services.database, collections: services.catalog });
    const audiences = await chooseAudiences(work, views);
    const mode = options.dryRun ? 'tried' : 'done';
    const changes = options.drop
      ? await views.drop({ audiences, mode })
      : await views.apply({ audiences, mode, passwords: options.newPassword ? 'new' : 'kept' });
    for (const change of changes) printChange(change, mode);
    if (!options.drop) printPlace(services.database.url);
    if (mode === 'tried') printLine('nothing was changed (--dry-run)');
  });
}

/** @throws NOT_FOUND for a role, user or views that are not there */
async function chooseAudiences(
  { services, scope, options }: DomainWork<SqlViewsCommandOptions>,
  views: SqlViews,
): Promise<readonly Audience[]> {
  const { role: roles = [], user: userNames = [] } = options;
  const users = await services.users.list(scope);
  const ofUser = (user: (typeof users)[number]): Audience => ({
    kind: 'user',
    domain: scope.domain,
    userId: user.id,
    userName: user.userName,
    roles: user.roles,
  });
  const ofRole = (role: string): Audience => ({ kind: 'role', domain: scope.domain, role });
  if (roles.length > 0 || userNames.length > 0) {
    if (!options.drop) for (const role of roles) assertRole(role, services);
    return [...roles.map(ofRole), ...userNames.map((name) => ofUser(userNamed(users, name, scope)))];
  }
  const present = await views.list(scope.domain);
  if (present.length === 0) {
    throw new ServiceError(
      'NOT_FOUND',
      `${scope.domain.id} has no SQL views yet: name whom they are for by --role or --user.`,
    );
  }
  return present.flatMap(({ role, user: userId }) => {
    if (role !== undefined) return [ofRole(role)];
    const user = users.find(({ id }) => id === userId);
    if (user) return [ofUser(user)];
    printLine(`the user ${userId} no longer exists: its views show nothing, and are left unchanged`);
    return [];
  });
}

/** @throws NOT_FOUND for a role that no declaration names: most likely it is misspelt */
function assertRole(role: string, { catalog }: Services): void {
  const known = declaredRoles(catalog.list());
  if (known.has(role)) return;
  throw new ServiceError('NOT_FOUND', `No collection names a role "${role}".${didYouMean(role, known)}`);
}

function printChange({ audience, login, change, password, views }: AudienceChange, mode: string): void {
  printLine(`${describeAudience(audience)}: ${change}, login and schema ${login}`);
  for (const view of views) if (view.change !== 'kept') printLine(`  ${describeView(view)}`);
  const kept = views.filter((view) => view.change === 'kept').length;
  if (kept > 0) printLine(`  ${kept} views are as they were`);
  if (password === undefined || mode === 'tried') return;
  printLine(`  password: ${password}`);
  printLine('  Keep the password now: it is not stored, only a verifier of it.');
}

/** The address for BI programs: that of the gateway's database, as far as one address can name it. */
function printPlace(databaseUrl: string): void {
  if (!URL.canParse(databaseUrl)) return;
  const { hostname, port, pathname } = new URL(databaseUrl);
  printLine(`connect to: host ${hostname}, port ${port || '5432'}, database ${pathname.slice(1)}`);
}

function describeView({ view, change, added, removed }: ViewChange): string {
  if (change === 'made') return `${view} made, ${added.length} columns`;
  if (change === 'removed') return `${view} removed`;
  const columns = [...added.map((name) => `+ ${name}`), ...removed.map((name) => `- ${name}`)];
  return `${view} changed: ${columns.length === 0 ? 'the same columns' : columns.join(', ')}`;
}
