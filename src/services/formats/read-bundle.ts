/** The files of a format as other programs send them: tables of CSV in one zip file. */

import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../base/errors.js';
import { openRowSource } from '../importing/reading/open-row-source.js';
import { ZipParts } from '../importing/reading/zip-parts.js';
import type { FormatMapping } from './format-mapping.js';

/** The rows of each file by its name without `.csv`; cells by the name of their column. */
export type Bundle = ReadonlyMap<string, readonly BundleRow[]>;
export type BundleRow = Readonly<Record<string, string>>;

/** A file is joined with others, and so in memory: a district has fewer rows. */
const MOST_ROWS = 500_000;

/**
 * Reads the files that are there of these, in a folder of the zip file too; others are no concern of the
 * mapping.
 *
 * @throws MALFORMED_REQUEST where it is no zip file or a row is broken, LIMIT_EXCEEDED, NOT_FOUND for none of
 * the files, INVALID_VALUE for another version of the format
 */
export async function readBundle(
  zipFile: string,
  names: readonly string[],
  manifest?: FormatMapping['manifest'],
): Promise<Bundle> {
  const folder = await mkdtemp(path.join(tmpdir(), 'campus-bundle-'));
  try {
    await using parts = await ZipParts.open(zipFile);
    const inside = folderOf(parts.names(), [...names.map((name) => `${name}.csv`), manifest?.file ?? '']);
    const rowsOf = async (name: string) => {
      if (!parts.has(inside + name)) return undefined;
      const file = path.join(folder, name);
      await pipeline(Readable.from(parts.read(inside + name)), createWriteStream(file));
      return await readRowsOf(file, name);
    };
    if (manifest !== undefined) assertVersion(manifest, (await rowsOf(manifest.file)) ?? []);
    const bundle = new Map<string, readonly BundleRow[]>();
    for (const name of names) {
      const rows = await rowsOf(`${name}.csv`);
      if (rows !== undefined) bundle.set(name, rows);
    }
    if (bundle.size > 0) return bundle;
    throw new ServiceError('NOT_FOUND', `${zipFile} has none of the files ${names.join(', ')}.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The folder of the zip file that has the files; `''` for none. @throws INVALID_VALUE for several */
function folderOf(paths: readonly string[], files: readonly string[]): string {
  const found = paths.filter((one) => files.includes(path.posix.basename(one)));
  const folders = [...new Set(found.map((one) => one.slice(0, -path.posix.basename(one).length)))];
  if (folders.length <= 1) return folders[0] ?? '';
  const named = folders.slice(0, 5).map((one) => `"${one || '/'}"`);
  throw new ServiceError(
    'INVALID_VALUE',
    `The zip file has such files in several folders (${named.join(', ')}). Send the files of one folder.`,
  );
}

/** Other versions have other columns, so nobody would be found in them. */
function assertVersion(
  { properties }: NonNullable<FormatMapping['manifest']>,
  rows: readonly BundleRow[],
): void {
  for (const { propertyName = '', value = '' } of rows) {
    const expected = propertyName.startsWith('manifest.') ? undefined : properties[propertyName];
    if (expected === undefined || value === expected || value.startsWith(`${expected}.`)) continue;
    throw new ServiceError(
      'INVALID_VALUE',
      `The bundle has ${propertyName} ${value}, and ${expected} is read. Export it as version ${expected}.`,
    );
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
