import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Services } from '../gateway/compose/services.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { instantOrNull, printList } from './print-list.js';

interface DomainOption {
  readonly domain?: string;
}

/** `campus user`: the staff who may log in. */
export function registerUserCommand(user: Command, commandLine: CommandLine): void {
  user
    .command('add <user-name>')
    .description('add a member of staff; the password is read from standard input, or made and shown once')
    .requiredOption('--name <full-name>', 'full name')
    .requiredOption('--role <role...>', 'admin, accountant, teacher, clerk, viewer, or a role of your own')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((userName: string, options: DomainOption & { name: string; role: string[] }) =>
      withServices(commandLine, async (services) => {
        const scope = operatorScope(services, options.domain);
        const { password, isMade } = await askPassword();
        const { id } = await services.users.add(scope, {
          userName,
          name: options.name,
          roles: options.role,
          password,
        });
        printLine(`added ${userName} (${id}) to ${scope.domain.id}`);
        if (isMade) printLine(`password: ${password}`);
      }),
    );

  user
    .command('passwd <user-name>')
    .description(
      'set a password and end all sessions of the user; read from standard input, or made and shown once',
    )
    .option('--domain <id>', 'the domain; default: the top one')
    .action((userName: string, options: DomainOption) =>
      withServices(commandLine, async (services) => {
        const { password, isMade } = await askPassword();
        await services.users.setPassword(operatorScope(services, options.domain), { userName, password });
        printLine(`the password of ${userName} is set`);
        if (isMade) printLine(`password: ${password}`);
      }),
    );

  user
    .command('list')
    .description('list the staff with their roles')
    .option('--json', 'print the list as JSON')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((options: DomainOption & { readonly json?: boolean }) =>
      withServices(commandLine, async (services) => {
        const rows = await services.users.list(operatorScope(services, options.domain));
        printList({ rows, columns: USER_COLUMNS, toJson: userToJson }, options);
      }),
    );
}

type ListedUser = Awaited<ReturnType<Services['users']['list']>>[number];

const USER_COLUMNS = {
  'user name': ({ userName }: ListedUser) => userName,
  name: ({ name }: ListedUser) => name,
  roles: ({ roles }: ListedUser) => roles.join(', '),
  active: ({ isActive }: ListedUser) => (isActive ? 'yes' : 'no'),
  password: ({ hasPassword }: ListedUser) => (hasPassword ? 'yes' : 'no'),
  'last login': ({ lastLoginAt }: ListedUser) => lastLoginAt?.toISOString() ?? '',
};

function userToJson(user: ListedUser) {
  const { id, userName, name, roles, isActive, hasPassword, hasSecondFactor, lastLoginAt, email } = user;
  return {
    ...{ id, userName, name, roles, isActive, hasPassword, hasSecondFactor },
    lastLoginAt: instantOrNull(lastLoginAt),
    email: email ?? null,
  };
}

/** A password is never an argument: those are seen by every user of the machine. */
async function askPassword(): Promise<{ readonly password: string; readonly isMade: boolean }> {
  const made = { password: randomBytes(15).toString('base64url'), isMade: true };
  const lines = createInterface({
    input: process.stdin,
    output: process.stdin.isTTY ? process.stderr : undefined,
  });
  try {
    const password = process.stdin.isTTY
      ? await lines.question('Password (empty: one is made): ')
      : ((await lines[Symbol.asyncIterator]().next()).value ?? '');
    return password === '' ? made : { password, isMade: false };
  } finally {
    lines.close();
  }
}
