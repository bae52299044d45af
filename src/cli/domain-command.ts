import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonValue, parseExactJson, printExactJson } from '../base/json/json.js';
import type { Domain } from '../base/model/scope.js';
import type { Services } from '../gateway/compose/services.js';
import type { ListedProperty } from '../store/catalog/domains.js';
import type { NewDomain } from '../store/catalog/new-domain.js';
import { actInDomain, type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { addListCommand, membersOf, printList } from './print-table.js';

/** `campus domain`: the school and its branches. @see decisions 7 */
export function registerDomainCommand(domain: Command, commandLine: CommandLine): void {
  domain
    .command('add <id>')
    .description('add a domain; the first one is the top domain')
    .requiredOption('--name <name>', 'the name people read')
    .option('--timezone <zone>', 'IANA name, e.g. Asia/Kolkata; default: inherited')
    .action((id: string, options: { name: string; timezone?: string }) =>
      withServices(commandLine, async (services) => {
        await addDomain(services, { id, name: options.name, timeZone: options.timezone });
        printLine(`added ${id}`);
      }),
    );

  domain
    .command('list')
    .description('list the domains')
    .option('--json', 'print the list as JSON')
    .action((options: { readonly json?: boolean }) =>
      withServices(commandLine, async ({ domains }) => {
        const columns = {
          id: ({ id }: Domain) => id,
          name: ({ name }: Domain) => name,
          'part of': ({ parentId }: Domain) => parentId ?? '',
          'time zone': ({ timeZone }: Domain) => timeZone,
        };
        const toJson = membersOf<Domain>('id', 'name', 'timeZone', 'parentId');
        printList(domains.list(), { columns, toJson }, options);
      }),
    );
}

/**
 * The first domain is the top one. Of two that are added first at once, the second is a branch, as if it had
 * come later.
 */
async function addDomain(services: Services, added: NewDomain): Promise<void> {
  const { domains } = services;
  if (domains.top() === undefined) {
    try {
      await domains.createTop(added);
      return;
    } catch (fault) {
      await domains.refresh();
      const isLate =
        fault instanceof ServiceError && fault.code === 'CONFLICT' && domains.top() !== undefined;
      if (!isLate) throw fault;
    }
  }
  await domains.create(operatorScope(services, undefined), added);
}

/** `campus property`: the settings of a school. @see decisions 3 (timezone), reports "Terms used by all" */
export function registerPropertyCommand(property: Command, commandLine: CommandLine): void {
  addListCommand(property, commandLine, {
    description: 'list the properties in force; secrets are masked',
    rowsOf: ({ services, scope }) => services.domains.listProperties(scope),
    columns: {
      name: ({ name }: ListedProperty) => name,
      value: ({ value }) => printExactJson(value),
      from: ({ isInherited }) => (isInherited ? 'the top domain' : 'the domain'),
    },
    toJson: membersOf<ListedProperty>('name', 'value', 'isSecret', 'isInherited'),
  });

  const set = property
    .command('set <name> [value]')
    .description(
      'set a property to a JSON value, or to a text that is not JSON; without a value the top ' +
        "domain's is in force again",
    )
    .option('--secret', 'never shown again');
  actInDomain<{ readonly secret?: boolean }>(
    set,
    commandLine,
    async ({ services, scope, options: { secret: isSecret = false } }, name = '', text?: string) => {
      const value = text === undefined ? undefined : parseValue(text);
      const { hint } = await services.domains.setProperty(scope, { name, value, isSecret });
      printLine(value === undefined ? `removed ${name}` : `set ${name}`);
      if (hint !== undefined) printLine(hint);
    },
  );
}

function parseValue(text: string): JsonValue {
  try {
    return parseExactJson(text);
  } catch {
    // `Asia/Kolkata` is a text; `[0` was meant to be JSON.
    if (/^[[{"]/.test(text)) throw new ServiceError('INVALID_VALUE', `the value is not JSON: ${text}`);
    return text;
  }
}
