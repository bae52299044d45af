/** The formats of exported records, by their names in an address, with their titles. */
export const EXPORT_FORMATS = [
  ['csv', 'CSV'],
  ['xlsx', 'Excel (XLSX)'],
  ['ndjson', 'NDJSON'],
  ['parquet', 'Parquet'],
  ['json', 'JSON'],
] as const;
