import type { Command } from 'commander';
import type { Services } from '../gateway/compose/services.js';
import { listDanglingReferences } from '../store/reading/dangling-references.js';
import { listRuleBreaches, type RuleBreach } from '../store/writing/rule-breaches.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

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
  const asked = options.collection;
  const found: Finding[] = [];
  for (const domain of checked) {
    const collections =
      asked === undefined ? catalog.list() : [catalog.get(asked, operatorScope(services, domain.id))];
    for (const collection of collections) {
      const scope = operatorScope(services, domain.id);
      for (const breach of await listRuleBreaches(services, scope, collection))
        found.push({ domain: domain.id, ...breach });
    }
    const dangling = await listDanglingReferences(services, domain.id);
    for (const { collection, field, targets, onDelete, count, removed, examples } of dangling) {
      if (onDelete === 'keep' || (asked !== undefined && collection !== asked)) continue;
      const target = targets.join(' or ');
      const problem = `points to no record of ${target} (${removed} of them to removed ones)`;
      found.push({ domain: domain.id, collection, field, problem, count, examples });
    }
  }
  return found;
}
