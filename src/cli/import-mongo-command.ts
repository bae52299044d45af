import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import type { JsonObject } from '../base/json/json.js';
import { withCall } from '../base/model/scope.js';
import {
  type DumpedCollection,
  type MongoDump,
  openMongoDump,
} from '../services/importing/mongo/mongo-dump.js';
import {
  type CollectionReport,
  surveyDocuments,
  toCollectionName,
} from '../services/importing/mongo/survey-documents.js';
import type { SourceFormat } from '../services/importing/reading/row-source.js';
import type { ImportCounts } from '../services/importing/stored-import.js';
import { actInDomain, type CommandLine } from './command-line.js';
import { printLine } from './console-output.js';
import { countsOf, goOn, type ImportWork } from './import-command.js';
import { printTable } from './print-table.js';
import { showTransferProgress } from './transfer-progress.js';

interface ImportMongoCommandOptions {
  readonly only?: readonly string[];
  readonly as?: readonly string[];
  readonly register?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The result of the import of a collection. */
export interface ImportedCollection {
  readonly database: string | undefined;
  readonly name: string;
  /** Its name here. */
  readonly collection: string;
  readonly outcome: 'written' | 'tried' | 'not declared' | 'failed';
  readonly report: CollectionReport;
  readonly import?: { readonly id: string; readonly counts: ImportCounts };
  /** The first documents that were refused, and why. */
  readonly refused: readonly { readonly number: number; readonly errors: readonly string[] }[];
  readonly fault?: JsonObject | undefined;
}

const OUTCOMES: ReadonlyMap<string, ImportedCollection['outcome']> = new Map([
  ['done', 'written'],
  ['tried', 'tried'],
]);
const MAX_REFUSED = 20;

/** `campus import-mongo`: a dump folder, or files of mongoexport. */
export function registerImportMongoCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--only <names...>', 'only these collections of the dump')
    .option('--as <name=collection...>', 'what a collection of the dump is called here')
    .option('--register', 'register collections that are not there, without declared fields')
    .option('--dry-run', 'write no records, and report what would become of them')
    .option('--json', 'print what became of it as JSON');
  actInDomain<ImportMongoCommandOptions, [string[]]>(
    command,
    commandLine,
    async ({ services, scope: operator, options, signal }, paths) => {
      const namesHere = parseNames(options.as ?? []);
      const dump = await openMongoDump(paths);
      const { warnings } = dump;
      const scope = withCall(operator, { signal });
      const taken = new Set(namesHere.values());
      const named = chooseCollections(dump, options.only).map((one) => {
        const collection = namesHere.get(one.name) ?? toCollectionName(one.name, taken);
        taken.add(collection);
        return { one, collection };
      });
      const stopNote = 'what is written stays; the same command writes the rest';
      const done: ImportedCollection[] = [];
      for (const { one, collection } of named) {
        const surveyed = await surveyCollection(one, collection, signal);
        done.push(await importCollection(one, surveyed, { services, scope, signal, stopNote }, options));
      }
      if (options.json) printLine(JSON.stringify({ domain: scope.domain.id, warnings, collections: done }));
      else printDone(done, warnings);
      if (done.some(({ outcome }) => outcome === 'failed' || outcome === 'not declared'))
        process.exitCode = 1;
    },
    'listens',
  );
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

type SurveyedCollection = Omit<ImportedCollection, 'outcome' | 'refused'> & { readonly format: SourceFormat };

/** Reads all documents of a collection, before anything is made of them. */
async function surveyCollection(
  { database, name, file }: DumpedCollection,
  collection: string,
  signal: AbortSignal,
): Promise<SurveyedCollection> {
  const progress = showTransferProgress('reading', 'documents');
  const onProgress = (done: number) => progress.show({ stage: name, done, total: done });
  try {
    return { database, name, collection, ...(await surveyDocuments(file, { signal, onProgress })) };
  } finally {
    progress.stop();
  }
}

/** Imports a collection by its `_id`: what an earlier attempt has written is not written again. */
async function importCollection(
  one: DumpedCollection,
  { format, ...surveyed }: SurveyedCollection,
  work: ImportWork,
  { dryRun, register }: ImportMongoCommandOptions,
): Promise<ImportedCollection> {
  const { services, scope } = work;
  const { imports } = services;
  if (services.catalog.find(surveyed.collection) === undefined) {
    if (!register || dryRun) return { ...surveyed, outcome: 'not declared', refused: [] };
    await services.catalog.register(scope, { name: surveyed.collection });
  }
  const taken = await imports.create(scope, {
    collection: surveyed.collection,
    file: {
      name: nameOfImport(one),
      contentType: 'application/octet-stream',
      stream: createReadStream(one.file),
    },
    source: { format },
    options: { mode: 'rows', by: '_id', missing: 'keep' },
  });
  const stored = await goOn(work, taken, 'looking into the file');
  if (stored.state === 'ready')
    await (dryRun ? imports.dryRun(scope, taken.id) : imports.start(scope, taken.id));
  const ended = await goOn(work, stored, 'importing');
  const refused = await imports.listErrors(scope, ended.id, MAX_REFUSED);
  return {
    ...{ ...surveyed, outcome: OUTCOMES.get(ended.state) ?? 'failed', fault: ended.fault },
    import: { id: ended.id, counts: countsOf(ended) },
    refused: refused.map(({ number, errors }) => ({ number, errors: errors.map(({ detail }) => detail) })),
  };
}

/** Names of files have no slashes. */
function nameOfImport({ database, name }: DumpedCollection): string {
  return `mongo ${database === undefined ? '' : `${database}.`}${name}`
    .replaceAll(/[\\/\p{Cc}]/gu, '_')
    .slice(0, 200);
}

function printDone(done: readonly ImportedCollection[], warnings: readonly string[]): void {
  printTable(
    ['from', 'collection', 'documents', 'created', 'updated', 'same', 'refused', 'outcome'],
    done.map(({ name, collection, report, import: run, outcome }) => [
      name,
      collection,
      report.documents,
      ...[run?.counts.created, run?.counts.updated, run?.counts.same, run?.counts.refused].map(
        (count) => count ?? '',
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
      count,
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
    ...done.flatMap(({ name, collection, outcome, report, refused, fault }) => [
      ...report.faults.samples.map(({ fault: what }) => `${name}: ${what}`),
      ...(report.unlistedAlterations > 0 ? [`${name}: ${report.unlistedAlterations} more alterations`] : []),
      ...(outcome === 'not declared'
        ? [`${name}: there is no collection ${collection}; pass --register, or --as ${name}=<collection>`]
        : []),
      ...(fault === undefined ? [] : [`${name}: ${String(fault.detail)}`]),
      ...refused.map(({ number, errors }) => `${name}, document ${number}: ${errors.join('; ')}`),
    ]),
  ];
}
