import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { withCall } from '../base/model/scope.js';
import { readNamedFile, saveWhole } from '../services/backup/save-backup.js';
import { archiveName, DoneErasure } from '../services/persons/identity.js';
import type { Erasure } from '../services/persons/persons.js';
import { actInDomain, type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine, printNote } from './console-output.js';
import { printTable } from './print-table.js';

interface PersonOptions {
  readonly json?: boolean;
  readonly out?: string;
  readonly forGood?: boolean;
}

/** `campus person`: exports and erases the data of a person. */
export function registerPersonCommand(person: Command, commandLine: CommandLine): void {
  const toZip = person
    .command('export <collection> <id>')
    .description('write all that is kept of a person to a zip file that people can read')
    .option('--out <file>', 'the file; default: "person <collection> <id>.zip"');
  actInDomain<PersonOptions>(
    toZip,
    commandLine,
    async ({ services, scope, options, signal }, collection = '', id = '') => {
      const bytes = await services.persons.export(withCall(scope, { signal }), { collection, id });
      const file = options.out ?? archiveName({ collection, id });
      const size = await saveWhole(file, bytes);
      printLine(`${file}: ${size.toLocaleString('en')} bytes`);
    },
    'listens',
  );

  const erase = person
    .command('erase <collection> <id>')
    .description('list what would be removed, replaced and kept of a person; with --for-good, do it')
    .option('--for-good', 'erase: nothing brings it back but a backup')
    .option('--json', 'print the list as JSON, with the ids');
  actInDomain<PersonOptions>(
    erase,
    commandLine,
    async ({ services: { persons }, scope, options, signal }, collection = '', id = '') => {
      const person = { collection, id };
      if (!options.forGood) {
        printErasure(await persons.planErasure(withCall(scope, { signal }), person), options);
        if (!options.json) printLine('nothing was changed; pass --for-good to erase');
        return;
      }
      const command = `campus person erase ${collection} ${id} --for-good`;
      const done = await goingOn(persons.erase(withCall(scope, { signal }), person), command);
      printErasure(done, options);
      if (!options.json) printLine(`erased; what stays of the person is called ${done.pseudonym}`);
    },
    'listens',
  );

  person
    .command('erasures')
    .description('print the past erasures, a line each, to be kept with the backups')
    .option('--domain <id>', 'the domain; default: all of the instance')
    .action(({ domain }: { readonly domain?: string }) =>
      withServices(commandLine, async (services) => {
        const ids = domain === undefined ? services.domains.list().map(({ id }) => id) : [domain];
        for (const id of ids) {
          const done = await services.persons.listDone(operatorScope(services, id));
          for (const erasure of done) printLine(JSON.stringify(erasure));
        }
      }),
    );

  person
    .command('erase-again <file>')
    .description('after restoring an older backup: erase again the persons in a list of `person erasures`')
    .action((file: string) =>
      withServices(commandLine, async (services) => {
        const erased = await services.persons.eraseAgain(services.domains, await readErasures(file));
        printLine(erased === 0 ? 'no person of the list exists' : `erased again: ${erased}`);
      }),
    );
}

/** @throws UNAVAILABLE for a file that cannot be read, INVALID_VALUE for one that is not such a list */
export async function readErasures(file: string): Promise<readonly DoneErasure[]> {
  return String(await readNamedFile(file))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index) => toDoneErasure(line, `${file}, line ${index + 1}`));
}

function toDoneErasure(line: string, place: string): DoneErasure {
  try {
    return DoneErasure.parse(JSON.parse(line));
  } catch (cause) {
    const detail = `${place}: a line of \`campus person erasures\` is expected.`;
    throw new ServiceError('INVALID_VALUE', detail, { cause });
  }
}

async function goingOn(work: Promise<Erasure>, command: string): Promise<Erasure> {
  return await work.catch((fault: unknown) => {
    if (
      !(fault instanceof ServiceError && ['FORBIDDEN', 'NOT_FOUND', 'INVALID_VALUE'].includes(fault.code))
    ) {
      printNote(`to continue what was begun: ${command}`);
    }
    throw fault;
  });
}

function printErasure({ pseudonym, entries, shared }: Erasure, { json }: PersonOptions): void {
  if (json) {
    printLine(JSON.stringify({ pseudonym, entries, shared }));
    return;
  }
  printTable(
    ['', 'where', 'how many', 'without', 'because'],
    entries.map(({ fate, place, count, fields, because }) => [
      fate,
      place,
      count,
      fields.join(', '),
      because ?? '',
    ]),
  );
  if (shared.length > 0) {
    printLine(`not looked for elsewhere, for others may be meant: ${shared.join(', ')}`);
  }
}
