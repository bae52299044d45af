import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Services } from '../gateway/compose/services.js';
import { actInDomain, type CommandLine } from './command-line.js';
import { printLine } from './console-output.js';
import { addListCommand, instantOrNull } from './print-table.js';

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
    toJson: ({ id, userName, name, roles, isActive, hasPassword, hasSecondFactor, lastLoginAt, email }) => ({
      ...{ id, userName, name, roles, isActive, hasPassword, hasSecondFactor },
      lastLoginAt: instantOrNull(lastLoginAt),
      email: email ?? null,
    }),
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
