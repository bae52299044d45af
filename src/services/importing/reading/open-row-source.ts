/** Opens a file of any format that an import reads. */
import { stat } from 'node:fs/promises';
import { ServiceError } from '../../../base/errors.js';
import type { RowSource, SourceFile, SourceOptions } from './row-source.js';
import { type SniffedFormat, sniffFormat } from './sniff-format.js';
import { SOURCE_LIMITS, type SourceLimits } from './source-limits.js';
import { storableRow } from './storable-row.js';
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
  { format, layout, packing }: SniffedFormat,
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
      const { openJsonSource } = await import('./json-source.js');
      return await openJsonSource(file, { ...options, format, layout }, limits);
    }
    case 'bson': {
      const { openBsonSource } = await import('./bson-source.js');
      return openBsonSource(file, packing, limits);
    }
    case 'xlsx': {
      const { openXlsxSource } = await import('./xlsx-source.js');
      return await openXlsxSource(file, options, limits);
    }
  }
}
