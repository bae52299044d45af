/** Opens a file of any format that an import reads. */
import { stat } from 'node:fs/promises';
import { ServiceError } from '../../../base/errors.js';
import { isExactNumber } from '../../../base/json/json.js';
import { findUnstorableText, replaceUnstorable } from '../../../base/model/unstorable-text.js';
import { SOURCE_LIMITS, type SourceLimits } from './in-batches.js';
import type { RowSource, SourceFile, SourceOptions, SourceRow } from './row-source.js';
import { type SniffedFormat, sniffFormat } from './sniff-format.js';
import { unfoldDays } from './unfold-days.js';

/**
 * Opens a file for its rows. Options that the caller leaves out are detected and then returned by the
 * source: format, encoding, delimiter, sheet and header. Detecting the encoding reads a text once (about 2 s
 * for 2 GiB). Callers that open a file again should pass the encoding.
 *
 * Nothing stays open between two passes, and at most a few MiB of the file are in memory.
 *
 * @throws LIMIT_EXCEEDED if the file exceeds a limit, MALFORMED_REQUEST if it cannot be read, INVALID_VALUE
 * for an unknown option. Each says what would be right.
 */
export async function openRowSource(
  file: SourceFile,
  options: SourceOptions = {},
  limits: SourceLimits = SOURCE_LIMITS,
): Promise<RowSource> {
  const { size } = await stat(file.path);
  if (size > limits.maxBytes) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `The file has ${size} bytes; at most ${limits.maxBytes} are read. Divide it.`,
    );
  }
  const sniffed = await sniffFormat(file, options.format);
  const opened = await openFormat(file, options, sniffed, limits);
  const source = options.unfold === undefined ? opened : unfoldDays(opened, options.unfold);
  return {
    ...source,
    warnings: [...sniffed.warnings, ...source.warnings],
    async *rows(signal) {
      for await (const batch of source.rows(signal)) yield batch.map(storableRow);
    },
  };
}

/** Each pass runs on a thread of its own, which loads only the modules for its format. */
async function openFormat(
  file: SourceFile,
  options: SourceOptions,
  { format, layout }: SniffedFormat,
  limits: SourceLimits,
): Promise<RowSource> {
  switch (format) {
    case 'csv':
    case 'tsv': {
      const { openCsvSource } = await import('./csv-source.js');
      return await openCsvSource(file, { ...options, format }, limits);
    }
    case 'json':
    case 'ndjson':
    case 'ejson': {
      const { openJsonSource } = await import('./document-source.js');
      return await openJsonSource(file, { ...options, format, layout }, limits);
    }
    case 'bson': {
      const { openBsonSource } = await import('./bson-source.js');
      return openBsonSource(file, limits);
    }
    case 'xlsx': {
      const { openXlsxSource } = await import('./xlsx-source.js');
      return await openXlsxSource(file, options, limits);
    }
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
