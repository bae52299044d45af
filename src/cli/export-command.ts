import path from 'node:path';
import { type Command, Option } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonObject, printExactJson } from '../base/json/json.js';
import { queryOf } from '../base/model/record-query.js';
import type { Scope } from '../base/model/scope.js';
import { FORMATS } from '../base/tables/format.js';
import { printZip } from '../base/tables/print-zip.js';
import type { Services } from '../gateway/compose/services.js';
import { makeFolder, saveWhole } from '../services/backup/save-backup.js';
import { countExported, type ExportFormat, exportRecords } from '../services/exporting/print-records.js';
import { listOfObjects } from '../services/exporting/record-columns.js';
import { convertBundle, filesOf, readBundle } from '../services/formats/convert-bundle.js';
import { FormatExport, type FormatReport, printLacks } from '../services/formats/format-export.js';
import { FORMAT_NAMES, readFormatMapping } from '../services/formats/format-mapping.js';
import { formatContext, readFormatPart } from '../services/formats/format-zip.js';
import { nextSince, parseSince } from '../store/reading/changed-since.js';
import { actInDomain, type CommandLine, type DomainWork } from './command-line.js';
import { printLine, printNote } from './console-output.js';
import { printTable } from './print-table.js';
import { showTransferProgress, type TransferProgress } from './transfer-progress.js';

interface ExportCommandOptions {
  readonly as?: string;
  readonly all?: boolean;
  readonly format: ExportFormat;
  readonly out: string;
  readonly since?: string;
  readonly from?: string;
  readonly to?: string;
  readonly times?: 'utc' | 'school';
  readonly expand?: string;
  readonly json?: boolean;
}

interface Exported {
  readonly collection: string;
  readonly file: string;
  readonly records: number;
  readonly bytes: number;
}

/** `campus export`: a file a collection, each whole or not there. */
export function registerExportCommand(command: Command, commandLine: CommandLine): void {
  const formats = FORMATS.filter((format) => format !== 'json');
  command
    .option('--all', 'all collections')
    .addOption(new Option('--format <format>', 'of the files').choices(formats).default('ndjson'))
    .option('--out <folder>', 'where the files go; of one collection also the file', '.')
    .option('--since <instant>', 'only what changed since, removed records as {"_id", "$removed"}')
    .addOption(
      new Option(
        '--times <zone>',
        'CSV and XLSX: instants in UTC or in local time; default: school for xlsx',
      ).choices(['utc', 'school']),
    )
    .option('--expand <field>', 'a list of objects, e.g. lines: a row for each element')
    .option('--from <day>', 'with --as tally: only receipts of this day or later')
    .option('--to <day>', 'with --as tally: only receipts of this day or earlier')
    .addOption(
      new Option(
        '--as <format>',
        'oneroster, udise, tally, or a mapping file: the files of another program',
      ).conflicts(['format', 'times', 'expand']),
    )
    .option('--json', 'print what was written as JSON');
  actInDomain<ExportCommandOptions, [string[]]>(
    command,
    commandLine,
    async ({ services, scope, options, signal }, names) => {
      if (options.as !== undefined) {
        if (names.length > 0 || options.all) {
          const detail = 'With --as, the format determines the collections to export.';
          throw new ServiceError('INVALID_VALUE', detail);
        }
        await exportFormat({ services, scope, options, signal }, options.as, commandLine);
        return;
      }
      if (options.from !== undefined || options.to !== undefined)
        throw new ServiceError('INVALID_VALUE', '--from and --to need a format: pass --as too.');
      const { timeZone } = scope.domain;
      const { keepRemovedDays } = commandLine.config;
      const since =
        options.since === undefined
          ? undefined
          : parseSince(options.since, { parameter: '--since', timeZone, keepRemovedDays });
      const wanted = chooseCollections(services, scope, names, options);
      const next = await nextSince(services.database);
      const files = await exportAll({ services, scope, wanted, options, since, next, signal });
      if (options.json) printLine(JSON.stringify({ domain: scope.domain.id, since, next, files }));
      else printExported(files, next);
    },
    'listens',
  );
}

interface Work extends DomainWork<ExportCommandOptions> {
  readonly wanted: readonly string[];
  readonly since: string | undefined;
  readonly next: string;
}

async function exportAll(work: Work): Promise<readonly Exported[]> {
  const { wanted, signal } = work;
  const progress = showTransferProgress('exporting', 'records');
  const done: Exported[] = [];
  try {
    for (const collection of wanted) {
      signal.throwIfAborted();
      done.push(await exportOne(work, collection, progress));
    }
    return done;
  } catch (fault) {
    progress.stop();
    if (signal.aborted) printHowToContinue(wanted.slice(done.length), work);
    throw signal.aborted ? signal.reason : fault;
  } finally {
    progress.stop();
  }
}

async function exportOne(work: Work, collection: string, progress: TransferProgress): Promise<Exported> {
  const { services, scope, options, since, signal } = work;
  const { format } = options;
  const table = tableOptions(work, collection);
  const records = services.store.find(scope, queryOf(collection));
  const total = await countExported(records, { format, since });
  const file = fileOf(collection, work);
  const open = (lines: 'json' | 'ndjson') =>
    since === undefined
      ? records.stream(lines, signal)
      : records.streamChanges(since, { format: lines, signal });
  const chunks = exportRecords(records, { format, open, ...table });
  const bytes = await save(file, watched(chunks));
  return { collection, file, records: chunks.rowCount, bytes };

  async function* watched(content: typeof chunks): AsyncGenerator<string | Uint8Array, void> {
    for await (const chunk of content) {
      signal.throwIfAborted();
      progress.show({ stage: collection, done: content.rowCount, total });
      yield chunk;
    }
  }
}

/** @throws INVALID_VALUE */
function tableOptions({ services, scope, options: { format, times, expand } }: Work, collection: string) {
  if (format !== 'csv' && format !== 'xlsx' && times === 'school')
    throw new ServiceError(
      'INVALID_VALUE',
      `--times school is for csv and xlsx; ${format} has instants in UTC.`,
    );
  const isLocal = (times ?? (format === 'xlsx' ? 'school' : 'utc')) === 'school';
  const timeZone = isLocal ? scope.domain.timeZone : undefined;
  if (expand === undefined) return { timeZone };
  const { collection: declared, hiddenFields } = services.store.find(scope, queryOf(collection));
  return { timeZone, expanded: listOfObjects(expand, { collection: declared, hiddenFields, format }) };
}

/** @throws INVALID_VALUE; NOT_FOUND, FORBIDDEN for a collection that is named */
function chooseCollections(
  { catalog, store }: Services,
  scope: Scope,
  names: readonly string[],
  { all }: ExportCommandOptions,
): readonly string[] {
  if ((all === true) === names.length > 0) {
    throw new ServiceError('INVALID_VALUE', 'Name the collections to export, or pass --all.');
  }
  if (all) return catalog.list().map(({ name }) => name);
  const wanted = [...new Set(names)];
  for (const name of wanted) store.assertAllowed(scope, name, 'read');
  return wanted;
}

/** `--out` names the file itself where one collection is exported and it ends as the format does. */
function fileOf(collection: string, { options: { out, format }, wanted }: Work): string {
  const isFile = wanted.length === 1 && path.extname(out) === `.${format}`;
  return isFile ? out : path.join(out, `${collection}.${format}`);
}

/** Writes a whole file in a folder that may not be there yet, and returns its size. */
async function save(file: string, content: Parameters<typeof saveWhole>[1]): Promise<number> {
  await makeFolder(path.dirname(file));
  return await saveWhole(file, content);
}

/** The written files belong to this run, so the next export must start from its instant, not a later one. */
function printHowToContinue(left: readonly string[], { options, next }: Work): void {
  const { domain, format, out, since } = options;
  const words = ['campus export', ...left, `--format ${format}`, `--out ${JSON.stringify(out)}`];
  if (domain !== undefined) words.push(`--domain ${domain}`);
  if (since !== undefined) words.push(`--since ${since}`);
  printNote(`what is written stays; the rest: ${words.join(' ')}`);
  printNote(`what changes from now on: --since ${next}`);
}

function printExported(files: readonly Exported[], next: string): void {
  printTable(
    ['collection', 'records', 'bytes', 'file'],
    files.map(({ collection, records, bytes, file }) => [collection, records, bytes, file]),
  );
  printLine(`what changes from now on: --since ${next}`);
}

/**
 * Writes the files of a format of other programs, and the list of missing values. `as`: the name of a format,
 * or a mapping file.
 *
 * @throws NOT_FOUND, INVALID_VALUE for the mapping and the instant; UNAVAILABLE for the files
 */
async function exportFormat(
  { services, scope, options, signal }: DomainWork<ExportCommandOptions>,
  as: string,
  { config: { keepRemovedDays } }: CommandLine,
): Promise<void> {
  const { out } = options;
  const mapping = await readFormatMapping(as);
  const { timeZone } = scope.domain;
  const part = readFormatPart(mapping, options, { format: as, prefix: '--', timeZone, keepRemovedDays });
  const now = new Date();
  const work = new FormatExport(mapping, {
    ...{ store: services.store, scope, ...part, now, signal },
    context: formatContext(services.domains, scope, now),
  });
  const name = FORMAT_NAMES.some((one) => one === as) ? as : path.basename(as, '.json');
  const files: string[] = [];
  const write = async (file: string, content: Parameters<typeof saveWhole>[1]) => {
    await save(file, content);
    files.push(file);
  };
  if (mapping.bundle === 'zip') {
    const file = path.extname(out) === '.zip' ? out : path.join(out, `${name}.zip`);
    await write(file, printZip(work.files(), now));
  } else {
    for await (const { path: file, content } of work.files()) await write(path.join(out, file), content);
  }
  const report = work.report((collection) =>
    services.catalog.get(collection).fields.map((field) => field.name),
  );
  const { lacks } = report.readiness;
  const folder = path.extname(out) ? path.dirname(out) : out;
  if (lacks.length > 0) await write(path.join(folder, `${name}-readiness.csv`), printLacks(lacks));
  if (options.json) printLine(JSON.stringify(toJson(report, files)));
  else printReport(report, files);
}

function printReport(
  { rows, readiness, homeless, notCarried }: FormatReport,
  files: readonly string[],
): void {
  printTable(['file', 'rows'], [...rows]);
  if (readiness.counts.size > 0) printTable(['lacking', 'records'], [...readiness.counts]);
  printTable(
    ['empty column', 'because'],
    homeless.map(({ file, column, because }) => [`${file}: ${column}`, because]),
  );
  for (const [collection, fields] of notCarried) {
    if (fields.length > 0) printLine(`not carried of ${collection}: ${fields.join(', ')}`);
  }
  for (const file of files) printLine(file);
}

function toJson({ rows, readiness, homeless, notCarried }: FormatReport, files: readonly string[]) {
  return {
    ...{ files, rows: Object.fromEntries(rows), lacking: Object.fromEntries(readiness.counts) },
    ...{ lacks: readiness.lacks, homeless, notCarried: Object.fromEntries(notCarried) },
  };
}

/** `campus convert`: the files of another program as files that are imported. */
export function registerConvertCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--out <folder>', 'where the files go', '.')
    .option('--json', 'print what was written as JSON');
  actInDomain<{ readonly out: string; readonly json?: boolean }>(
    command,
    commandLine,
    async ({ services, scope, options }, format = '', file = '') => {
      const { in: incoming, manifest, tables = {} } = await readFormatMapping(format);
      if (incoming === undefined) {
        throw new ServiceError('INVALID_VALUE', `${format} is written, by campus export --as, and not read.`);
      }
      const bundle = await readBundle(file, filesOf(incoming), manifest);
      const context = { ...formatContext(services.domains, scope, new Date()), tables };
      const { collections, homeless, leftOut } = convertBundle(incoming, bundle, context);
      const files: Omit<Exported, 'bytes'>[] = [];
      for (const [collection, records] of collections) {
        const file = path.join(options.out, `${collection}.ndjson`);
        await save(file, linesOf(records));
        files.push({ collection, records: records.length, file });
      }
      if (options.json) {
        const maps = { homeless: Object.fromEntries(homeless), leftOut: Object.fromEntries(leftOut) };
        printLine(JSON.stringify({ files, ...maps }));
        return;
      }
      printTable(
        ['collection', 'records', 'file'],
        files.map(({ collection, records, file: name }) => [collection, records, name]),
      );
      if (homeless.size > 0) printTable(['column without a place here', 'rows'], [...homeless]);
      for (const [name, count] of leftOut) printLine(`left out, there no more: ${count} of ${name}`);
      printLine('they are imported in this order, by=_id: POST /imports?collection=<collection>');
    },
  );
}

function* linesOf(records: readonly JsonObject[]): Iterable<string> {
  for (const record of records) yield `${printExactJson(record)}\n`;
}
