/**
 * Rows of CSV and similar formats: cells are separated by a comma, semicolon, tab or bar (RFC 4180, parsed
 * leniently).
 */
import { CsvError, parse } from 'csv-parse';
import { invalidAt, ServiceError } from '../../../base/errors.js';
import { rearmFormula } from '../../../base/tables/csv-line.js';
import { type Encoding, findEncoding, readAsUtf8 } from './encoding.js';
import {
  inBatches,
  type RowSource,
  SOURCE_LIMITS,
  type SourceFile,
  type SourceOptions,
  type SourceRow,
} from './row-source.js';
import {
  assertNotWider,
  findHeader,
  headerRowsOf,
  isBlankRow,
  type TableHeader,
  type TableRow,
  toSourceRow,
} from './table-row.js';

/** The facts found about the text. */
interface TableText {
  readonly path: string;
  readonly encoding: Encoding;
  readonly delimiter: string;
  /** Whether its first line only names the delimiter, as Excel writes it: `sep=;`. */
  readonly namesDelimiter: boolean;
}

const SAMPLE_LENGTH = 64 * 1024;
const LINE_ENDS = ['\r\n', '\n', '\r'];

/**
 * Opens a table of text. Detects the encoding, delimiter and header unless the caller names them.
 *
 * @throws MALFORMED_REQUEST, LIMIT_EXCEEDED with the line, INVALID_VALUE for an unknown option
 */
export async function openCsvSource(
  file: SourceFile,
  options: SourceOptions & { readonly format: 'csv' | 'tsv' },
): Promise<RowSource> {
  const found = await findEncoding(file.path, options.encoding);
  const sample = await readSample(file.path, found.encoding);
  const named = /^sep=(.)\r?\n?/.exec(sample);
  const text: TableText = {
    path: file.path,
    encoding: found.encoding,
    delimiter:
      parseDelimiter(options.delimiter) ??
      named?.[1] ??
      (options.format === 'tsv' ? '\t' : findDelimiter(sample)),
    namesDelimiter: named !== null,
  };
  const header = findHeader(await headerRowsOf(readRows(text)), options.header);
  return {
    format: options.format,
    encoding: text.encoding,
    delimiter: text.delimiter,
    ...header,
    warnings: [...found.warnings, ...header.warnings],
    rows: (signal, batchRows) =>
      inBatches(readRows(text), (row) => toCheckedRow(row, header), signal, batchRows),
  };
}

function parseDelimiter(sent: string | undefined): string | undefined {
  if (sent === undefined) return undefined;
  if (sent.length === 1 && !/["\r\n]/.test(sent)) return sent;
  throw invalidAt(`A delimiter is one character, not ${JSON.stringify(sent.slice(0, 40))}.`, {
    detail: 'no delimiter',
    parameter: 'delimiter',
    expected: DELIMITERS.map((one) => JSON.stringify(one)).join(', '),
  });
}

async function readSample(path: string, encoding: Encoding): Promise<string> {
  const decoder = new TextDecoder();
  let sample = '';
  for await (const bytes of readAsUtf8(path, encoding)) {
    sample += decoder.decode(bytes, { stream: true });
    if (sample.length >= SAMPLE_LENGTH) break;
  }
  return sample.slice(0, SAMPLE_LENGTH);
}

/**
 * The row by column name. `undefined` for a row that is not below the header. Empty cells after the last
 * column are not reported, because spreadsheets write them.
 */
function toCheckedRow(row: QuotedRow, { header, columns }: TableHeader): SourceRow | undefined {
  const { number, cells, fault: ofQuotes } = row;
  if (header !== 'none' && number <= header) return undefined;
  if (ofQuotes !== undefined) return { ...toSourceRow(row, columns), fault: ofQuotes };
  const isLonger = cells.length > columns.length && !isBlankRow(cells.slice(columns.length));
  if (!isLonger && cells.length >= columns.length) return toSourceRow(row, columns);
  const hint = isLonger
    ? 'a text that holds the delimiter must stand in quotes'
    : 'a delimiter is missing, or a quote that was opened is not closed';
  const fault = `line ${number} has ${cells.length} cells, the header ${columns.length}; ${hint}`;
  return { ...toSourceRow(row, columns), fault };
}

/** A row, and what is wrong with its quotes. */
interface QuotedRow extends TableRow {
  readonly fault?: string;
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly raw: string;
}

/** The rows of the text that are not blank, in batches of one chunk of the file. */
async function* readRows(text: TableText): AsyncGenerator<readonly QuotedRow[]> {
  /** The line on which the next record begins. */
  let line = 1;
  const rowOf = (parsed: ParsedRow): QuotedRow[] => {
    const number = line;
    line += linesOf(parsed.raw);
    const isOfDelimiter = number === 1 && text.namesDelimiter;
    return isOfDelimiter || isBlankRow(parsed.record) ? [] : [toQuotedRow(parsed, number, text.delimiter)];
  };
  try {
    for await (const records of parseRecords(text)) yield records.flatMap(rowOf);
  } catch (cause) {
    throw toServiceError(cause, line);
  }
}

/** Numbers a record, and removes the quoting from its cells. */
function toQuotedRow({ record, raw }: ParsedRow, number: number, delimiter: string): QuotedRow {
  assertNotWider(record.length, number);
  assertCellsFit(record, number);
  const cells = record.map((cell) => (cell === '' ? null : cell));
  const row = { number, cells: raw.includes("'") ? cells.map((cell) => cell && rearmFormula(cell)) : cells };
  const fault = raw.includes('"') ? faultOfQuotes({ record, raw }, number, delimiter) : undefined;
  return fault === undefined ? row : { ...row, fault };
}

/**
 * The records that the parser makes of each chunk. The parser is written to and read from directly: a pipe
 * would drop the records before a fault, and thereby the line of the fault.
 */
async function* parseRecords({ path, encoding, delimiter }: TableText): AsyncGenerator<ParsedRow[]> {
  const parser = parse({
    delimiter,
    record_delimiter: LINE_ENDS,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: SOURCE_LIMITS.maxLineLength,
    raw: true,
  });
  let failure: Error | undefined;
  parser.on('error', (error) => {
    failure = error;
  });
  try {
    for await (const bytes of readAsUtf8(path, encoding)) {
      if (failure) throw failure;
      parser.write(bytes);
      const records: ParsedRow[] = [];
      for (let record = parser.read(); record !== null; record = parser.read()) records.push(record);
      yield records;
    }
    if (failure) throw failure;
    parser.end();
    for await (const record of parser as AsyncIterable<ParsedRow>) yield [record];
  } finally {
    parser.destroy();
  }
}

/**
 * A quote that is not closed swallows the following rows up to the next quote: text follows that quote, or
 * each line of the cell has as many delimiters as a row. `undefined` if the quotes of the row are right.
 */
function faultOfQuotes({ record, raw }: ParsedRow, first: number, delimiter: string): string | undefined {
  const at = strayQuote(raw, delimiter);
  const row = raw.replace(/(?<![\r\n])[\r\n]+$/, '');
  const last = first + linesOf(at < 0 ? row : raw.slice(0, at));
  if (at >= 0) {
    const rows = last > first ? `, so lines ${first} to ${last} are read as one row` : '';
    return `line ${last} has text behind a closing quote${rows}; ${QUOTES_ADVICE}`;
  }
  if (last === first || record.length < 3) return undefined;
  const isRow = (line: string) => line.split(delimiter).length === record.length;
  if (!row.split(/\r\n|\n|\r/).every(isRow)) return undefined;
  return (
    `a quote on line ${first} is closed on line ${last}, ` +
    `and each line between has the cells of a row; ${QUOTES_ADVICE}`
  );
}

const QUOTES_ADVICE = 'close each quote that is opened, and write a quote within quotes twice';

/** The place of the first quote that closes a cell and has text behind it; -1 if there is none. */
function strayQuote(raw: string, delimiter: string): number {
  for (let at = 0; at < raw.length; ) {
    if (raw[at] !== '"') {
      const next = raw.indexOf(delimiter, at);
      if (next < 0) return -1;
      at = next + 1;
      continue;
    }
    let end = raw.indexOf('"', at + 1);
    while (end >= 0 && raw[end + 1] === '"') end = raw.indexOf('"', end + 2);
    const behind = raw[end + 1];
    if (end < 0 || behind === undefined || behind === '\r' || behind === '\n') return -1;
    if (behind !== delimiter) return end;
    at = end + 2;
  }
  return -1;
}

/** The number of lines of a record: one, plus each line end within its quotes. */
function linesOf(raw: string): number {
  let lines = 0;
  for (let at = raw.indexOf('\n'); at >= 0; at = raw.indexOf('\n', at + 1)) lines += 1;
  for (let at = raw.indexOf('\r'); at >= 0; at = raw.indexOf('\r', at + 1)) {
    if (raw[at + 1] !== '\n') lines += 1;
  }
  return lines;
}

function assertCellsFit(cells: readonly string[], line: number): void {
  const { maxCellLength } = SOURCE_LIMITS;
  const large = cells.findIndex((cell) => cell.length > maxCellLength);
  if (large < 0) return;
  throw new ServiceError(
    'LIMIT_EXCEEDED',
    `Cell ${large + 1} of line ${line} has ${cells[large]?.length} characters; at most ${maxCellLength} ` +
      'are read. Check that each quote that is opened is closed.',
  );
}

function toServiceError(cause: unknown, line: number): unknown {
  const { maxLineLength } = SOURCE_LIMITS;
  if (!(cause instanceof CsvError)) return cause;
  if (cause.code === 'CSV_MAX_RECORD_SIZE') {
    return new ServiceError(
      'LIMIT_EXCEEDED',
      `What begins on line ${line} is longer than ${maxLineLength} characters, the most of a line. ` +
        'Check that each quote that is opened is closed.',
      { cause },
    );
  }
  if (cause.code === 'CSV_QUOTE_NOT_CLOSED') {
    return new ServiceError(
      'MALFORMED_REQUEST',
      `A quote is opened in what begins on line ${line}, and not closed until the end of the file. ` +
        'Close it, or write a quote within quotes twice.',
      { cause },
    );
  }
  return new ServiceError('MALFORMED_REQUEST', `Line ${line} cannot be read as CSV: ${cause.message}.`, {
    cause,
  });
}

const DELIMITERS = [',', ';', '\t', '|'];

/**
 * The delimiter for which most of the first lines have the same number of cells, more than one. If this
 * holds for several delimiters, the one with more cells. A comma if it holds for none.
 */
function findDelimiter(sample: string): string {
  // Delimiters and line ends within quotes do not count. The sample may end within the last line.
  const lines = sample.replaceAll(/"[^"]*(?:"|$)/g, '""').split(/[\r\n]/);
  const whole = lines.slice(0, -1).filter((line) => line !== '');
  const [best] = DELIMITERS.map((delimiter) => ({
    delimiter,
    ...regularity((whole.length > 0 ? whole : lines).map((line) => line.split(delimiter).length)),
  }))
    .filter(({ cells }) => cells > 1)
    .sort((one, other) => other.share - one.share || other.cells - one.cells);
  return best?.delimiter ?? ',';
}

/** The number of cells that most lines have, if it is more than one, and the share of those lines. */
function regularity(cellsOfLines: readonly number[]): { cells: number; share: number } {
  const counts = new Map<number, number>();
  for (const cells of cellsOfLines) if (cells > 1) counts.set(cells, (counts.get(cells) ?? 0) + 1);
  const [[cells, lines] = [0, 0]] = [...counts].sort(([, one], [, other]) => other - one);
  return { cells, share: lines / Math.max(1, cellsOfLines.length) };
}
