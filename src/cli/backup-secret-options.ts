/** By what a backup is encrypted: never an argument, which every user of the machine could see. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import type { Config } from '../gateway/config/config.js';
import { toFileError } from '../services/backup/save-backup.js';
import {
  type BackupSecret,
  backupSecretOfSettings,
  readKeyFile,
  toPassphrase,
} from '../services/backup/seal.js';

export interface BackupSecretOptions {
  readonly passphraseFile?: string;
  readonly keyFile?: string;
}

type Secrets = Pick<Config, 'backupKeyFile' | 'backupPassphrase'>;

/** The options of a command that reads a backup. */
export function addBackupSecretOptions(command: Command): Command {
  return command
    .option('--passphrase-file <file>', 'what it was encrypted by: the first line of a file')
    .option('--key-file <file>', 'what it was encrypted by: all bytes of a file');
}

/**
 * The secret of the options, else of the settings. Where there is none: `ask` asks for it on the terminal,
 * `choose` twice, and `optional` answers `undefined`.
 *
 * @throws INVALID_VALUE where it is missing and nobody can be asked
 */
export async function findBackupSecret(
  secrets: Secrets,
  options: BackupSecretOptions,
  whenMissing: 'ask' | 'choose',
): Promise<BackupSecret>;
export async function findBackupSecret(
  secrets: Secrets,
  options: BackupSecretOptions,
  whenMissing: 'ask' | 'choose' | 'optional',
): Promise<BackupSecret | undefined>;
export async function findBackupSecret(
  secrets: Secrets,
  { keyFile, passphraseFile }: BackupSecretOptions,
  whenMissing: 'ask' | 'choose' | 'optional',
): Promise<BackupSecret | undefined> {
  if (keyFile !== undefined) return await readKeyFile(keyFile);
  if (passphraseFile !== undefined) return toPassphrase(await readFirstLine(passphraseFile));
  const secret = await backupSecretOfSettings(secrets);
  if (secret !== undefined || whenMissing === 'optional') return secret;
  if (!process.stdin.isTTY) {
    throw new ServiceError(
      'INVALID_VALUE',
      'The backup is encrypted, or is to be: set BACKUP_PASSPHRASE or BACKUP_KEY_FILE, or name a file by ' +
        '--passphrase-file or --key-file.',
    );
  }
  const passphrase = await ask('Passphrase: ');
  if (whenMissing === 'choose' && (await ask('The same again: ')) !== passphrase) {
    throw new ServiceError('INVALID_VALUE', 'The two passphrases are not the same.');
  }
  return toPassphrase(passphrase);
}

async function readFirstLine(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw toFileError(file, error);
  });
  return text.split(/\r?\n/, 1)[0] ?? '';
}

/** Asks for a line on the terminal without showing what is typed. */
async function ask(question: string): Promise<string> {
  process.stderr.write(question);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
