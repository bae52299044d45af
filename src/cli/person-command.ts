import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import type { Services } from '../gateway/compose/services.js';
import { saveWhole, toFileError } from '../services/backup/save-backup.js';
import { eraseAgain } from '../services/persons/erase-again.js';
import { DoneErasure } from '../services/persons/erasure-work.js';
import { archiveName } from '../services/persons/identify-person.js';
import type { Erasure } from '../services/persons/persons.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';
import { listenForStopSignal } from './stop-signal.js';

interface PersonOptions {
  readonly domain?: string;
  readonly json?: boolean;
}

/** `campus person`: what is kept of a person, as an archive, and no longer. */
export function registerPersonCommand(person: Command, commandLine: CommandLine): void {
  person
    .command('export <collection> <id>')
    .description('write all that is kept of a person to a zip file that people can read')
    .option('--domain <id>', 'the domain; default: the top one')
    .option('--out <file>', 'the file; default: "person <collection> <id>.zip"')
    .action((collection: string, id: string, options: PersonOptions & { readonly out?: string }) => {
      const signal = listenForStopSignal();
      return withServices({ ...commandLine, signal }, async (services) => {
        const scope = { ...operatorScope(services, options.domain), signal };
        const bytes = await services.persons.export(scope, { collection, id });
        const file = options.out ?? archiveName({ collection, id });
        const size = await saveWhole(file, bytes);
        printLine(`${file}: ${size.toLocaleString('en')} bytes`);
      });
    });

  person
    .command('erase <collection> <id>')
    .description('list what would be removed, replaced and kept of a person; with --for-good, do it')
    .option('--domain <id>', 'the domain; default: the top one')
    .option('--for-good', 'erase: nothing brings it back but a backup')
    .option('--json', 'print the list as JSON, with the ids')
    .action((collection: string, id: string, options: PersonOptions & { readonly forGood?: boolean }) => {
      const signal = listenForStopSignal();
      return withServices({ ...commandLine, signal }, async (services) => {
        const { persons } = services;
        const scope = { ...operatorScope(services, options.domain), signal };
        const asked = { collection, id };
        if (!options.forGood) {
          const plan = await persons.planErasure(scope, asked);
          printErasure(plan, options);
          if (!options.json) printLine('nothing was changed; --for-good does it');
          return;
        }
        const done = await goingOn(
          persons.erase(scope, asked),
          `campus person erase ${collection} ${id} --for-good`,
        );
        printErasure(done, options);
        if (!options.json) printLine(`erased; what stays of the person is called ${done.pseudonym}`);
      });
    });

  person
    .command('erasures')
    .description('print the erasures that were done, a line each, to be kept beside the backups')
    .option('--domain <id>', 'the domain; default: all of the instance')
    .action((options: PersonOptions) =>
      withServices(commandLine, async (services) => {
        for (const domain of domainsOf(services, options.domain)) {
          const done = await services.persons.listDone(operatorScope(services, domain));
          for (const erasure of done) printLine(JSON.stringify(erasure));
        }
      }),
    );

  person
    .command('erase-again <file>')
    .description('after an older backup was restored: erase again who is in a list of `person erasures`')
    .action((file: string) =>
      withServices(commandLine, async (services) => {
        const erased = await eraseAgain(services, await readErasures(file));
        printLine(erased === 0 ? 'nobody of the list is there' : `erased again: ${erased}`);
      }),
    );
}

function domainsOf({ domains }: Services, asked: string | undefined): readonly string[] {
  return asked === undefined ? domains.list().map(({ id }) => id) : [asked];
}

/** @throws UNAVAILABLE for a file that cannot be read, INVALID_VALUE for one that is no such list */
export async function readErasures(file: string): Promise<readonly DoneErasure[]> {
  const text = await readFile(file, 'utf8').catch((fault: unknown) => {
    throw toFileError(file, fault);
  });
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, index) => toDoneErasure(line, `${file}, line ${index + 1}`));
}

function toDoneErasure(line: string, place: string): DoneErasure {
  const { success, data } = DoneErasure.safeParse(parseOrNothing(line));
  if (success) return data;
  throw new ServiceError('INVALID_VALUE', `${place}: a line of \`campus person erasures\` is expected.`);
}

function parseOrNothing(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function goingOn(work: Promise<Erasure>, command: string): Promise<Erasure> {
  return await work.catch((fault: unknown) => {
    if (
      !(fault instanceof ServiceError && ['FORBIDDEN', 'NOT_FOUND', 'INVALID_VALUE'].includes(fault.code))
    ) {
      process.stderr.write(`campus: what was begun is gone on with by: ${command}\n`);
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
      count.toLocaleString('en'),
      fields.join(', '),
      because ?? '',
    ]),
  );
  if (shared.length > 0) {
    printLine(`not looked for elsewhere, for others may be meant: ${shared.join(', ')}`);
  }
}
