/** Opens a file of any format that an import reads. */
import { stat } from 'node:fs/promises';
import { ServiceError } from '../../errors.js';
import type { RowSource, SourceFile, SourceOptions } from './row-source.js';
import { type SniffedFormat, sniffFormat } from './sniff-format.js';
import { SOURCE_LIMITS, type SourceLimits } from './source-limits.js';
import { storableRow } from './storable-row.js';

/**
 * Opens a file for its rows. What the options leave out is found in the file: its format, encoding,
 * delimiter, sheet and header, which the source then tells. Reads a text once to find its encoding (some 2
 * s for 2 GiB); say the encoding where the file was opened before.
 *
 * Nothing is held open between two passes, and at most a few MiB of the file are in memory.
 *
 * @throws LIMIT_EXCEEDED where the file is over a limit, MALFORMED_REQUEST where it cannot be read,
 * INVALID_VALUE where an option means nothing; each says what would be right.
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
  const source = await openFormat(file, options, sniffed, limits);
  return {
    ...source,
    warnings: [...sniffed.warnings, ...source.warnings],
    async *rows(signal) {
      for await (const batch of source.rows(signal)) yield batch.map(storableRow);
    },
  };
}

/** Every pass is a thread of its own, which loads no more than its file needs. */
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
    case 'parquet': {
      const { openParquetSource } = await import('./parquet-source.js');
      return await openParquetSource(file, limits);
    }
    case 'xlsx': {
      const { openXlsxSource } = await import('./xlsx-source.js');
      return await openXlsxSource(file, options, limits);
    }
  }
}
