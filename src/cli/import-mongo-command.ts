import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type MongoDump, openMongoDump } from '../services/importing/mongo/mongo-dump.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { type ImportedCollection, importDump } from './import-dump.js';
import { printTable } from './print-table.js';
import { listenForStopSignal } from './stop-signal.js';
import { showTransferProgress } from './transfer-progress.js';

interface ImportMongoCommandOptions {
  readonly domain?: string;
  readonly only?: readonly string[];
  readonly as?: readonly string[];
  readonly register?: boolean;
  readonly declarations?: string;
  readonly dryRun?: boolean;
  readonly work: string;
  readonly json?: boolean;
}

/** `campus import-mongo`: a dump folder, an archive, or files of mongoexport. */
export function registerImportMongoCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--domain <id>', 'the domain; default: the top one')
    .option('--only <names...>', 'these collections of the dump alone')
    .option('--as <name=collection...>', 'what a collection of the dump is called here')
    .option('--register', 'register collections that are not there, as their documents and indexes suggest')
    .option('--declarations <folder>', 'write what they suggest to files, one a collection')
    .option('--dry-run', 'write no records: tell what would become of them')
    .option('--work <folder>', 'where an archive is unpacked to while it is read', tmpdir())
    .option('--json', 'print what became of it as JSON')
    .action(async (paths: readonly string[], options: ImportMongoCommandOptions) => {
      const namesHere = parseNames(options.as ?? []);
      const signal = listenForStopSignal();
      await using dump = await openMongoDump(paths, { workFolder: options.work, signal });
      const wanted = chooseCollections(dump, options.only);
      await withServices(commandLine, async (services) => {
        const scope = { ...operatorScope(services, options.domain), signal };
        const reading = showTransferProgress(process.stderr, 'reading', 'documents');
        const writing = showTransferProgress(process.stderr, 'importing', 'documents');
        const done: ImportedCollection[] = [];
        try {
          const undeclared = options.register ? 'register' : 'leave out';
          const run = options.dryRun ? 'try' : 'write';
          const progress = { reading, writing };
          for await (const one of importDump(wanted, {
            ...{ services, scope, namesHere, undeclared, run, signal, progress },
          })) {
            done.push(one);
          }
        } catch (fault) {
          reading.stop();
          writing.stop();
          if (signal.aborted) {
            process.stderr.write('campus: what is written stays; the same command goes on from there\n');
          }
          throw signal.aborted ? signal.reason : fault;
        } finally {
          reading.stop();
          writing.stop();
        }
        if (options.declarations !== undefined) await writeDeclarations(done, options.declarations);
        if (options.json)
          printLine(JSON.stringify({ domain: scope.domain.id, warnings: dump.warnings, collections: done }));
        else printDone(done, dump.warnings);
        if (done.some(({ outcome }) => outcome === 'failed' || outcome === 'not declared'))
          process.exitCode = 1;
      });
    });
}

/** @throws INVALID_VALUE */
function parseNames(written: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    written.map((one) => {
      const [, name = '', collection = ''] = /^(.+)=([a-z][a-z0-9_]{0,39})$/.exec(one) ?? [];
      if (name !== '') return [name, collection];
      const detail = `--as is ${JSON.stringify(one)}; expected <name of the dump>=<collection>.`;
      throw new ServiceError('INVALID_VALUE', detail);
    }),
  );
}

/** @throws NOT_FOUND */
function chooseCollections(
  { collections }: MongoDump,
  only: readonly string[] | undefined,
): MongoDump['collections'] {
  if (only === undefined) return collections;
  const names = new Set(collections.flatMap(({ database, name }) => [name, `${database}.${name}`]));
  const missing = only.find((name) => !names.has(name));
  if (missing !== undefined) {
    const found = collections
      .map(({ name }) => name)
      .slice(0, 20)
      .join(', ');
    throw new ServiceError('NOT_FOUND', `The dump has no collection ${missing}; it has ${found}.`);
  }
  return collections.filter(
    ({ database, name }) => only.includes(name) || only.includes(`${database}.${name}`),
  );
}

async function writeDeclarations(done: readonly ImportedCollection[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { collection, proposal } of done) {
    const text = `${JSON.stringify(proposal.declaration, undefined, 2)}\n`;
    await writeFile(path.join(folder, `${collection}.json`), text);
  }
}

function printDone(done: readonly ImportedCollection[], warnings: readonly string[]): void {
  printTable(
    ['from', 'collection', 'documents', 'created', 'updated', 'same', 'refused', 'outcome'],
    done.map(({ name, collection, report, import: run, outcome }) => [
      name,
      collection,
      report.documents.toLocaleString('en'),
      ...[run?.counts.created, run?.counts.updated, run?.counts.same, run?.counts.refused].map(
        (count) => count?.toLocaleString('en') ?? '',
      ),
      outcome,
    ]),
  );
  const altered = done.flatMap(({ name, report }) =>
    report.alterations.map(({ path: at, was, became, count, firstIds }) => [
      name,
      at,
      was,
      became,
      count.toLocaleString('en'),
      firstIds.join(', '),
    ]),
  );
  if (altered.length > 0) {
    printLine('\nnot kept as it was:');
    printTable(['from', 'field', 'was', 'became', 'times', 'first ids'], altered);
  }
  for (const line of linesOf(done, warnings)) printLine(line);
}

function linesOf(done: readonly ImportedCollection[], warnings: readonly string[]): string[] {
  return [
    ...warnings,
    ...done.flatMap(({ name, collection, outcome, report, refused, fault, proposal }) => [
      ...report.faults.samples.map(({ fault: what }) => `${name}: ${what}`),
      ...(report.unlistedAlterations > 0 ? [`${name}: ${report.unlistedAlterations} more alterations`] : []),
      ...proposal.notes.map((note) => `${name}: ${note}`),
      ...(outcome === 'not declared'
        ? [`${name}: there is no collection ${collection}; say --register, or --as ${name}=<collection>`]
        : []),
      ...(fault === undefined ? [] : [`${name}: ${String(fault.detail)}`]),
      ...refused.map(({ number, errors }) => `${name}, document ${number}: ${errors.join('; ')}`),
    ]),
  ];
}
