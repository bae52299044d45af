import { readFile } from 'node:fs/promises';
import { ServiceError } from '../../base/errors.js';
import { toFileError } from './save-backup.js';
import type { BackupSecret } from './seal.js';

/** A shorter key could be guessed. */
const MIN_KEY_BYTES = 32;
/** The shortest passphrase. It may be shorter than a key because each guess costs half a second. */
const MIN_PASSPHRASE_LENGTH = 12;

/**
 * The key is all bytes of the file. @throws INVALID_VALUE if it is too short, UNAVAILABLE without the file
 */
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

/** @throws INVALID_VALUE if the passphrase is too short */
export function toPassphrase(text: string): BackupSecret {
  if (text.length >= MIN_PASSPHRASE_LENGTH) return { kind: 'passphrase', text };
  throw new ServiceError(
    'INVALID_VALUE',
    `A passphrase of a backup has at least ${MIN_PASSPHRASE_LENGTH} characters.`,
  );
}

/** The secret that the settings name; a key file wins over a passphrase. `undefined`: no encryption. */
export async function backupSecretOfSettings(settings: {
  readonly backupKeyFile?: string | undefined;
  readonly backupPassphrase?: string | undefined;
}): Promise<BackupSecret | undefined> {
  if (settings.backupKeyFile !== undefined) return await readKeyFile(settings.backupKeyFile);
  if (settings.backupPassphrase !== undefined) return toPassphrase(settings.backupPassphrase);
  return undefined;
}
