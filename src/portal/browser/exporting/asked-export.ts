/** What is to be exported, and how a program asks for the same. */

export interface AskedExport {
  readonly collections: readonly string[];
  /** Of one collection alone; '' for all its records. */
  readonly oquery: string;
  /** The same, as JSON: both hold. */
  readonly where: string;
  /** An instant: only what changed then or later, and what was removed; '' for everything. */
  readonly since: string;
  readonly format: string;
}

/** The path of the file of one collection. */
export function exportAddress({ oquery, where, since, format }: AskedExport, collection: string): string {
  const parameters = new URLSearchParams({
    format,
    ...(oquery !== '' && { oquery, ci: 'true' }),
    ...(where !== '' && { where }),
    ...(since !== '' && { since }),
  });
  return `/o/recs/${encodeURIComponent(collection)}?${parameters}`;
}

/** For a shell, a line a file, with a key that stands in `CAMPUS_KEY`. */
export function exportByCurl(asked: AskedExport, origin: string): string {
  const lines = asked.collections.map(
    (collection) =>
      'curl -fsS -H "Authorization: Bearer $CAMPUS_KEY" \\\n  ' +
      `'${origin}${exportAddress(asked, collection)}' -o ${collection}.${asked.format}`,
  );
  return lines.join('\n');
}

/** On the machine of the gateway; `undefined` for what the command does not know, filters and JSON. */
export function exportByCommand(asked: AskedExport): string | undefined {
  const { collections, oquery, where, since, format } = asked;
  if (oquery !== '' || where !== '' || format === 'json') return undefined;
  const options = [`--format ${format}`, ...(since === '' ? [] : [`--since ${since}`])];
  return ['campus export', ...collections, ...options].join(' ');
}
