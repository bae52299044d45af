import type { Config } from '../gateway/config/config.js';
import { type ByteSource, openFileSource } from '../services/backup/byte-source.js';
import { type Archive, openArchive } from '../services/backup/open-archive.js';
import { toFileError } from '../services/backup/save-backup.js';
import { isSealed, unseal } from '../services/backup/seal.js';
import { type BackupSecretOptions, findBackupSecret } from './backup-secret-options.js';
import { showTransferProgress } from './transfer-progress.js';

export interface ArchiveToVerify {
  readonly file: string;
  readonly signal: AbortSignal;
  readonly config: Config;
  readonly options: BackupSecretOptions;
}

/**
 * Lends a backup that was read to its end and found whole, and its size; shows how the reading comes along.
 */
export async function withVerifiedArchive(
  { file, signal, config, options }: ArchiveToVerify,
  work: (archive: Archive, bytes: number) => Promise<void>,
): Promise<void> {
  const stored = await openFileSource(file).catch((error: unknown) => {
    throw toFileError(file, error);
  });
  try {
    const source = await openSealed(stored, config, options);
    const progress = showTransferProgress(process.stderr, 'verifying', 'bytes');
    const archive = await openArchive(source, {
      signal,
      onProgress: ({ done, total }) => progress.show({ stage: file, done, total }),
    }).finally(() => progress.stop());
    await work(archive, stored.size);
  } finally {
    await stored.close();
  }
}

/** Whoever encrypted it is asked by what; others are asked nothing. */
async function openSealed(
  stored: ByteSource,
  config: Config,
  options: BackupSecretOptions,
): Promise<ByteSource> {
  if (!(await isSealed(stored))) return stored;
  return await unseal(stored, await findBackupSecret(config, options, 'ask'));
}
