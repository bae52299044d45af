import type { Command } from 'commander';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine, printTable } from './console.js';

/** `campus domain`: the school and its branches. @see decisions 7 */
export function registerDomain(program: Command, commandLine: CommandLine): void {
  const domain = program
    .command('domain')
    .description('add and list domains: the top one is the school, the others are its branches');

  domain
    .command('add <id>')
    .description('add a domain; the first one is the top domain')
    .requiredOption('--name <name>', 'the name people read')
    .option('--timezone <zone>', 'IANA name, e.g. Asia/Kolkata; default: inherited')
    .action((id: string, options: { name: string; timezone?: string }) =>
      withServices(commandLine, async (services) => {
        const added = { id, name: options.name };
        const created =
          services.domains.top() === undefined
            ? await services.domains.createTop(added)
            : await services.domains.create(operatorScope(services, undefined), added);
        if (options.timezone !== undefined) {
          const scope = operatorScope(services, created.id);
          await services.domains.setProperty(scope, { name: 'timezone', value: options.timezone });
        }
        printLine(`added ${id}`);
      }),
    );

  domain
    .command('list')
    .description('list the domains')
    .action(() =>
      withServices(commandLine, async ({ domains }) => {
        printTable(
          ['id', 'name', 'part of', 'time zone'],
          domains.list().map((listed) => [listed.id, listed.name, listed.parentId ?? '', listed.timeZone]),
        );
      }),
    );
}
