import type { Command } from 'commander';
import { describeBounds } from '../base/model/bounds.js';
import type { Collection, Field } from '../base/model/collection.js';
import type { Services } from '../gateway/compose/services.js';
import { listDanglingReferences } from '../store/reading/dangling-references.js';
import { listRuleBreaches, type RuleBreach } from '../store/writing/rule-breaches.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { membersOf, printList, printTable } from './print-table.js';

/** `campus collection`: the declared collections. */
export function registerCollectionCommand(collection: Command, commandLine: CommandLine): void {
  collection
    .command('list')
    .description('list the collections')
    .option('--json', 'print the list as JSON')
    .action((options: { readonly json?: boolean }) =>
      withServices(commandLine, async ({ catalog }) => {
        const toJson = (one: Collection) => ({
          ...collectionMembers(one),
          fields: one.fields.map((field) => field.name),
        });
        printList(catalog.list(), { columns: COLLECTION_COLUMNS, toJson }, options);
      }),
    );

  collection
    .command('show <name>')
    .description('show the fields of a collection and the rights of each role')
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
              : [access.rows, ...access.alsoReads]
                  .map(
                    ({ fields, attribute }) =>
                      `${fields.map((one) => one.join('.')).join(', ')} in ${attribute}`,
                  )
                  .join('; to read also '),
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

const collectionMembers = membersOf<Collection>('name', 'title', 'isDeclared', 'version', 'domainId');

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

/** `campus check`: stored records that break a rule of their declaration. @see decisions 11 */
export function registerCheckCommand(check: Command, commandLine: CommandLine): void {
  check
    .option('--domain <id>', 'the domain; default: all of the instance')
    .option('--collection <name>', 'one collection; default: all')
    .option('--json', 'print the findings as JSON, one per line')
    .action((options: CheckOptions) =>
      withServices(commandLine, async (services) => {
        const found = await listFindings(services, options);
        if (found.length > 0) process.exitCode = 1;
        if (options.json) for (const one of found) printLine(JSON.stringify(one));
        else if (found.length === 0) printLine('Every record obeys the rules of its collection.');
        else {
          printTable(
            ['domain', 'field', 'records', 'problem', 'examples'],
            found.map(({ domain, collection, field, count, problem, examples }) => [
              ...[domain, field === '' ? collection : `${collection}.${field}`, String(count)],
              ...[problem, examples.join(', ')],
            ]),
          );
        }
      }),
    );
}

interface CheckOptions {
  readonly domain?: string;
  readonly collection?: string;
  readonly json?: boolean;
}

type Finding = RuleBreach & { readonly domain: string };

async function listFindings(services: Services, options: CheckOptions): Promise<readonly Finding[]> {
  const { catalog, domains } = services;
  const checked =
    options.domain === undefined ? domains.list() : [operatorScope(services, options.domain).domain];
  const only = options.collection;
  const found: Finding[] = [];
  for (const domain of checked) {
    const collections =
      only === undefined ? catalog.list() : [catalog.get(only, operatorScope(services, domain.id))];
    for (const collection of collections) {
      const scope = operatorScope(services, domain.id);
      for (const breach of await listRuleBreaches(services, scope, collection))
        found.push({ domain: domain.id, ...breach });
    }
    const dangling = await listDanglingReferences(services, domain.id);
    for (const { collection, field, targets, onDelete, count, removed, examples } of dangling) {
      if (onDelete === 'keep' || (only !== undefined && collection !== only)) continue;
      const target = targets.join(' or ');
      const problem = `points to no record of ${target} (${removed} of them to removed ones)`;
      found.push({ domain: domain.id, collection, field, problem, count, examples });
    }
  }
  return found;
}
