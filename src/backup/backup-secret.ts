import { readFile } from 'node:fs/promises';
import { ServiceError } from '../errors.js';
import { toFileError } from './save-backup.js';
import type { BackupSecret } from './seal.js';

/** A key that is shorter could be guessed. */
const MIN_KEY_BYTES = 32;
/** The same of a passphrase, which costs half a second a guess. */
const MIN_PASSPHRASE_LENGTH = 12;

/** The key in a file: all its bytes. @throws INVALID_VALUE for a short one, UNAVAILABLE for no file */
export async function readKeyFile(file: string): Promise<BackupSecret> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw toFileError(file, error);
  });
  if (bytes.length >= MIN_KEY_BYTES) return { kind: 'key', bytes };
  throw new ServiceError(
    'INVALID_VALUE',
    `The key in ${file} has ${bytes.length} bytes, and ${MIN_KEY_BYTES} are the fewest that are safe ` +
      `(\`head -c 32 /dev/urandom > ${file}\` makes one).`,
  );
}

/** @throws INVALID_VALUE for a short one */
export function toPassphrase(text: string): BackupSecret {
  if (text.length >= MIN_PASSPHRASE_LENGTH) return { kind: 'passphrase', text };
  throw new ServiceError(
    'INVALID_VALUE',
    `A passphrase of a backup has at least ${MIN_PASSPHRASE_LENGTH} characters.`,
  );
}

/** What the settings encrypt backups with: the key file before the passphrase; `undefined`: nothing. */
export async function backupSecretOfSettings(settings: {
  readonly backupKeyFile?: string | undefined;
  readonly backupPassphrase?: string | undefined;
}): Promise<BackupSecret | undefined> {
  if (settings.backupKeyFile !== undefined) return await readKeyFile(settings.backupKeyFile);
  if (settings.backupPassphrase !== undefined) return toPassphrase(settings.backupPassphrase);
  return undefined;
}
