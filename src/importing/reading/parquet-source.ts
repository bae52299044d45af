/** Rows of an Apache Parquet file. At any time one page of each column is in memory. */
import { type FileHandle, open } from 'node:fs/promises';
import {
  type DecodedArray,
  type FileMetaData,
  parquetMetadata,
  parquetSchema,
  type RowGroup,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { assembleNested } from 'hyparquet/src/assemble.js';
import { getTreePath, isFlatColumn } from 'hyparquet/src/schema.js';
import { ServiceError } from '../../errors.js';
import type { JsonValue } from '../../json.js';
import { inBatches } from './in-batches.js';
import { mayExceedBudget, PageBudget } from './page-budget.js';
import { type ColumnPlace, parquetPages, takeFirstPages } from './parquet-pages.js';
import { asStored, PARQUET_PARSERS, parquetValues, type ValueMaker } from './parquet-values.js';
import type { RowSource, SourceFile } from './row-source.js';
import { type SourceLimits, tooManyRows } from './source-limits.js';
import { tooManyColumns, toSourceRow } from './table-row.js';

const MAGIC = 'PAR1';
const MAGIC_OF_ENCRYPTED = 'PARE';
/** The file ends with the length of its metadata and the magic bytes. */
const END_BYTES = 8;
/** The metadata is parsed at once and needs about ten times its size. */
const MOST_FOOTER_BYTES = 8 * 1024 ** 2;
const DEEPEST = 50;
/** The number of cells made at once. */
const STEP_CELLS = 20_000;
const STEP_ROWS = 1_000;

/** The metadata of a file, checked as far as possible without reading rows. */
interface ParquetFile {
  readonly bytes: number;
  readonly metadata: FileMetaData;
  readonly columns: readonly ParquetColumn[];
}

interface ParquetColumn {
  readonly node: SchemaTree;
  readonly make: ValueMaker;
  /** The leaves of the file that belong to the column. */
  readonly leaves: readonly { readonly index: number; readonly path: readonly SchemaTree[] }[];
}

/**
 * Opens a Parquet file. Decimals and whole numbers keep their digits. Instants are UTC texts; instants
 * without a time zone are texts without one. Lists and objects keep their nesting. The number of a row is
 * its place in the file.
 *
 * @throws MALFORMED_REQUEST if the file is damaged or contradicts its metadata, LIMIT_EXCEEDED
 */
export async function openParquetSource(file: SourceFile, limits: SourceLimits): Promise<RowSource> {
  const opened = await withHandle(file.path, (handle) => describe(handle, limits));
  const columns = opened.columns.map(({ node }) => node.element.name);
  return {
    format: 'parquet',
    header: 'none',
    columns,
    warnings: [],
    rows: (signal) =>
      inBatches(readRows(file.path, opened, limits), (row) => toSourceRow(row, columns), {
        ...limits,
        signal,
      }),
  };
}

async function withHandle<T>(path: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path);
  try {
    return await use(handle);
  } catch (cause) {
    throw toFault(cause);
  } finally {
    await handle.close();
  }
}

/** Converts errors of the library, which are of any kind for a damaged file. */
function toFault(cause: unknown): unknown {
  if (cause instanceof ServiceError || (cause instanceof Error && 'syscall' in cause)) return cause;
  return damaged(cause instanceof Error ? cause.message : String(cause), cause);
}

function damaged(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('MALFORMED_REQUEST', `The Parquet file is damaged (${reason}); write it again.`, {
    cause,
  });
}

async function describe(handle: FileHandle, limits: SourceLimits): Promise<ParquetFile> {
  const { size: bytes } = await handle.stat();
  const metadata = parquetMetadata(await readFooter(handle, bytes), { geoparquet: false });
  const asMeant = metadata.schema;
  assertSchema(asMeant, limits);
  const stored = { ...metadata, schema: asMeant.map(asStored) };
  const meant = new Map(stored.schema.map((element, index) => [element, asMeant[index] ?? element]));
  const root = parquetSchema(stored);
  const leaves = leavesOf(root);
  const columns = root.children.map((node) => ({
    node,
    make: parquetValues(node, meant),
    leaves: leaves.flatMap((leaf, index) =>
      leaf.path[0] === node.element.name ? [{ index, path: getTreePath(root, leaf.path) }] : [],
    ),
  }));
  assertGroups(metadata, leaves, limits);
  const large = stored.row_groups.find(mayExceedBudget);
  if (large !== undefined) await assertGroupFits(large, columns, { handle, fileBytes: bytes });
  return { bytes, metadata: stored, columns };
}

/**
 * Rejects a row group that cannot be read within the budget, before any of it is in memory.
 *
 * @throws LIMIT_EXCEEDED, MALFORMED_REQUEST
 */
async function assertGroupFits(
  group: RowGroup,
  columns: readonly ParquetColumn[],
  file: Pick<ColumnPlace, 'handle' | 'fileBytes'>,
): Promise<void> {
  const budget = new PageBudget();
  const rows = Math.min(stepOf(columns), Number(group.num_rows));
  for (const { index, path } of columns.flatMap(({ leaves }) => leaves)) {
    const metadata = group.columns[index]?.meta_data;
    if (metadata === undefined) throw damaged('a column has no description');
    await takeFirstPages({ ...file, budget, metadata, schemaPath: path }, rows);
  }
}

/** The number of rows made at once. */
function stepOf(columns: readonly ParquetColumn[]): number {
  return Math.max(1, Math.min(STEP_ROWS, Math.floor(STEP_CELLS / columns.length)));
}

async function readFooter(handle: FileHandle, size: number): Promise<Uint8Array> {
  const end = await readAt(handle, size - END_BYTES, END_BYTES);
  const magic = end.toString('latin1', 4);
  if (magic === MAGIC_OF_ENCRYPTED) throw encrypted();
  if (magic !== MAGIC) throw damaged('its end is missing');
  const length = end.readUInt32LE();
  if (length > size - END_BYTES - MAGIC.length) throw damaged('what describes it is longer than the file');
  if (length > MOST_FOOTER_BYTES) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `What describes the Parquet file has ${length} bytes; at most ${MOST_FOOTER_BYTES} are read. ` +
        'Write it with fewer columns or larger groups of rows.',
    );
  }
  return await readAt(handle, size - END_BYTES - length, length + END_BYTES);
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  if (at < 0) throw damaged('it is too short');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  if (bytesRead !== length) throw damaged('it ends early');
  return buffer;
}

function encrypted(): ServiceError {
  return new ServiceError('MALFORMED_REQUEST', 'The Parquet file is encrypted; write it without a key.');
}

/** The elements are listed in depth-first order. Each declares the number of its members. */
function assertSchema(schema: readonly SchemaElement[], { maxColumns }: SourceLimits): void {
  if (schema.length > maxColumns * 4) throw tooManyColumns(1, schema.length, maxColumns);
  const open: number[] = [1];
  for (const { num_children: children = 0 } of schema) {
    while (open.at(-1) === 0) open.pop();
    const last = open.length - 1;
    if (last < 0 || children < 0) throw damaged('its columns are other ones than it says');
    if (open.length > DEEPEST) throw damaged(`its columns are nested deeper than ${DEEPEST} levels`);
    open[last] = (open[last] ?? 0) - 1;
    if (children > 0) open.push(children);
  }
  if (open.some((left) => left !== 0)) throw damaged('its columns are other ones than it says');
  const [root] = schema;
  const columns = root?.num_children ?? 0;
  if (columns === 0) throw damaged('it has no columns');
  if (columns > maxColumns) throw tooManyColumns(1, columns, maxColumns);
}

function leavesOf(node: SchemaTree): SchemaTree[] {
  const names = node.children.map(({ element }) => element.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw damaged(`it has the column ${JSON.stringify(twice)} twice`);
  return node.children.flatMap((child) => (child.children.length === 0 ? [child] : leavesOf(child)));
}

/** @throws MALFORMED_REQUEST if the groups do not match the columns, or do not add up to the rows */
function assertGroups(
  { row_groups: groups, num_rows: rows }: FileMetaData,
  leaves: readonly SchemaTree[],
  { maxRows }: SourceLimits,
): void {
  let sum = 0n;
  for (const { num_rows: ofGroup, columns } of groups) {
    if (ofGroup < 0n) throw damaged('a group has fewer than no rows');
    sum += ofGroup;
    for (const [index, { meta_data: metadata, file_path, crypto_metadata }] of columns.entries()) {
      if (crypto_metadata !== undefined) throw encrypted();
      if (file_path) throw damaged('its columns are in other files');
      if (metadata?.path_in_schema.join('\0') !== leaves[index]?.path.join('\0')) {
        throw damaged('a group has other columns than the file');
      }
      if (metadata?.type !== leaves[index]?.element.type) throw damaged('a column has two types');
    }
    if (columns.length !== leaves.length) throw damaged('a group has other columns than the file');
  }
  if (sum !== rows) throw damaged(`it says ${rows} rows, and its groups ${sum}`);
  if (rows > BigInt(maxRows)) throw tooManyRows(maxRows + 1, maxRows);
}

interface ParquetRow {
  readonly number: number;
  readonly cells: readonly JsonValue[];
}

async function* readRows(
  path: string,
  { bytes, metadata, columns }: ParquetFile,
  limits: SourceLimits,
): AsyncGenerator<readonly ParquetRow[]> {
  const handle = await open(path);
  try {
    let number = 0;
    for (const group of metadata.row_groups) {
      const place = { handle, fileBytes: bytes, budget: new PageBudget() };
      const readers = columns.map((column) => new ColumnReader(column, group, place));
      const rows = Number(group.num_rows);
      const step = stepOf(columns);
      for (let first = 0; first < rows; first += step) {
        const count = Math.min(step, rows - first);
        const taken: JsonValue[][] = [];
        for (const reader of readers) taken.push(await reader.take(count));
        const made = Array.from({ length: count }, (_, index) => ({
          number: number + index + 1,
          cells: taken.map((values) => values[index] ?? null),
        }));
        for (const row of made) assertCellsFit(row, limits);
        yield made;
        number += count;
      }
      for (const reader of readers) await reader.end();
    }
  } catch (cause) {
    throw toFault(cause);
  } finally {
    await handle.close();
  }
}

function assertCellsFit({ number, cells }: ParquetRow, { maxCellLength }: SourceLimits): void {
  const large = cells.findIndex((cell) => typeof cell === 'string' && cell.length > maxCellLength);
  if (large < 0) return;
  throw new ServiceError(
    'LIMIT_EXCEEDED',
    `Cell ${large + 1} of row ${number} has more than ${maxCellLength} characters, the most that are read. ` +
      'Shorten it.',
  );
}

/** The values of one column within a row group, in the order of the rows. */
class ColumnReader {
  readonly #column: ParquetColumn;
  readonly #pages: AsyncGenerator<DecodedArray>;
  #values: DecodedArray = [];
  #at = 0;

  constructor(
    column: ParquetColumn,
    group: RowGroup,
    place: Pick<ColumnPlace, 'handle' | 'fileBytes' | 'budget'>,
  ) {
    this.#column = column;
    this.#pages = valuesOf(column, group, place);
  }

  async take(count: number): Promise<JsonValue[]> {
    const taken: JsonValue[] = [];
    while (taken.length < count) {
      if (this.#at === this.#values.length) {
        const { value, done } = await this.#pages.next();
        if (done) throw damaged(`column ${this.#column.node.element.name} has fewer values than rows`);
        this.#values = value;
        this.#at = 0;
      } else {
        taken.push(this.#column.make(this.#values[this.#at]));
        this.#at += 1;
      }
    }
    return taken;
  }

  async end(): Promise<void> {
    const { done } = await this.#pages.next();
    if (this.#at < this.#values.length || !done) {
      throw damaged(`column ${this.#column.node.element.name} has more values than rows`);
    }
  }
}

/**
 * Reads a plain column page by page. A nested column is assembled from its leaves and needs the whole group.
 */
async function* valuesOf(
  { node, leaves }: ParquetColumn,
  group: RowGroup,
  place: Pick<ColumnPlace, 'handle' | 'fileBytes' | 'budget'>,
): AsyncGenerator<DecodedArray> {
  const valuesByPath = new Map<string, DecodedArray>();
  for (const { index, path } of leaves) {
    const metadata = group.columns[index]?.meta_data;
    if (metadata === undefined) throw damaged('a column has no description');
    const pages = parquetPages({ ...place, metadata, schemaPath: path });
    if (isFlatColumn([...path])) {
      for await (const { values, size } of pages) {
        // Missing values are null. An index that is not in the dictionary yields no value.
        if (Array.isArray(values) && values.includes(undefined)) {
          throw damaged(`column ${node.element.name} names values that its dictionary does not have`);
        }
        yield values;
        place.budget.give(size);
      }
      return;
    }
    const whole: unknown[] = [];
    const parts: DecodedArray[] = [];
    for await (const { values, goesOn } of pages) if (!goesOn) parts.push(values);
    for (const part of parts) for (const value of part) whole.push(value);
    valuesByPath.set(metadata.path_in_schema.join('.'), whole);
  }
  assembleNested(valuesByPath, node, PARQUET_PARSERS);
  yield valuesByPath.get(node.element.name) ?? [];
}
