import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonValue, parseExactJson, printExactJson } from '../base/json/json.js';
import type { ListedProperty } from '../store/catalog/domains.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { printList } from './print-list.js';

interface DomainOption {
  readonly domain?: string;
}

/** `campus property`: the settings of a school. @see decisions 3 (timezone), reports "Terms used by all" */
export function registerPropertyCommand(property: Command, commandLine: CommandLine): void {
  property
    .command('list')
    .description('list the properties in force; secrets are masked')
    .option('--json', 'print the list as JSON')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((options: DomainOption & { readonly json?: boolean }) =>
      withServices(commandLine, async (services) => {
        const rows = services.domains.listProperties(operatorScope(services, options.domain));
        const columns = {
          name: ({ name }: ListedProperty) => name,
          value: ({ value }: ListedProperty) => printExactJson(value),
          from: ({ isInherited }: ListedProperty) => (isInherited ? 'the top domain' : 'the domain'),
        };
        printList({ rows, columns, toJson: (property) => ({ ...property }) }, options);
      }),
    );

  property
    .command('set <name> [value]')
    .description(
      'set a property to a JSON value, or to a text that is not JSON; without a value the top ' +
        "domain's is in force again",
    )
    .option('--secret', 'never shown again')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((name: string, value: string | undefined, options: DomainOption & { secret?: boolean }) =>
      withServices(commandLine, async (services) => {
        const { hint } = await services.domains.setProperty(operatorScope(services, options.domain), {
          name,
          value: value === undefined ? undefined : parseValue(value),
          isSecret: options.secret ?? false,
        });
        printLine(value === undefined ? `removed ${name}` : `set ${name}`);
        if (hint !== undefined) printLine(hint);
      }),
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
