/**
 * `campus backup`, `verify` and `restore`. The secret of a backup is never an argument, which every user of
 * the machine could see.
 */
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { openBucket } from '../gateway/compose/opened.js';
import type { Config } from '../gateway/config/config.js';
import type { Manifest } from '../services/backup/archive-writer.js';
import { createBackup } from '../services/backup/backup.js';
import { type Archive, openArchive, openFileSource } from '../services/backup/open-archive.js';
import { type RestoreOptions, restoreArchive } from '../services/backup/restore.js';
import { readNamedFile, saveBackup, toFileError } from '../services/backup/save-backup.js';
import {
  type BackupSecret,
  backupSecretOfSettings,
  isSealed,
  readKeyFile,
  seal,
  toPassphrase,
  unseal,
} from '../services/backup/seal.js';
import { type CommandLine, withDatabaseUrl, withServices } from './command-line.js';
import { ask, printLine, printNote } from './console-output.js';
import { readErasures } from './person-command.js';
import { printTable } from './print-table.js';
import { listenForStopSignal, StoppedBySignal } from './stop-signal.js';
import { showTransferProgress } from './transfer-progress.js';

interface BackupOptions {
  readonly passphraseFile?: string;
  readonly keyFile?: string;
  readonly json?: boolean;
}

/** `campus backup <file>`. It runs while gateways serve. */
export function registerBackupCommand(command: Command, { config }: CommandLine): void {
  command
    .option('--domain <id>', 'only this domain and its branches; default: the whole instance')
    .option('--encrypt', 'encrypt it by a passphrase, which is prompted for unless BACKUP_PASSPHRASE has it')
    .option('--passphrase-file <file>', 'encrypt it by the first line of a file')
    .option('--key-file <file>', 'encrypt it by a key: all bytes of a file, at least 32')
    .option('--json', 'print what was written as JSON')
    .action(async (file: string, options: BackupOptions & { domain?: string; encrypt?: boolean }) => {
      const found = await findBackupSecret(config, options);
      const secret = found ?? (options.encrypt ? await askForSecret('new') : undefined);
      const signal = listenForStopSignal();
      const saved = await withTransfer({ config, signal }, 'backing up', async (transfer) => {
        const startedAt = performance.now();
        const backup = createBackup({ ...transfer, domain: options.domain, signal });
        const bytes = await saveBackup(file, secret ? seal(backup.bytes, secret) : backup.bytes);
        return { manifest: backup.manifest(), file, bytes, startedAt };
      });
      printBackupSummary(saved.manifest, options, saved);
    });
}

/** Opens the database and the bucket of files for the work, and shows its progress. */
async function withTransfer<T>(
  { config, signal }: CommandLine,
  task: string,
  work: (transfer: Pick<RestoreOptions, 'url' | 'bucket' | 'onProgress'>) => Promise<T>,
): Promise<T> {
  return await withDatabaseUrl({ config, signal }, async (url) => {
    const bucket = await openBucket(config);
    const progress = showTransferProgress(task, 'rows');
    try {
      return await work({ url, bucket, onProgress: progress.show });
    } finally {
      progress.stop();
      await bucket?.close();
    }
  });
}

/** `campus verify <file>`: needs no database. */
export function registerVerifyCommand(command: Command, { config }: CommandLine): void {
  addSecretOptions(command)
    .option('--json', 'print what it holds as JSON')
    .action((file: string, options: BackupOptions) => {
      const startedAt = performance.now();
      const signal = listenForStopSignal();
      return withVerifiedArchive(file, options, { config, signal }, async ({ manifest }, bytes) => {
        printBackupSummary(manifest, options, { file, bytes, startedAt });
      });
    });
}

interface RestoreCommandOptions extends BackupOptions {
  readonly dryRun?: boolean;
  readonly into?: string;
  readonly erasures?: string;
}

/** `campus restore <file>`: looks through all of the file before it writes anything. */
export function registerRestoreCommand(command: Command, commandLine: CommandLine): void {
  addSecretOptions(command)
    .option('--into <domain>', 'the name its domain gets; its branches keep theirs')
    .option('--dry-run', 'check whether it can be restored, and change nothing')
    .option('--erasures <file>', 'erase again the persons in this list of `campus person erasures`')
    .option('--json', 'print what was restored as JSON')
    .action((file: string, options: RestoreCommandOptions) => restore(commandLine, file, options));
}

async function restore(
  commandLine: CommandLine,
  file: string,
  options: RestoreCommandOptions,
): Promise<void> {
  const { config } = commandLine;
  // A list that is none is refused before anything is written.
  const erasures = options.erasures === undefined ? undefined : await readErasures(options.erasures);
  const signal = listenForStopSignal();
  const startedAt = performance.now();
  await withVerifiedArchive(file, options, { config, signal }, async (archive, bytes) => {
    const outcome = await withTransfer({ config, signal }, 'restoring', (transfer) =>
      restoreArchive({
        ...{ ...transfer, archive, into: options.into, erasures, signal },
        mode: options.dryRun ? 'try' : 'restore',
      }),
    );
    if (outcome === 'continued') printNote('all rows are there; continuing a restore that was interrupted');
    if (!options.dryRun) await finish(commandLine, signal);
    printBackupSummary(archive.manifest, options, { file, bytes, startedAt });
    if (options.dryRun && !options.json) printLine('it could be restored; nothing was changed');
  });
}

/** The rest is done by every start: later migrations, the indexes of the collections, erasures. */
async function finish(commandLine: CommandLine, signal: AbortSignal): Promise<void> {
  try {
    await withServices(commandLine, async () => {}, { signal, onProgress: printNote });
  } catch (fault) {
    if (fault instanceof StoppedBySignal) {
      const state = 'all rows are there; run it again, or start the gateway, to finish the restore';
      throw new StoppedBySignal(fault.signal, state);
    }
    throw fault;
  }
}

/** The options of a command that reads a backup. */
function addSecretOptions(command: Command): Command {
  return command
    .option('--passphrase-file <file>', 'what it was encrypted by: the first line of a file')
    .option('--key-file <file>', 'what it was encrypted by: all bytes of a file');
}

/**
 * Passes a backup that was read completely and found intact, and its size; shows the progress of reading.
 */
async function withVerifiedArchive(
  file: string,
  options: BackupOptions,
  { config, signal }: CommandLine,
  work: (archive: Archive, bytes: number) => Promise<void>,
): Promise<void> {
  await using stored = await openFileSource(file).catch((error: unknown) => {
    throw toFileError(file, error);
  });
  // Only an encrypted file needs a passphrase.
  const source = (await isSealed(stored))
    ? await unseal(stored, (await findBackupSecret(config, options)) ?? (await askForSecret('known')))
    : stored;
  const progress = showTransferProgress('verifying', 'bytes');
  const archive = await openArchive(source, {
    signal,
    onProgress: (step) => progress.show({ stage: file, ...step }),
  }).finally(() => progress.stop());
  await work(archive, stored.size);
}

/** The secret of the options, else of the settings. */
async function findBackupSecret(
  secrets: Config,
  { keyFile, passphraseFile }: BackupOptions,
): Promise<BackupSecret | undefined> {
  if (keyFile !== undefined) return await readKeyFile(keyFile);
  if (passphraseFile !== undefined) {
    const [firstLine = ''] = String(await readNamedFile(passphraseFile)).split(/\r?\n/, 1);
    return toPassphrase(firstLine);
  }
  return await backupSecretOfSettings(secrets);
}

/**
 * Prompts for a passphrase on the terminal; twice for a new one.
 *
 * @throws INVALID_VALUE without a terminal
 */
async function askForSecret(how: 'known' | 'new'): Promise<BackupSecret> {
  if (!process.stdin.isTTY) {
    throw new ServiceError(
      'INVALID_VALUE',
      'An encrypted backup needs a secret: set BACKUP_PASSPHRASE or BACKUP_KEY_FILE, or name a file by ' +
        '--passphrase-file or --key-file.',
    );
  }
  const passphrase = await ask('Passphrase: ', 'hidden');
  if (how === 'new' && (await ask('The same again: ', 'hidden')) !== passphrase) {
    throw new ServiceError('INVALID_VALUE', 'The two passphrases are not the same.');
  }
  return toPassphrase(passphrase);
}

/**
 * The contents of a backup, as a table and a line, or as one line of JSON. `startedAt` is by
 * `performance.now()`.
 */
function printBackupSummary(
  manifest: Manifest,
  { json }: BackupOptions,
  { file, bytes, startedAt }: { readonly file: string; readonly bytes: number; readonly startedAt: number },
): void {
  const seconds = Math.max(performance.now() - startedAt, 1) / 1000;
  const { createdAt, gatewayVersion, domains, tables, files } = manifest;
  const migration = manifest.migrations.at(-1);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (json) {
    const counts = tables.map(({ name, collection, rows }) => ({ name, collection, rows }));
    const summary = { file, bytes, seconds, createdAt, gatewayVersion, migration, domains, rows };
    printLine(JSON.stringify({ ...summary, tables: counts, files: files.length }));
    return;
  }
  const counts = new Map<string, number>();
  for (const { name, rows } of tables) counts.set(name, (counts.get(name) ?? 0) + rows);
  printTable(
    ['table', 'rows'],
    [...counts].filter(([, count]) => count > 0),
  );
  printLine(
    `${file}: ${rows.toLocaleString('en')} rows of ` +
      `${domains.map(({ id }) => id).join(', ') || 'no domain'} ` +
      `in ${bytes.toLocaleString('en')} bytes, as of ${createdAt}, ` +
      `version ${gatewayVersion}, migration ${migration}; ` +
      `${seconds.toFixed(1)} s, ${Math.round(rows / seconds).toLocaleString('en')} rows/s`,
  );
}
