import type { Command } from 'commander';
import { openBucket } from '../gateway/compose/opened.js';
import { restoreArchive } from '../services/backup/restore.js';
import { addBackupSecretOptions, type BackupSecretOptions } from './backup-secret-options.js';
import { printBackupSummary } from './backup-summary.js';
import { type CommandLine, withDatabaseUrl, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { readErasures } from './person-command.js';
import { listenForStopSignal, StoppedBySignal } from './stop-signal.js';
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
    await withDatabaseUrl({ config, signal }, async (url) => {
      const bucket = await openBucket(config);
      const progress = showTransferProgress(process.stderr, 'restoring', 'rows');
      try {
        const outcome = await restoreArchive({
          url,
          archive,
          bucket,
          into: options.into,
          erasures,
          mode: options.dryRun ? 'try' : 'restore',
          signal,
          onProgress: (step) => progress.show(step),
        });
        progress.stop();
        if (outcome === 'continued') tell('all rows are there; continuing a restore that was interrupted');
      } finally {
        progress.stop();
        await bucket?.close();
      }
    });
    if (!options.dryRun) await finish(commandLine, signal);
    printBackupSummary(archive.manifest, { file, bytes, startedAt, isJson });
    if (options.dryRun && !isJson) printLine('it could be restored; nothing was changed');
  });
}

/** The rest is done by every start: later migrations, the indexes of the collections, erasures. */
async function finish(commandLine: CommandLine, signal: AbortSignal): Promise<void> {
  try {
    await withServices(commandLine, async () => {}, { signal, onProgress: tell });
  } catch (fault) {
    if (fault instanceof StoppedBySignal) {
      const state = 'all rows are there; run it again, or start the gateway, to finish the restore';
      throw new StoppedBySignal(fault.signal, state);
    }
    throw fault;
  }
}

function tell(line: string): void {
  process.stderr.write(`campus: ${line}\n`);
}
