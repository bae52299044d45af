import type { Command } from 'commander';
import { restoreArchive } from '../backup/restore.js';
import { openBucket } from '../compose/open-files.js';
import type { Services } from '../compose/services.js';
import type { DoneErasure } from '../persons/persons.js';
import { addBackupSecretOptions, type BackupSecretOptions } from './backup-secret-options.js';
import { printBackupSummary } from './backup-summary.js';
import { type CommandLine, withDatabaseUrl, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { eraseAgain, readErasures } from './person-command.js';
import { listenForStopSignal } from './stop-signal.js';
import { showTransferProgress } from './transfer-progress.js';
import { withVerifiedArchive } from './verified-archive.js';

interface RestoreCommandOptions extends BackupSecretOptions {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly into?: string;
  readonly erasures?: string;
}

/** `campus restore <file>`: looks through all of the file before it writes anything. */
export function registerRestoreCommand(command: Command, commandLine: CommandLine): void {
  addBackupSecretOptions(command)
    .option('--into <domain>', 'the name its domain gets; its branches keep theirs')
    .option('--dry-run', 'say whether it could be restored, and change nothing')
    .option('--erasures <file>', 'erase again who is in this list of `campus person erasures`')
    .option('--json', 'print what was restored as JSON')
    .action((file: string, options: RestoreCommandOptions) => restore(commandLine, file, options));
}

async function restore(
  commandLine: CommandLine,
  file: string,
  options: RestoreCommandOptions,
): Promise<void> {
  const { config } = commandLine;
  const isJson = options.json === true;
  // A list that is none is refused before anything is written.
  const erasures = options.erasures === undefined ? undefined : await readErasures(options.erasures);
  const signal = listenForStopSignal();
  const startedAt = performance.now();
  await withVerifiedArchive({ file, signal, config, options }, async (archive, bytes) => {
    await withDatabaseUrl(config, async (url) => {
      const bucket = await openBucket(config);
      const progress = showTransferProgress(process.stderr, 'restoring', 'rows');
      try {
        await restoreArchive({
          url,
          archive,
          bucket,
          into: options.into,
          mode: options.dryRun ? 'try' : 'restore',
          signal,
          onProgress: (step) => progress.show(step),
        });
      } finally {
        progress.stop();
        await bucket?.close();
      }
    });
    // What is left is what every start does: later migrations, and the indexes of the collections.
    if (!options.dryRun) {
      await withServices(commandLine, async (services) => {
        await analyzeAll(services.database);
        await eraseSince(services, erasures, archive.manifest.createdAt);
      });
    }
    printBackupSummary(archive.manifest, { file, bytes, startedAt, isJson });
    if (options.dryRun && !isJson) printLine('it could be restored; nothing was changed');
  });
}

/** Takes as long as the database is large, however long a statement of a gateway may run. */
async function analyzeAll(database: Services['database']): Promise<void> {
  const pool = database.openPool({ size: 1, applicationName: 'campus restore', statementTimeoutMs: 0 });
  try {
    await pool.query('analyze');
  } finally {
    await pool.end();
  }
}

/** Who was erased after the backup was made is in it. */
async function eraseSince(
  services: Services,
  erasures: readonly DoneErasure[] | undefined,
  createdAt: string,
): Promise<void> {
  const told =
    erasures === undefined
      ? `persons who were erased after ${createdAt} are there again: campus person erase-again <list>`
      : `persons erased again: ${await eraseAgain(services, erasures)}`;
  process.stderr.write(`campus: ${told}\n`);
}
