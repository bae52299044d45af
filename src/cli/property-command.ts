import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonValue, parseExactJson, printExactJson } from '../base/json/json.js';
import type { ListedProperty } from '../store/catalog/domains.js';
import { actInDomain, type CommandLine } from './command-line.js';
import { printLine } from './console-output.js';
import { addListCommand } from './print-table.js';

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
    toJson: (listed) => ({ ...listed }),
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
