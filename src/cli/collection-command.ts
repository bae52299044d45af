import type { Command } from 'commander';
import { describeBounds } from '../base/model/bounds.js';
import type { Collection, Field, RowRule } from '../base/model/collection.js';
import { type CommandLine, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { printList, printTable } from './print-table.js';

/** `campus collection`: what is declared. */
export function registerCollectionCommand(collection: Command, commandLine: CommandLine): void {
  collection
    .command('list')
    .description('list the collections')
    .option('--json', 'print the list as JSON')
    .action((options: { readonly json?: boolean }) =>
      withServices(commandLine, async ({ catalog }) => {
        printList(catalog.list(), { columns: COLLECTION_COLUMNS, toJson: collectionToJson }, options);
      }),
    );

  collection
    .command('show <name>')
    .description('show the fields of a collection and who may do what with it')
    .action((name: string) =>
      withServices(commandLine, async ({ catalog }) => {
        const shown = catalog.get(name);
        printLine(`${shown.name}: ${shown.title}\n${shown.description}\n`);
        printTable(['field', 'type', 'rules', 'meaning'], shown.fields.map(fieldRow));
        printLine('');
        printTable(
          ['role', 'may', 'does not see', 'may not set', 'rows'],
          [...shown.access].map(([role, access]) => [
            role,
            [...access.verbs].join(', '),
            [...access.hiddenFields].join(', '),
            [...access.readOnlyFields].join(', '),
            access.rows === undefined
              ? 'all'
              : [access.rows, ...access.alsoReads].map(describeRule).join('; to read also '),
          ]),
        );
      }),
    );
}

const COLLECTION_COLUMNS = {
  name: ({ name }: Collection) => name,
  title: ({ title }: Collection) => title,
  fields: ({ fields }: Collection) => String(fields.length),
  declared: ({ isDeclared, domainId }: Collection) =>
    isDeclared ? 'schema/collections' : `at run time${domainId ? ` by ${domainId}` : ''}`,
  version: ({ version }: Collection) => String(version),
};

function collectionToJson({ name, title, fields, isDeclared, domainId, version }: Collection) {
  return {
    ...{ name, title, isDeclared, version },
    domainId: domainId ?? null,
    fields: fields.map((field) => field.name),
  };
}

function describeRule({ fields, attribute }: RowRule): string {
  return `${fields.map((path) => path.join('.')).join(', ')} in ${attribute}`;
}

function fieldRow(field: Field): string[] {
  const type =
    field.targets.length > 0 ? `reference to ${field.targets.join(' or ')}` : (field.format ?? field.type);
  const rules = [
    field.isRequired && 'required',
    field.isUnique && 'unique',
    field.isIndexed && 'indexed',
    field.allowed && `one of ${field.allowed.join(', ')}`,
    field.bounds && describeBounds(field.bounds),
  ].filter((rule) => rule !== false && rule !== undefined);
  return [field.name, field.isList ? `list of ${type}` : type, rules.join(', '), field.description];
}
