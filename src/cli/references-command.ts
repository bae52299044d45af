import type { Command } from 'commander';
import { listDanglingReferences } from '../store/reading/dangling-references.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

/** `campus references`: what points at nothing. @see decisions 11 */
export function registerReferencesCommand(references: Command, commandLine: CommandLine): void {
  references
    .command('check')
    .description(
      'list the declared references that point at no record, or at a removed one; exit 1 where the ' +
        'declaration says that the target must exist',
    )
    .option('--domain <id>', 'the domain; default: all of the instance')
    .action((options: { readonly domain?: string }) =>
      withServices(commandLine, async (services) => {
        const { domains } = services;
        const checked =
          options.domain === undefined ? domains.list() : [operatorScope(services, options.domain).domain];
        const rows: string[][] = [];
        for (const domain of checked) {
          for (const found of await listDanglingReferences(services, domain.id)) {
            if (found.mustExist) process.exitCode = 1;
            rows.push([
              domain.id,
              `${found.collection}.${found.field}`,
              found.targets.join(' or '),
              String(found.count),
              String(found.removed),
              found.mustExist ? 'no' : 'yes',
              found.examples.join(', '),
            ]);
          }
        }
        if (rows.length === 0) printLine('every reference points at a record');
        else printTable(['domain', 'reference', 'to', 'lost', 'of them removed', 'allowed', 'records'], rows);
      }),
    );
}
