import { openFileSource } from '../backup/byte-source.js';
import { type Archive, openArchive } from '../backup/open-archive.js';
import { toFileError } from '../backup/save-backup.js';
import { showTransferProgress } from './transfer-progress.js';

/** Lends a backup that was read to its end and found whole, and its size; shows how the reading comes along. */
export async function withVerifiedArchive(
  file: string,
  signal: AbortSignal,
  work: (archive: Archive, bytes: number) => Promise<void>,
): Promise<void> {
  const source = await openFileSource(file).catch((error: unknown) => {
    throw toFileError(file, error);
  });
  try {
    const progress = showTransferProgress(process.stderr, 'verifying', 'bytes');
    const archive = await openArchive(source, {
      signal,
      onProgress: ({ done, total }) => progress.show({ stage: file, done, total }),
    }).finally(() => progress.stop());
    await work(archive, source.size);
  } finally {
    await source.close();
  }
}
