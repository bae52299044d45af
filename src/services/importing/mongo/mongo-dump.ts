/** Opens dumps and exports of MongoDB, in any layout, as a list of collections. */

import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { ServiceError, tryTo } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, parsePlainJson } from '../../../base/json/json.js';
import { readUnpacked } from '../reading/bson-source.js';

/** A collection of a dump. */
export interface DumpedCollection {
  /** `undefined` if the file does not name it. */
  readonly database: string | undefined;
  readonly name: string;
  /** The file with its documents: BSON (also gzipped), JSON, NDJSON, extended JSON. */
  readonly file: string;
}

/** The contents of a dump. */
export interface MongoDump {
  readonly collections: readonly DumpedCollection[];
  /** The parts of the dump that are not read, and why. */
  readonly warnings: readonly string[];
}

const DOCUMENTS = /\.(bson|json|ndjson|jsonl)(?:\.gz)?$/;
const METADATA = /\.metadata\.json(?:\.gz)?$/;

/**
 * Opens a dump folder, a folder of one database, or files of `mongodump` and `mongoexport`. Collections of
 * the server itself (`system.…`, `admin`, `config`, `local`) are left out with a warning.
 *
 * @throws NOT_FOUND for a path that does not exist, MALFORMED_REQUEST for a file that cannot be read
 */
export async function openMongoDump(paths: readonly string[]): Promise<MongoDump> {
  const found: DumpedCollection[] = [];
  const warnings: string[] = [];
  for (const one of paths) {
    if (await isFolderAt(one)) found.push(...(await listFolder(one, warnings)));
    else if (await isArchive(one)) {
      const advice = `Dump into a folder: mongodump --out=<folder>, then import-mongo <folder>.`;
      throw new ServiceError('MALFORMED_REQUEST', `${one} is an archive, which is not read. ${advice}`);
    } else found.push(await listFile(one, undefined));
  }
  const collections = found.filter((collection) => isOfUsers(collection, warnings));
  if (collections.length > 0) return { collections, warnings };
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'There are no collections here; name a folder of mongodump, or files of mongoexport.',
  );
}

const ARCHIVE = Buffer.from([0x6d, 0xe2, 0x99, 0x81]);

/** Whether a file begins as `mongodump --archive` does, unpacked where it is gzipped. */
async function isArchive(file: string): Promise<boolean> {
  for await (const chunk of readUnpacked(file)) return chunk.subarray(0, ARCHIVE.length).equals(ARCHIVE);
  return false;
}

/** @throws NOT_FOUND */
async function isFolderAt(file: string): Promise<boolean> {
  const found = await stat(file).catch((cause: unknown) => {
    throw new ServiceError('NOT_FOUND', `${file} cannot be read.`, { cause });
  });
  return found.isDirectory();
}

/** A folder of a database, or one that has such folders. */
async function listFolder(
  folder: string,
  warnings: string[],
  database?: string,
): Promise<DumpedCollection[]> {
  const found: DumpedCollection[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const here = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (database === undefined) found.push(...(await listFolder(here, warnings, entry.name)));
      else warnings.push(`${here} is not read: a folder within that of a database.`);
    } else if (METADATA.test(entry.name))
      await noteWithoutDocuments(
        here,
        entries.map(({ name }) => name),
        warnings,
      );
    else if (/^prelude\.json(?:\.gz)?$/.test(entry.name)) continue;
    else if (/^oplog\.bson/.test(entry.name))
      warnings.push(`${here} is not read: it holds changes, not documents.`);
    else if (DOCUMENTS.test(entry.name))
      found.push(await listFile(here, database ?? path.basename(path.resolve(folder))));
    else warnings.push(`${here} is not read: it is not a file of mongodump or mongoexport.`);
  }
  return found;
}

/** A view has metadata and no documents. */
async function noteWithoutDocuments(
  file: string,
  names: readonly string[],
  warnings: string[],
): Promise<void> {
  const base = path.basename(file).replace(METADATA, '');
  if (names.some((name) => name === `${base}.bson` || name === `${base}.bson.gz`)) return;
  warnings.push(`${base} has no documents in the dump: it is a view, and is not read.`);
}

async function listFile(file: string, database: string | undefined): Promise<DumpedCollection> {
  const base = file.replace(DOCUMENTS, '');
  const metadata =
    (await readMetadata(`${base}.metadata.json`)) ?? (await readMetadata(`${base}.metadata.json.gz`));
  // Names that are too long for a file are cut there, and whole in the metadata.
  const name = typeof metadata?.collectionName === 'string' ? metadata.collectionName : nameOfFile(base);
  return { database, name, file };
}

/** Characters that no name of a file may have are written as `%2F`. */
function nameOfFile(base: string): string {
  const name = path.basename(base);
  return tryTo(() => decodeURIComponent(name)) ?? name;
}

async function readMetadata(file: string): Promise<JsonObject | undefined> {
  try {
    const parsed = parsePlainJson(await text(readUnpacked(file)));
    return isJsonObject(parsed) ? parsed : undefined;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ServiceError('MALFORMED_REQUEST', `The metadata of ${file} are not JSON (${cause.message}).`, {
      cause,
    });
  }
}

const DATABASES_OF_THE_SERVER: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

function isOfUsers({ database, name }: DumpedCollection, warnings: string[]): boolean {
  const isOfServer =
    name.startsWith('system.') || (database !== undefined && DATABASES_OF_THE_SERVER.has(database));
  if (isOfServer) warnings.push(`${database ?? ''}.${name} is not read: it is the server's own.`);
  return !isOfServer;
}
