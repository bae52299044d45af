/** The formats of exported records, by their name in an address, and as people call them. */
export const EXPORT_FORMATS = [
  ['csv', 'CSV'],
  ['xlsx', 'Excel (XLSX)'],
  ['ndjson', 'NDJSON'],
  ['parquet', 'Parquet'],
  ['json', 'JSON'],
] as const;
