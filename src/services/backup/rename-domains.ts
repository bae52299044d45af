/** Renames a domain within the rows of a table as COPY prints them. */
import { KEPT_TABLES } from './kept-tables.js';
import type { Manifest, TableContent } from './manifest.js';

/** Maps the name of each domain in the backup to its name after the restore. */
export type DomainNames = ReadonlyMap<string, string>;

/** The top domain of the backup gets the new name; its branches keep theirs. */
export function domainNames({ domains }: Manifest, into: string | undefined): DomainNames {
  return new Map(domains.map(({ id }, index) => [id, index === 0 ? (into ?? id) : id]));
}

/** How COPY prints null. */
const NULL = '\\N';

/**
 * Replaces the names of domains in the rows of a table. A domain whose parent is not in the backup loses its
 * parent: it becomes a top domain.
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
 * Names of domains contain nothing that COPY would escape. Bytes are read as Latin-1, which preserves each
 * one.
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
