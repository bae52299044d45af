import type { Command } from 'commander';
import { createBackup } from '../backup/back-up.js';
import { saveBackup } from '../backup/save-backup.js';
import { openBucket } from '../compose/open-files.js';
import { printBackupSummary } from './backup-summary.js';
import { type CommandLine, withDatabaseUrl } from './command-line.js';
import { listenForStopSignal } from './stop-signal.js';
import { showTransferProgress } from './transfer-progress.js';

/** `campus backup <file>`: beside running gateways, whom it does not stop. */
export function registerBackupCommand(command: Command, { config }: CommandLine): void {
  command
    .option('--json', 'print what was written as JSON')
    .action((file: string, options: { readonly json?: boolean }) => {
      const signal = listenForStopSignal();
      return withDatabaseUrl(config, async (url) => {
        const bucket = await openBucket(config);
        const progress = showTransferProgress(process.stderr, 'backing up', 'rows');
        const startedAt = performance.now();
        try {
          const backup = createBackup({ url, bucket, signal, onProgress: (step) => progress.show(step) });
          const bytes = await saveBackup(file, backup.bytes);
          progress.stop();
          printBackupSummary(backup.manifest(), { file, bytes, startedAt, isJson: options.json === true });
        } finally {
          progress.stop();
          await bucket?.close();
        }
      });
    });
}
