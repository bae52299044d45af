/** A copy of the file of an import on a local disk, for as long as a process works on it. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import type { Files } from '../files/files.js';
import { findFile, type StoredFile } from '../files/stored-file.js';
import { toDiskFault } from './reading/to-disk-fault.js';
import { makeSourceFolder } from './source-folders.js';
import type { StoredImport } from './stored-import.js';

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
    throw new ServiceError('GONE', `the file of the import ("${one.name}") was taken away; send it again`);
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
