/** The formats of answers with records and reports, and their names. */

export type Format = 'json' | 'ndjson' | 'csv' | 'xlsx' | 'parquet';

/** In order of preference. */
export const FORMATS: readonly [Format, ...Format[]] = ['json', 'ndjson', 'csv', 'xlsx', 'parquet'];

/** The formats that have columns. */
export type TableFormat = Exclude<Format, 'json' | 'ndjson'>;

/** The media types of each format; answers use the first one. */
export const MEDIA_TYPES: Readonly<Record<Format, readonly [string, ...string[]]>> = {
  json: ['application/json', 'application/problem+json'],
  ndjson: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
  csv: ['text/csv'],
  xlsx: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  parquet: ['application/vnd.apache.parquet', 'application/x-parquet'],
};

export function contentTypeOf(format: Format): string {
  const [type] = MEDIA_TYPES[format];
  return format === 'xlsx' || format === 'parquet' ? type : `${type}; charset=utf-8`;
}

/** Whether the answer is a file to keep rather than a text to show. */
export function isTableFormat(format: Format): format is TableFormat {
  return format !== 'json' && format !== 'ndjson';
}
