/** Opens a file of any format that an import reads. */
import { stat } from 'node:fs/promises';
import { ServiceError, tryTo } from '../../../base/errors.js';
import { isExactNumber } from '../../../base/json/json.js';
import { findUnstorableText, replaceUnstorable } from '../../../base/model/unstorable-text.js';
import { startOfFile } from './encoding.js';
import {
  type RowSource,
  SOURCE_LIMITS,
  type SourceFile,
  type SourceFormat,
  type SourceOptions,
  type SourceRow,
} from './row-source.js';
import { unfoldDays } from './unfold-days.js';

/**
 * Opens a file for its rows. Options that the caller leaves out are detected and then returned by the
 * source: format, encoding, delimiter, sheet and header. Detecting the encoding reads a text once (about 2 s
 * for 2 GiB). Callers that open a file again should pass the encoding.
 *
 * Nothing stays open between two passes, and at most a few MiB of the file are in memory.
 *
 * @throws LIMIT_EXCEEDED if the file exceeds a limit, MALFORMED_REQUEST if it cannot be read, INVALID_VALUE
 * for an unknown option. Each names the right values.
 */
export async function openRowSource(file: SourceFile, options: SourceOptions = {}): Promise<RowSource> {
  const { size } = await stat(file.path);
  const { maxBytes } = SOURCE_LIMITS;
  if (size > maxBytes) {
    const detail = `The file has ${size} bytes; at most ${maxBytes} are read. Divide it.`;
    throw new ServiceError('LIMIT_EXCEEDED', detail);
  }
  const sniffed = await sniffFormat(file, options.format);
  const opened = await openFormat(file, options, sniffed);
  const source = options.unfold === undefined ? opened : unfoldDays(opened, options.unfold);
  return {
    ...source,
    warnings: [...sniffed.warnings, ...source.warnings],
    async *rows(signal, batchRows) {
      for await (const batch of source.rows(signal, batchRows)) yield batch.map(storableRow);
    },
  };
}

/** Each pass runs on a thread of its own, which loads only the modules for its format. */
async function openFormat(
  file: SourceFile,
  options: SourceOptions,
  { format, layout }: SniffedFormat,
): Promise<RowSource> {
  switch (format) {
    case 'csv':
    case 'tsv':
      return await (await import('./csv-source.js')).openCsvSource(file, { ...options, format });
    case 'json':
    case 'ndjson':
    case 'ejson':
      return await (await import('./document-source.js')).openJsonSource(file, {
        ...options,
        format,
        layout,
      });
    case 'bson':
      return (await import('./bson-source.js')).openBsonSource(file);
    case 'xlsx':
      return await (await import('./xlsx-source.js')).openXlsxSource(file, options);
  }
}

/**
 * Returns the row as it is, or with a fault if it contains such a text. The fault names its first column, and
 * the text has U+FFFD in the place of the character, for the list of refused rows.
 */
function storableRow(row: SourceRow): SourceRow {
  const column = Object.keys(row.values).find(
    (name) => hasUnstorable(name) || hasUnstorable(row.values[name]),
  );
  if (column === undefined && !hasUnstorable(row.source)) return row;
  const faultColumn = replaceUnstorable(column ?? '');
  return {
    ...row,
    ...(row.fault === undefined
      ? { fault: `${faultColumn}: ${FAULT}`, faultColumn }
      : { fault: replaceUnstorable(row.fault) }),
    values: replaced(row.values) as SourceRow['values'],
    ...(row.source && { source: row.source.map(replaceUnstorable) }),
  };
}

const FAULT =
  'a character that cannot be stored stands there (U+0000, or half of a surrogate pair); take it out';

/** Most texts have none of these characters, and this test takes a tenth of the time of the exact one. */
const SUSPECT = /[\0\uD800-\uDFFF]/;

function hasUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return SUSPECT.test(value) && findUnstorableText(value) !== undefined;
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return false;
  if (Array.isArray(value)) return value.some(hasUnstorable);
  return Object.entries(value).some(([name, member]) => hasUnstorable(name) || hasUnstorable(member));
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return replaceUnstorable(value);
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map(replaced);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [replaceUnstorable(name), replaced(member)]),
  );
}

/** The format of a file, and other facts that its first bytes reveal. */
interface SniffedFormat {
  readonly format: SourceFormat;
  /** The layout of JSON: one document on each line, or values in sequence or in a list. */
  readonly layout: 'lines' | 'values';
  readonly warnings: readonly string[];
}

const SAMPLE_BYTES = 64 * 1024;
const LARGEST_DOCUMENT = 17 * 1024 ** 2;

/**
 * Detects the format by the first bytes. The content decides; a name or content type that contradicts it
 * causes a warning. Only for tables of text the name decides whether tabs separate the cells.
 */
async function sniffFormat(file: SourceFile, named: SourceFormat | undefined): Promise<SniffedFormat> {
  const bytes = await startOfFile(file.path, SAMPLE_BYTES);
  const text = textOf(bytes);
  const hint = hintOf(file);
  const format = named ?? formatOf(bytes, text, hint);
  const isMistaken = named === undefined && hint !== undefined && !isLike(hint, format);
  return {
    format,
    layout: format === 'ndjson' || (format === 'ejson' && isOfLines(text)) ? 'lines' : 'values',
    warnings: isMistaken ? [`The file is called ${hint}, and is read as ${format}, which it holds.`] : [],
  };
}

function textOf(bytes: Buffer): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes).trimStart();
}

function formatOf(bytes: Buffer, text: string, hint: SourceFormat | undefined): SourceFormat {
  if (bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) return 'xlsx';
  assertNotParquet(bytes);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (isGzip || isBson(bytes)) return 'bson';
  assertText(bytes);
  if (!isJson(text)) return hint === 'tsv' ? 'tsv' : 'csv';
  if (EXTENDED.test(text)) return 'ejson';
  return hint === 'ndjson' || isOfLines(text) ? 'ndjson' : 'json';
}

/** @throws UNSUPPORTED_MEDIA_TYPE for content that is no table */
function assertText(bytes: Buffer): void {
  if (bytes.subarray(0, 4).equals(OLD_WORKBOOK)) {
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The file is an old workbook (XLS), or one with a password; save it as XLSX without.',
    );
  }
  // A text contains no zero bytes, except for one byte of two in UTF-16, and a few that a program left in
  // UTF-8.
  const zeros = bytes.filter((byte) => byte === 0).length;
  const isText = zeros === 0 || isUtf16(bytes) || (10 * zeros < bytes.length && isUtf8(bytes));
  if (bytes.subarray(0, 5).toString('latin1') !== '%PDF-' && isText) return;
  throw new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The file is neither a text nor a workbook; send CSV, TSV, XLSX, JSON, NDJSON or BSON.',
  );
}

/** The last character may be incomplete. */
function isUtf8(bytes: Buffer): boolean {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  return tryTo(() => utf8.decode(bytes, { stream: true })) !== undefined;
}

const OLD_WORKBOOK = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

function isUtf16(bytes: Buffer): boolean {
  const even = bytes.filter((byte, index) => byte === 0 && index % 2 === 0).length;
  const odd = bytes.filter((byte, index) => byte === 0 && index % 2 === 1).length;
  const mark = bytes.readUInt16LE();
  return mark === 0xfeff || mark === 0xfffe || even === 0 || odd === 0;
}

/** @throws UNSUPPORTED_MEDIA_TYPE for Parquet; the second magic marks a file with encrypted metadata */
function assertNotParquet(bytes: Buffer): void {
  const magic = bytes.toString('latin1', 0, 4);
  if (magic !== 'PAR1' && magic !== 'PARE') return;
  throw new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The file is Parquet, which is exported but not imported; convert it to CSV or NDJSON, e.g. by DuckDB.',
  );
}

/** Its length, the type of its first element, and the final zero if it was read. */
function isBson(bytes: Buffer): boolean {
  if (bytes.length < 5) return false;
  const length = bytes.readInt32LE();
  if (length < 5 || length > LARGEST_DOCUMENT) return false;
  if (length === 5) return bytes[4] === 0;
  const type = bytes[4] ?? 0;
  const isType = (type >= 0x01 && type <= 0x13) || type === 0x7f || type === 0xff;
  return isType && (length > bytes.length || bytes[length - 1] === 0);
}

/** An object, or a list of objects or without elements. A table may begin with a bracket too. */
function isJson(text: string): boolean {
  return /^(?:\[\s*(?:[\]{"[\d-]|$)|\{\s*(?:"|\}|$))/.test(text);
}

const EXTENDED_TYPES =
  'oid|date|number(?:Long|Int|Double|Decimal)|binary|timestamp|regularExpression|uuid|ref';
const EXTENDED = new RegExp(`\\{\\s*"\\$(?:${EXTENDED_TYPES})"\\s*:`);

/**
 * Whether there are several lines, of which the first is an object. A single line is read as a value, which
 * may be an object around the list of the rows.
 */
function isOfLines(text: string): boolean {
  const [first = '', ...others] = text.split('\n', 10);
  const isObject = first.startsWith('{') && tryTo(() => JSON.parse(first)) !== undefined;
  return isObject && others.some((line) => line.trim() !== '');
}

const FORMATS_BY_ENDING: Readonly<Record<string, SourceFormat>> = {
  csv: 'csv',
  txt: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  xlsx: 'xlsx',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  bson: 'bson',
};

function hintOf({ name = '' }: SourceFile): SourceFormat | undefined {
  const [, ending = ''] = /\.([a-z]+)(?:\.gz)?$/i.exec(name) ?? [];
  return FORMATS_BY_ENDING[ending.toLowerCase()];
}

const TABLES: ReadonlySet<SourceFormat> = new Set(['csv', 'tsv']);
const JSON_FORMATS: ReadonlySet<SourceFormat> = new Set(['json', 'ndjson', 'ejson']);

function isLike(one: SourceFormat, other: SourceFormat): boolean {
  return one === other || [TABLES, JSON_FORMATS].some((alike) => alike.has(one) && alike.has(other));
}
