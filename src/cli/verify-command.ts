import type { Command } from 'commander';
import { printBackupSummary } from './backup-summary.js';
import { listenForStopSignal } from './stop-signal.js';
import { withVerifiedArchive } from './verified-archive.js';

/** `campus verify <file>`: needs no database. */
export function registerVerifyCommand(command: Command): void {
  command
    .option('--json', 'print what it holds as JSON')
    .action((file: string, options: { readonly json?: boolean }) => {
      const startedAt = performance.now();
      const signal = listenForStopSignal();
      return withVerifiedArchive(file, signal, async ({ manifest }, bytes) => {
        printBackupSummary(manifest, { file, bytes, startedAt, isJson: options.json === true });
      });
    });
}
