/** A copy of the file of an import on a local disk, for as long as a process works on it. */

import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import { isProcessAlive } from '../../store/database/embedded/kept-presence.js';
import type { Files } from '../files/files.js';
import { findFile, type StoredFile } from '../files/stored-file.js';
import { textOfCell } from './cells/plain-cells.js';
import { toDiskFault } from './reading/nameless-file.js';
import { openRowSource } from './reading/open-row-source.js';
import type { SourceFile, SourceOptions, SourceRow } from './reading/row-source.js';
import { findImport, type StoredImport } from './stored-import.js';

/**
 * Lends a copy of the file and deletes it after the work. A copy is needed because workbooks are read from
 * their end, and because a file that is read for minutes must not hold a connection.
 *
 * @throws GONE where the file was taken away; UNAVAILABLE where the disk is full
 */
export async function withImportSource<T>(
  { database, files }: { readonly database: Database; readonly files: Files },
  one: Pick<StoredImport, 'domainId' | 'fileId' | 'name'>,
  signal: AbortSignal,
  work: (path: string, file: StoredFile) => Promise<T>,
): Promise<T> {
  const file = await findFile(database, one.domainId, one.fileId);
  if (file === undefined) {
    throw new ServiceError('GONE', `the file of the import ("${one.name}") was removed; send it again`);
  }
  const folder = await makeSourceFolder();
  try {
    const copy = path.join(folder, 'source');
    await pipeline(files.open(file, { signal }).stream, createWriteStream(copy, { mode: 0o600 }), {
      signal,
    }).catch((fault: unknown) => {
      throw signal.aborted ? signal.reason : toDiskFault(fault);
    });
    return await work(copy, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const FOLDER = /^campus-import-([0-9]+)-/;

/** Creates a folder. The caller removes it. */
export async function makeSourceFolder(): Promise<string> {
  return await mkdtemp(path.join(tmpdir(), `campus-import-${process.pid}-`));
}

/**
 * Removes the folders of processes that were killed: they hold personal data, and would fill the disk. A
 * folder that cannot be removed belongs to another user of the machine, and stays.
 */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = Number(FOLDER.exec(name)?.[1]);
    const folder = path.join(tmpdir(), name);
    if (!Number.isNaN(owner) && (await isAbandoned(folder, owner))) {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }
}

/** In a container each first process has the same id: an older folder belongs to an earlier process. */
async function isAbandoned(folder: string, owner: number): Promise<boolean> {
  if (owner !== process.pid) return !isProcessAlive(owner);
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined && found.mtimeMs < Date.now() - process.uptime() * 1_000;
}

/** The errors of an unreadable file; any other error is a fault of the environment. */
const UNREADABLE = ['MALFORMED_REQUEST', 'LIMIT_EXCEEDED', 'INVALID_VALUE', 'UNSUPPORTED_MEDIA_TYPE'];

/**
 * Whether the file of an import holds a text: in its columns or in a row of any of its sheets, the cells one
 * after the other. A file, or a row, that cannot be read may hold it. A file that was taken away does not.
 *
 * @throws UNAVAILABLE where the disk is full, or the place of the file does not answer
 */
export async function findInImportFile(
  services: { readonly database: Database; readonly files: Files },
  search: { readonly id: string; readonly signal: AbortSignal; readonly isFound: (text: string) => boolean },
): Promise<boolean> {
  const one = await findImport(services.database, search.id);
  if (one === undefined) return false;
  try {
    return await withImportSource(services, one, search.signal, (path) =>
      findInFile({ path, name: one.name }, one.source, search),
    );
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault;
    if (UNREADABLE.includes(fault.code)) return true;
    if (fault.code === 'GONE') return false;
    throw fault;
  }
}

async function findInFile(
  file: SourceFile,
  options: SourceOptions,
  { signal, isFound }: { readonly signal: AbortSignal; readonly isFound: (text: string) => boolean },
): Promise<boolean> {
  const { sheets = [options.sheet] } = await openRowSource(file, options);
  for (const sheet of sheets) {
    const source = await openRowSource(file, { ...options, ...(sheet !== undefined && { sheet }) });
    if (isFound((source.columns ?? []).join(' '))) return true;
    for await (const rows of source.rows(signal)) if (rows.some((row) => mayHold(row, isFound))) return true;
  }
  return false;
}

function mayHold(row: SourceRow, isFound: (text: string) => boolean): boolean {
  const text = [...(row.source ?? []), ...Object.values(row.values).map(textOfCell)].join(' ');
  return row.isMalformed === true || (row.fault !== undefined && text.trim() === '') || isFound(text);
}
