/** The files of a format as other programs send them: tables of CSV in one zip file. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../errors.js';
import { openRowSource } from '../importing/reading/open-row-source.js';
import { ZipParts } from '../importing/reading/zip-parts.js';

/** The rows of each file by its name without `.csv`; cells by the name of their column. */
export type Bundle = ReadonlyMap<string, readonly BundleRow[]>;
export type BundleRow = Readonly<Record<string, string>>;

/** A file is joined with others, and so in memory: a district has fewer rows. */
const MOST_ROWS = 500_000;

/**
 * Reads the files that are there of these; others are no concern of the mapping.
 *
 * @throws MALFORMED_REQUEST where it is no zip file or a row is broken, LIMIT_EXCEEDED, NOT_FOUND for none of
 * the files
 */
export async function readBundle(zipFile: string, names: readonly string[]): Promise<Bundle> {
  const folder = await mkdtemp(path.join(tmpdir(), 'campus-bundle-'));
  try {
    await using parts = await ZipParts.open(zipFile);
    const bundle = new Map<string, readonly BundleRow[]>();
    for (const name of names) {
      if (!parts.has(`${name}.csv`)) continue;
      const file = path.join(folder, `${name}.csv`);
      await pipeline(Readable.from(parts.read(`${name}.csv`)), createWriteStream(file));
      bundle.set(name, await readRowsOf(file, `${name}.csv`));
    }
    if (bundle.size > 0) return bundle;
    throw new ServiceError('NOT_FOUND', `${zipFile} has none of the files ${names.join(', ')}.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readRowsOf(file: string, name: string): Promise<readonly BundleRow[]> {
  const source = await openRowSource({ path: file, name }, { format: 'csv', header: 1, delimiter: ',' });
  const rows: BundleRow[] = [];
  for await (const batch of source.rows()) {
    for (const { number, values, fault } of batch) {
      if (fault !== undefined)
        throw new ServiceError('MALFORMED_REQUEST', `${name}, row ${number}: ${fault}`);
      const cells = Object.entries(values).map(([column, cell]) => [column, toText(cell)] as const);
      rows.push(Object.fromEntries(cells));
    }
    if (rows.length > MOST_ROWS) {
      throw new ServiceError('LIMIT_EXCEEDED', `${name} has more than ${MOST_ROWS} rows.`);
    }
  }
  return rows;
}

function toText(cell: unknown): string {
  return typeof cell === 'string' ? cell.trim() : '';
}
