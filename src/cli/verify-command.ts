import type { Command } from 'commander';
import { addBackupSecretOptions, type BackupSecretOptions } from './backup-secret-options.js';
import { printBackupSummary } from './backup-summary.js';
import type { CommandLine } from './command-line.js';
import { listenForStopSignal } from './stop-signal.js';
import { withVerifiedArchive } from './verified-archive.js';

/** `campus verify <file>`: needs no database. */
export function registerVerifyCommand(command: Command, { config }: CommandLine): void {
  addBackupSecretOptions(command)
    .option('--json', 'print what it holds as JSON')
    .action((file: string, options: BackupSecretOptions & { readonly json?: boolean }) => {
      const startedAt = performance.now();
      const signal = listenForStopSignal();
      return withVerifiedArchive({ file, signal, config, options }, async ({ manifest }, bytes) => {
        printBackupSummary(manifest, { file, bytes, startedAt, isJson: options.json === true });
      });
    });
}
