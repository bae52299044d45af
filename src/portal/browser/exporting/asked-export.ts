/** A requested export, and the same request for programs. */

export interface AskedExport {
  readonly collections: readonly string[];
  /** A filter of a single collection; '' for all its records. */
  readonly oquery: string;
  /** A filter as JSON, in addition to `oquery`. */
  readonly where: string;
  /** An instant: exports only records changed or removed since then; '' for all. */
  readonly since: string;
  readonly format: string;
}

/** The path of the file of one collection. */
export function exportAddress({ oquery, where, since, format }: AskedExport, collection: string): string {
  const parameters = new URLSearchParams({
    format,
    // For spreadsheet programs, and so with the days and times of the school.
    ...(format === 'csv' && { bom: 'true' }),
    ...(oquery !== '' && { oquery, ci: 'true' }),
    ...(where !== '' && { where }),
    ...(since !== '' && { since }),
  });
  return `/o/recs/${encodeURIComponent(collection)}?${parameters}`;
}

/** Shell commands, one for each file, with the key in `CAMPUS_KEY`. */
export function exportByCurl(asked: AskedExport, origin: string): string {
  const lines = asked.collections.map(
    (collection) =>
      'curl -fsS -H "Authorization: Bearer $CAMPUS_KEY" \\\n  ' +
      `'${origin}${exportAddress(asked, collection)}' -o ${collection}.${asked.format}`,
  );
  return lines.join('\n');
}

/**
 * The command on the machine of the gateway. `undefined` for filters and JSON, which the command does not
 * support.
 */
export function exportByCommand(asked: AskedExport): string | undefined {
  const { collections, oquery, where, since, format } = asked;
  if (oquery !== '' || where !== '' || format === 'json') return undefined;
  const options = [`--format ${format}`, ...(since === '' ? [] : [`--since ${since}`])];
  return ['campus export', ...collections, ...options].join(' ');
}
