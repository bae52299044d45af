import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../base/json/json.js';
import { readNamedFile, toFileError } from '../services/backup/save-backup.js';
import {
  changesOf,
  type ImportCounts,
  type ImportOptions,
  type StoredImport,
} from '../services/importing/stored-import.js';
import { actInDomain, type CommandLine, type DomainWork } from './command-line.js';
import { ask, printLine, printNote } from './console-output.js';
import { printTable } from './print-table.js';
import { showTransferProgress } from './transfer-progress.js';

interface ImportCommandOptions {
  readonly collection?: string;
  readonly mapping?: string;
  readonly by?: string;
  readonly mode?: ImportOptions['mode'];
  readonly missing?: ImportOptions['missing'];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly resume?: string;
  readonly errors?: string;
  readonly outcomes?: string;
  readonly undo?: string;
  readonly force?: boolean;
}

/** The services and options of the steps of an import, which the command line runs itself. */
export interface ImportWork extends Pick<DomainWork, 'services' | 'scope' | 'signal'> {
  /** Printed if the work is stopped; default: how to resume this import. */
  readonly stopNote?: string;
}

type Work = DomainWork<ImportCommandOptions>;

const LOOK_EVERY_MS = 300;
/** The rows whose faults are printed; all of them are in the file of --errors. */
const SHOWN_ROWS = 10;

/** `campus import`: a file tried, and written when that was agreed to. */
export function registerImportCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--collection <name>', 'where its records go')
    .option('--mapping <file>', 'a JSON file that maps columns to fields; default: the proposed mapping')
    .option('--by <key>', 'key that identifies records: _id, a unique field, or fields unique together')
    .addOption(new Option('--mode <mode>', 'all rows or none, or the valid ones').choices(['atomic', 'rows']))
    .addOption(new Option('--missing <what>', 'records the file does not have').choices(['keep', 'remove']))
    .option('--dry-run', 'show what would be done, and write nothing')
    .option('--yes', 'write without asking')
    .option('--resume <id>', 'continue an import that was stopped')
    .option('--undo <id>', 'undo all that an import has written')
    .option('--force', 'with --undo: remove records although others point to them')
    .option('--errors <file>', 'write the refused rows, with their errors, to this file')
    .option('--outcomes <file>', 'write the outcome of each row in the dry run to this file')
    .option('--json', 'print the import as JSON');
  actInDomain<ImportCommandOptions, [string | undefined]>(
    command,
    commandLine,
    async (work, file) => {
      const one = await chosenWork(work, file);
      print(one, work.options);
      await printRefused(work, one);
      if (one.state === 'failed') process.exitCode = 1;
    },
    'listens',
  );
}

async function chosenWork(work: Work, file: string | undefined): Promise<StoredImport> {
  const { undo: undone, resume: resumed } = work.options;
  if (undone !== undefined) return await undo(work, undone);
  return resumed === undefined ? await importFile(work, file) : await resume(work, resumed);
}

async function importFile(work: Work, file: string | undefined): Promise<StoredImport> {
  const { services, scope, options } = work;
  const { collection, mapping, by, mode, missing } = options;
  if (file === undefined || collection === undefined) {
    throw new ServiceError('INVALID_VALUE', 'Name the file and its --collection, or an import to --resume.');
  }
  const taken = await services.imports.create(scope, {
    collection,
    file: { name: path.basename(file), stream: readingOf(file) },
    source: {},
    options: { ...(by && { by }), ...(mode && { mode }), ...(missing && { missing }) },
  });
  const inspected = await goOn(work, taken, 'looking into the file');
  if (inspected.state !== 'ready') return inspected;
  if (mapping !== undefined)
    await services.imports.change(scope, taken.id, { mapping: await readMapping(mapping) });
  if (options.yes && missing !== 'remove' && !options.dryRun) return await write(work, taken.id);
  await services.imports.dryRun(scope, taken.id);
  const tried = await goOn(work, taken, 'trying');
  if (options.outcomes !== undefined) {
    const file = createWriteStream(options.outcomes);
    await pipeline(services.imports.outcomesCsv(scope, taken.id), file);
  }
  if (tried.state !== 'tried' || options.dryRun) return tried;
  if (!options.yes) {
    print(tried, { ...options, json: false });
    await printRefused(work, tried);
    if (!(await isAgreed())) return tried;
  }
  return await write(work, taken.id);
}

async function resume(work: Work, id: string): Promise<StoredImport> {
  const { services, scope } = work;
  const one = await services.imports.get(scope, id);
  if (['ready', 'tried', 'failed', 'cancelled'].includes(one.state)) return await write(work, id);
  // One that was stopped before it was looked into is written, as any other that is resumed.
  const next = await goOn(work, one, 'importing');
  return next.state === 'ready' ? await write(work, id) : next;
}

async function write(work: Work, id: string): Promise<StoredImport> {
  const begun = await work.services.imports.start(work.scope, id);
  return await goOn(work, begun, 'importing');
}

/** Says what would be taken back, and does it when that was agreed to. */
async function undo(work: Work, id: string): Promise<StoredImport> {
  const { services, scope, options } = work;
  const one = await services.imports.get(scope, id);
  if (one.state === 'undoing') return await goOn(work, one, 'undoing');
  const preview = await services.imports.previewUndo(scope, id);
  const { removed, changed, broughtBack, conflictCount, conflicts, usedBy } = preview;
  if (options.json && options.dryRun) printLine(JSON.stringify(preview));
  if (!options.json) {
    printTable(
      ['removed', 'changed', 'brought back', 'changed later'],
      [[removed, changed, broughtBack, conflictCount]],
    );
    for (const { id: record, version } of conflicts.slice(0, SHOWN_ROWS)) {
      printLine(`${record} was changed later: version ${version ?? 'none, it is gone'}`);
    }
    for (const found of usedBy) printLine(`in use: ${found}`);
  }
  if (options.dryRun || (!options.yes && !(await isAgreed('undo this? [y/N] ')))) return one;
  return await goOn(work, await services.imports.undo(scope, id, { force: options.force }), 'undoing');
}

/**
 * Does the next step of an import, with a bar; Ctrl-C leaves it where it is.
 *
 * @throws CONFLICT if another process does it
 */
export async function goOn(
  { services, scope, signal, stopNote }: ImportWork,
  { id }: StoredImport,
  task: string,
): Promise<StoredImport> {
  const progress = showTransferProgress(task, task === 'undoing' ? 'parts' : 'rows');
  const show = ({ counts, rowCount, inspection, state, undone, changes }: StoredImport) => {
    // Only the first rows of a large file were inspected.
    const total = rowCount ?? (inspection?.isWhole ? inspection.rows : undefined);
    progress.show({
      stage: '',
      ...(state === 'undoing'
        ? { done: undone.length, total: changes }
        : { done: counts.rows, ...(total !== undefined && { total }) }),
    });
  };
  // A look that fails is repeated; a fault of the database ends the import itself.
  const look = () => void services.imports.get(scope, id).then(show, () => undefined);
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    const outcome = await services.importRunner.run(id, signal);
    if (outcome.kind === 'over') return outcome.import;
  } catch (fault) {
    progress.stop();
    const note = stopNote ?? `what is written stays; the rest: campus import --resume ${id}`;
    if (signal.aborted) printNote(note);
    throw signal.aborted ? signal.reason : fault;
  } finally {
    clearInterval(timer);
    progress.stop();
  }
  throw new ServiceError(
    'CONFLICT',
    'Another process works on this import, or two other imports are running; try again.',
  );
}

async function* readingOf(file: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* createReadStream(file);
  } catch (fault) {
    throw toFileError(file, fault);
  }
}

async function readMapping(file: string): Promise<JsonValue> {
  try {
    return parsePlainJson(String(await readNamedFile(file)));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('INVALID_VALUE', `${file} is not a mapping: ${reason}`, { cause });
  }
}

async function isAgreed(question = 'write this? [y/N] '): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new ServiceError('INVALID_VALUE', 'No terminal to ask on. Pass --yes to write, or --dry-run.');
  }
  return /^y(es)?$/i.test((await ask(question)).trim());
}

function print(one: StoredImport, { json }: Pick<ImportCommandOptions, 'json'>): void {
  const { principal: _principal, ...shown } = one;
  if (json) {
    printLine(printExactJson(JSON.parse(JSON.stringify(shown)) as JsonValue));
    return;
  }
  const counts = countsOf(one);
  printTable(['import', 'state', ...COUNTED], [[one.id, one.state, ...COUNTED.map((name) => counts[name])]]);
  if (one.state === 'tried') printTrial(one);
  if (one.fault !== undefined) printLine(`why: ${String(one.fault.detail)}`);
  if (changesOf(one).length > 0) printLine(`undo: campus import --undo ${one.id}`);
}

/** Prints the result of the dry run: the warnings, the field of each column, and old and new values. */
function printTrial({ inspection, mapping, trial }: StoredImport): void {
  for (const warning of inspection?.warnings ?? []) printLine(`warning: ${warning}`);
  for (const { column, field } of mapping?.columns ?? []) printLine(`${column} → ${field ?? '(left out)'}`);
  for (const [field, count] of Object.entries(trial?.overwritten ?? {})) {
    printLine(`overwrites ${field} in ${count.toLocaleString('en')} records`);
  }
  const changed = trial?.preview.filter(({ changes }) => changes !== undefined) ?? [];
  for (const { number, changes = [] } of changed.slice(0, SHOWN_ROWS)) {
    for (const { field, before = null, after = null } of changes) {
      printLine(`row ${number}, ${field}: ${printExactJson(before)} → ${printExactJson(after)}`);
    }
  }
}

export function countsOf(one: StoredImport): ImportCounts {
  return one.state === 'tried' ? (one.trial?.counts ?? one.counts) : one.counts;
}

/** Prints the errors of the first refused rows, and writes all of them to the file of `--errors`. */
async function printRefused({ services, scope, options }: Work, one: StoredImport): Promise<void> {
  const { refused } = countsOf(one);
  if (refused === 0) return;
  if (!options.json) {
    for (const { number, errors } of await services.imports.listErrors(scope, one.id, SHOWN_ROWS)) {
      for (const { column, detail } of errors) {
        printLine(`row ${number}${column === undefined ? '' : `, ${column}`}: ${detail}`);
      }
    }
    if (refused > SHOWN_ROWS) printLine(`… and ${(refused - SHOWN_ROWS).toLocaleString('en')} more rows`);
  }
  if (options.errors !== undefined) {
    await pipeline(services.imports.errorsCsv(scope, one.id), createWriteStream(options.errors));
    if (!options.json) printLine(`all of them: ${options.errors}`);
  } else if (!options.json) {
    printLine('--errors <file> writes all of them as a CSV, to be corrected and imported');
  }
}

const COUNTED = [
  'rows',
  'created',
  'updated',
  'same',
  'refused',
  'removed',
] as const satisfies readonly (keyof ImportCounts)[];
