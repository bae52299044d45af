/** A new name for a domain, put into the rows of a table as COPY prints them. */
import { KEPT_TABLES } from './kept-tables.js';
import type { Manifest, TableContent } from './manifest.js';

/** The name of each domain after the restore, by the one before. */
export type DomainNames = ReadonlyMap<string, string>;

/** The domain at the head of a backup gets the name, its branches keep theirs. */
export function domainNames({ domains }: Manifest, into: string | undefined): DomainNames {
  return new Map(domains.map(({ id }, index) => [id, index === 0 ? (into ?? id) : id]));
}

/** COPY's word for a value that is not there. */
const NULL = '\\N';

/**
 * The rows of a table with the names of domains put in. A domain whose parent is not in the backup has none
 * any more: it is the top one where it comes to be.
 */
export function renameDomains(
  table: TableContent,
  names: DomainNames,
  rows: AsyncIterable<Buffer>,
): AsyncIterable<Buffer> {
  const columns = table.columns.flatMap((column, index) => (namesDomain(table, column) ? [index] : []));
  const isSame = [...names].every(([before, after]) => before === after);
  if (columns.length === 0 || (isSame && table.name !== 'domains')) return rows;
  return renamed(rows, columns, (id) => names.get(id) ?? NULL);
}

function namesDomain({ name }: TableContent, column: string): boolean {
  if (name === 'domains' && column === 'parent_id') return true;
  const domain = KEPT_TABLES.find((kept) => kept.name === name)?.domain;
  return typeof domain === 'object' && 'column' in domain && domain.column === column;
}

/**
 * The names of domains have nothing that COPY would escape. Bytes go through as Latin-1, which keeps each.
 */
async function* renamed(
  chunks: AsyncIterable<Buffer>,
  columns: readonly number[],
  nameOf: (id: string) => string,
): AsyncGenerator<Buffer, void> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    const text = lines.map((line) => `${renameLine(line, columns, nameOf)}\n`).join('');
    yield Buffer.from(text, 'latin1');
  }
}

function renameLine(line: string, columns: readonly number[], nameOf: (id: string) => string): string {
  const values = line.split('\t');
  for (const column of columns) {
    const value = values[column];
    if (value !== undefined && value !== NULL) values[column] = nameOf(value);
  }
  return values.join('\t');
}
