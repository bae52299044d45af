/** Rows of a sheet of a workbook (XLSX, ECMA-376), read as they stream. */
import path from 'node:path';
import type { Readable } from 'node:stream';
import { type SaxesAttributePlain, SaxesParser } from 'saxes';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { invalidAt, ServiceError } from '../../../base/errors.js';
import { reasonOfDamage } from '../../../base/text/reason-of-damage.js';
import {
  inBatches,
  type RowSource,
  type SourceFile,
  type SourceOptions,
  type SourceRow,
} from './row-source.js';
import {
  CellStyles,
  columnOf,
  isTrue,
  type MergedCells,
  SharedStrings,
  SheetReader,
  type SheetRow,
} from './sheet-reader.js';
import { findHeader, headerRowsOf, isBlankRow, type TableHeader, toSourceRow } from './table-row.js';

interface SheetPart {
  readonly name: string;
  readonly part: string;
  readonly isHidden: boolean;
}

interface WorkbookParts {
  readonly sheets: readonly SheetPart[];
  readonly dateSystem: 'serial' | 'serial-1904';
  readonly styles: string | undefined;
  readonly strings: string | undefined;
}

/** The parts of a sheet to read. */
interface SheetText {
  readonly path: string;
  readonly workbook: WorkbookParts;
  readonly sheet: SheetPart;
  readonly merged: readonly MergedCells[];
}

/**
 * Opens a sheet: the one that is named, else the first that is shown and has rows. Formulas are their
 * values as they were saved. A cell that shows an error, and a formula without a value, is a fault of its
 * row.
 *
 * @throws MALFORMED_REQUEST, LIMIT_EXCEEDED; INVALID_VALUE for a sheet that is not there
 */
export async function openXlsxSource(file: SourceFile, options: SourceOptions): Promise<RowSource> {
  const workbook = await readWorkbook(file.path);
  const { sheet, header } = await findSheet(file.path, workbook, options);
  const merged = await findMerged(file.path, sheet.part);
  // A value over several columns stands in the first of them anyway.
  const text = { path: file.path, workbook, sheet, merged: merged.filter(({ width }) => width === 1) };
  const others = candidatesOf(workbook.sheets, undefined).filter((one) => one !== sheet);
  const warnings = [
    ...(options.sheet === undefined && others.length > 0 ? [warningOfOthers(sheet, others)] : []),
    ...(merged.length === 0 ? [] : [warningOfMerged(merged.length)]),
  ];
  return {
    format: 'xlsx',
    sheet: sheet.name,
    sheets: workbook.sheets.map(({ name }) => name),
    ...header,
    warnings: [...warnings, ...header.warnings],
    rows: (signal, batchRows) =>
      inBatches(readSheetRows(text), (row) => toCheckedRow(row, header), signal, batchRows),
  };
}

const MAX_NAMED_SHEETS = 5;

function warningOfOthers({ name }: SheetPart, others: readonly SheetPart[]): string {
  const names = others.slice(0, MAX_NAMED_SHEETS).map((other) => JSON.stringify(other.name));
  const more = others.length > names.length ? ` and ${others.length - names.length} more` : '';
  return (
    `Only the sheet ${JSON.stringify(name)} is read; the workbook has ${names.join(', ')}${more} too. ` +
    'Give sheet=<name> to read another one.'
  );
}

function warningOfMerged(areas: number): string {
  return (
    `${areas} areas of merged cells: a value over several rows stands in each of them, ` +
    'one over several columns in the first.'
  );
}

async function findSheet(
  file: string,
  workbook: WorkbookParts,
  options: SourceOptions,
): Promise<{ readonly sheet: SheetPart; readonly header: TableHeader }> {
  const candidates = candidatesOf(workbook.sheets, options.sheet);
  for (const [index, sheet] of candidates.entries()) {
    const rows = await headerRowsOf(readSheetRows({ path: file, workbook, sheet, merged: [] }));
    if (rows.length === 0 && index < candidates.length - 1) continue;
    return { sheet, header: findHeader(rows, options.header) };
  }
  throw new ServiceError('MALFORMED_REQUEST', 'All sheets of the workbook are hidden.');
}

function candidatesOf(sheets: readonly SheetPart[], named: string | undefined): readonly SheetPart[] {
  if (named === undefined) return sheets.filter(({ isHidden }) => !isHidden);
  const sheet = sheets.find(({ name }) => name.toLowerCase() === named.trim().toLowerCase());
  if (sheet) return [sheet];
  const names = sheets.slice(0, 20).map(({ name }) => name);
  const detail = `The workbook has no sheet ${JSON.stringify(named.slice(0, 40))}.`;
  throw invalidAt(detail, { detail: 'no such sheet', parameter: 'sheet', expected: names.join(', ') });
}

/** A row may end before the last column: blank cells at its end are not written. */
function toCheckedRow(row: SheetRow, { header, columns }: TableHeader): SourceRow | undefined {
  const { number, cells, fault, isHidden } = row;
  if (header !== 'none' && number <= header) return undefined;
  const blanks = Array.from({ length: Math.max(0, columns.length - cells.length) }, () => null);
  const shown = toSourceRow({ number, cells: [...cells, ...blanks] }, columns);
  const source = isHidden ? { ...shown, isHidden } : shown;
  if (fault !== undefined) {
    const faultColumn = columns[fault.column];
    return { ...source, fault: fault.detail, ...(faultColumn !== undefined && { faultColumn }) };
  }
  if (cells.length <= columns.length || isBlankRow(cells.slice(columns.length))) return source;
  return {
    ...source,
    fault:
      `row ${number} has a value in column ${cells.length}, ` +
      `the header ${columns.length} columns; name it`,
  };
}

async function* readSheetRows({ path: file, workbook, sheet, merged }: SheetText) {
  await using parts = await ZipParts.open(file);
  using strings = new SharedStrings();
  if (workbook.strings !== undefined) await readStrings(parts, workbook.strings, strings);
  strings.seal();
  const styles = new CellStyles();
  if (workbook.styles !== undefined) await readWholeXml(workbook.styles, parts.read(workbook.styles), styles);
  const { dateSystem } = workbook;
  const reader = new SheetReader({ strings, styles, dateSystem, merged });
  for await (const _ of readXml(sheet.part, parts.read(sheet.part), reader)) {
    const rows = reader.takeRows();
    if (rows.length > 0) yield rows;
  }
}

async function readStrings(parts: ZipParts, part: string, strings: SharedStrings): Promise<void> {
  let text = '';
  let isTaking = false;
  await readWholeXml(part, parts.read(part), {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 't') isTaking = true;
    },
    text: (more) => {
      if (isTaking) text += more;
    },
    close: (name) => {
      if (name === 'si') strings.add(text);
      else if (name === 't') isTaking = false;
    },
  });
}

async function readWorkbook(file: string): Promise<WorkbookParts> {
  await using parts = await ZipParts.open(file);
  const main = await mainPart(parts);
  const targets = await relationsOf(parts, main);
  const sheets: SheetPart[] = [];
  let dateSystem: WorkbookParts['dateSystem'] = 'serial';
  await readWholeXml(main, parts.read(main), {
    open: (name, attributes) => {
      if (name === 'workbookPr' && isTrue(attributes.date1904)) dateSystem = 'serial-1904';
      if (name !== 'sheet') return;
      const [, id = ''] = Object.entries(attributes).find(([key]) => key.endsWith(':id')) ?? [];
      const part = targets.find((target) => target.id === id && target.type.endsWith('/worksheet'))?.part;
      // A sheet of charts has no cells.
      if (part === undefined) return;
      sheets.push({
        name: attributes.name ?? '',
        part,
        isHidden: (attributes.state ?? 'visible') !== 'visible',
      });
    },
  });
  if (sheets.length === 0) throw new ServiceError('MALFORMED_REQUEST', 'The workbook has no sheets.');
  const partOf = (type: string) =>
    targets.find((target) => target.type.endsWith(type) && parts.has(target.part))?.part;
  return { sheets, dateSystem, styles: partOf('/styles'), strings: partOf('/sharedStrings') };
}

async function mainPart(parts: ZipParts): Promise<string> {
  const found = parts.has('_rels/.rels')
    ? (await relationsOf(parts, '')).find(({ type }) => type.endsWith('/officeDocument'))
    : undefined;
  if (found && parts.has(found.part)) return found.part;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'The file is a zip file, not a workbook (XLSX); save the sheet as XLSX or CSV.',
  );
}

interface Relation {
  readonly id: string;
  readonly type: string;
  readonly part: string;
}

/** The parts that a part names; `''` is the workbook as a whole. */
async function relationsOf(parts: ZipParts, part: string): Promise<Relation[]> {
  const folder = part === '' ? '' : path.posix.dirname(part);
  const listed = path.posix.join(folder, '_rels', `${path.posix.basename(part)}.rels`);
  const relations: Relation[] = [];
  await readWholeXml(listed, parts.read(listed), {
    open: (name, { Id = '', Type = '', Target = '' }) => {
      if (name !== 'Relationship') return;
      const target = Target.startsWith('/') ? Target.slice(1) : path.posix.join(folder, Target);
      relations.push({ id: Id, type: Type, part: target });
    },
  });
  return relations;
}

/** In texts `<` is escaped, so only an element matches. */
const MERGED = /<(?:\w+:)?mergeCell\s[^<>]*?ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"/g;
const LONGEST_TAG = 64;
const MAX_MERGED = 100_000;

async function findMerged(file: string, part: string): Promise<(MergedCells & { readonly width: number })[]> {
  await using parts = await ZipParts.open(file);
  const areas: (MergedCells & { readonly width: number })[] = [];
  let tail = '';
  for await (const chunk of parts.read(part)) {
    const text = tail + chunk.toString('latin1');
    for (const [, left = '', top, right = '', bottom] of text.matchAll(MERGED)) {
      const column = columnOf(left);
      const width = columnOf(right) - column + 1;
      areas.push({ column, width, firstRow: Number(top), lastRow: Number(bottom) });
    }
    if (areas.length >= MAX_MERGED) break;
    tail = /<[^<>]*$/.exec(text.slice(-LONGEST_TAG))?.[0] ?? '';
  }
  return areas;
}

/** The events for elements. Their names have no prefix. A phonetic guide (`rPh`) is left out. */
interface XmlEvents {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** The most text between two tags, or within a tag, that the parser holds. */
const MAX_BETWEEN_TAGS = 8 * 1024 ** 2;

/**
 * Reads a part chunk by chunk. After each chunk the caller may take the collected events. Declarations of
 * entities are rejected, because entities can expand without limit.
 *
 * @throws MALFORMED_REQUEST for malformed XML, LIMIT_EXCEEDED if a text is too long, with the line
 */
async function* readXml(part: string, bytes: AsyncIterable<Buffer>, events: XmlEvents): AsyncGenerator<void> {
  const parser = new SaxesParser({ fragment: false });
  let sinceTag = 0;
  let isPhonetic = false;
  const refuse = (detail: string) => {
    throw new ServiceError('MALFORMED_REQUEST', `${part} in the workbook ${detail}`);
  };
  parser.on('doctype', () =>
    refuse('declares a document type, which no workbook needs and is not read. Save it again.'),
  );
  parser.on('error', (error) => refuse(`is not XML (${error.message}); save it again.`));
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    const local = localName(name);
    isPhonetic ||= local === 'rPh';
    if (isPhonetic) return;
    events.open?.(local, attributes as Readonly<Record<string, SaxesAttributePlain & string>>);
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    const local = localName(name);
    if (!isPhonetic) events.close?.(local);
    else isPhonetic = local !== 'rPh';
  });
  const take = (text: string) => {
    if (!isPhonetic) events.text?.(text);
  };
  if (events.text) parser.on('text', take);
  if (events.text) parser.on('cdata', take);
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    sinceTag += chunk.length;
    if (sinceTag > MAX_BETWEEN_TAGS) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `A text in ${part} of the workbook (line ${parser.line}) is longer than ${MAX_BETWEEN_TAGS} bytes; ` +
          'a cell holds at most 1048576 characters. Shorten it.',
      );
    }
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  parser.write(decoder.decode()).close();
  yield;
}

/** Reads a part to its end. */
async function readWholeXml(part: string, bytes: AsyncIterable<Buffer>, events: XmlEvents): Promise<void> {
  for await (const _ of readXml(part, bytes, events));
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

/** The limits of a workbook. */
const ZIP_LIMITS = {
  maxEntries: 10_000,
  /** All parts, unpacked: 4 GiB. */
  maxUnpackedBytes: 4 * 1024 ** 3,
  /** The most that a part may grow when unpacked; sheets grow some 20 times. */
  maxRatio: 250,
  /** The ratio is not checked for smaller parts: 1 MiB. */
  minRatioBytes: 1024 ** 2,
} as const;

/** An open zip file; close it. */
export class ZipParts implements AsyncDisposable {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /**
   * Reads the directory of the file, and checks the sizes in it: if a part is longer than its size there, the
   * rest is not read.
   *
   * @throws MALFORMED_REQUEST if it is not a zip file, LIMIT_EXCEEDED
   */
  static async open(path: string): Promise<ZipParts> {
    const file = await openPromise(path, { lazyEntries: true, autoClose: false }).catch((cause: unknown) => {
      throw damaged(cause);
    });
    const { maxEntries } = ZIP_LIMITS;
    try {
      const entries = new Map<string, Entry>();
      let unpackedBytes = 0;
      if (file.entryCount > maxEntries)
        throw tooLarge(`The workbook has ${file.entryCount} parts; at most ${maxEntries} are read.`);
      for await (const entry of file.eachEntry()) {
        unpackedBytes += entry.uncompressedSize;
        assertNoBomb(entry, unpackedBytes);
        entries.set(entry.fileName.replace(/^\//, ''), entry);
      }
      return new ZipParts(file, entries);
    } catch (cause) {
      file.close();
      throw cause instanceof ServiceError ? cause : damaged(cause);
    }
  }

  /** The paths of all parts, without the copies that macOS adds. */
  names(): readonly string[] {
    return [...this.#entries.keys()].filter((name) => !name.startsWith('__MACOSX/'));
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** The bytes of a part, unpacked as they are read. @throws MALFORMED_REQUEST */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (!entry)
      throw new ServiceError('MALFORMED_REQUEST', `The workbook has no part ${name}; save it again.`);
    let stream: Readable | undefined;
    try {
      stream = await this.#file.openReadStreamPromise(entry);
      yield* stream as AsyncIterable<Buffer>;
    } catch (cause) {
      throw cause instanceof ServiceError ? cause : damaged(cause);
    } finally {
      stream?.destroy();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#file.close();
  }
}

function assertNoBomb({ fileName, compressedSize, uncompressedSize }: Entry, unpackedBytes: number): void {
  const { maxRatio, minRatioBytes, maxUnpackedBytes } = ZIP_LIMITS;
  const ratio = Math.round(uncompressedSize / Math.max(1, compressedSize));
  if (uncompressedSize > minRatioBytes && uncompressedSize > compressedSize * maxRatio)
    throw tooLarge(
      `${fileName} in the workbook is packed ${ratio} times smaller than it is; ` +
        `at most ${maxRatio} times is read.`,
    );
  if (unpackedBytes > maxUnpackedBytes)
    throw tooLarge(`The workbook is larger than ${maxUnpackedBytes} bytes unpacked, the most that is read.`);
}

function tooLarge(detail: string): ServiceError {
  return new ServiceError('LIMIT_EXCEEDED', `${detail} Save the sheet as CSV.`);
}

function damaged(cause: unknown): ServiceError {
  const detail = `The workbook is damaged (${reasonOfDamage(cause)}); save it again.`;
  return new ServiceError('MALFORMED_REQUEST', detail, { cause });
}
