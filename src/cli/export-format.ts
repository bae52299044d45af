/** `campus export --as <format>`: the files of a format of other programs, and who lacks what. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../base/errors.js';
import { instantFrom } from '../base/model/calendar.js';
import type { Scope } from '../base/model/scope.js';
import { printCsvLine } from '../base/tables/csv-line.js';
import { printZip, type ZipEntry } from '../base/tables/print-zip.js';
import type { Services } from '../gateway/compose/services.js';
import { sessionOf, todayIn } from '../school/reports/engine/school-calendar.js';
import { schoolSettings } from '../school/reports/engine/school-settings.js';
import { saveWhole, toFileError } from '../services/backup/save-backup.js';
import { FormatExport, type FormatReport } from '../services/formats/format-export.js';
import { FORMAT_NAMES, type FormatMapping, readFormatMapping } from '../services/formats/format-mapping.js';
import type { Lack } from '../services/formats/readiness.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

export interface ExportFormatRequest {
  /** The name of a format, or a mapping file. */
  readonly as: string;
  readonly out: string;
  readonly since: string | undefined;
  readonly isJson: boolean;
  readonly signal: AbortSignal;
}

/** @throws NOT_FOUND, INVALID_VALUE for the mapping and the instant; UNAVAILABLE for the files */
export async function exportFormat(
  services: Services,
  scope: Scope,
  request: ExportFormatRequest,
): Promise<void> {
  const { as, out, signal, isJson } = request;
  const mapping = await readFormatMapping(as);
  const since = sinceOf(mapping, scope, request);
  const now = new Date();
  const work = new FormatExport(mapping, {
    ...{ store: services.store, scope, since, now, signal },
    context: contextOf(services, scope, now),
  });
  const name = FORMAT_NAMES.some((one) => one === as) ? as : path.basename(as, '.json');
  const written = mapping.bundle === 'zip' ? await zipped(work, name, out, now) : await beside(work, out);
  const report = work.report((collection) =>
    services.catalog.get(collection).fields.map((field) => field.name),
  );
  const lacking = await saveLacks(report.readiness.lacks, name, path.extname(out) ? path.dirname(out) : out);
  if (isJson) printLine(JSON.stringify(toJson(report, [...written, ...lacking])));
  else printReport(report, [...written, ...lacking]);
}

function sinceOf(
  mapping: FormatMapping,
  { domain }: Scope,
  { since, as }: ExportFormatRequest,
): string | undefined {
  if (since === undefined) return undefined;
  if (mapping.changes === undefined) {
    throw new ServiceError(
      'INVALID_VALUE',
      `${as} knows no changes: it is exported as a whole, without --since.`,
    );
  }
  const instant = instantFrom(since, domain.timeZone);
  if (instant !== undefined) return instant;
  throw new ServiceError(
    'INVALID_VALUE',
    `--since is ${JSON.stringify(since)}; expected an instant or a day.`,
  );
}

/** The values a mapping uses beside the records. */
export function contextOf({ domains }: Services, { domain }: Scope, now: Date) {
  const property = (name: string) => domains.property(domain.id, name);
  const { sessionFirstMonth } = schoolSettings(property);
  const session = sessionOf(todayIn(domain.timeZone, now), sessionFirstMonth);
  return { domain, property, session, sessionFirstMonth };
}

async function zipped(work: FormatExport, name: string, out: string, now: Date): Promise<readonly string[]> {
  const file = path.extname(out) === '.zip' ? out : path.join(out, `${name}.zip`);
  await makeFolder(path.dirname(file));
  await saveWhole(file, printZip(work.files(), now));
  return [file];
}

async function beside(work: FormatExport, out: string): Promise<readonly string[]> {
  await makeFolder(out);
  const written: string[] = [];
  for await (const { path: name, content } of work.files()) {
    const file = path.join(out, name);
    await saveWhole(file, chunks(content));
    written.push(file);
  }
  return written;
}

async function* chunks(content: ZipEntry['content']): AsyncGenerator<string | Uint8Array, void> {
  yield* content;
}

async function saveLacks(lacks: readonly Lack[], name: string, folder: string): Promise<readonly string[]> {
  if (lacks.length === 0) return [];
  const file = path.join(folder, `${name}-readiness.csv`);
  const heading = ['file', 'collection', '_id', 'known as', 'column', 'value', 'expected'];
  const lines = lacks.map((lack) => [
    ...[lack.file, lack.collection, lack.id, lack.label, lack.column, lack.value, lack.expected],
  ]);
  await saveWhole(file, chunks([heading, ...lines].map((cells) => printCsvLine(cells))));
  return [file];
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((fault: unknown) => {
    throw toFileError(folder, fault);
  });
}

function printReport(
  { rows, readiness, homeless, notCarried }: FormatReport,
  files: readonly string[],
): void {
  printTable(
    ['file', 'rows'],
    [...rows].map(([file, count]) => [file, count.toLocaleString('en')]),
  );
  if (readiness.counts.size > 0) {
    printTable(
      ['lacking', 'records'],
      [...readiness.counts].map(([column, count]) => [column, count.toLocaleString('en')]),
    );
  }
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
