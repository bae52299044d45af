import type { Command } from 'commander';
import { openBucket } from '../gateway/compose/opened.js';
import { createBackup } from '../services/backup/backup.js';
import { saveBackup } from '../services/backup/save-backup.js';
import { seal } from '../services/backup/seal.js';
import { type BackupSecretOptions, findBackupSecret } from './backup-secret-options.js';
import { printBackupSummary } from './backup-summary.js';
import { type CommandLine, withDatabaseUrl } from './command-line.js';
import { listenForStopSignal } from './stop-signal.js';
import { showTransferProgress } from './transfer-progress.js';

interface BackupCommandOptions extends BackupSecretOptions {
  readonly domain?: string;
  readonly encrypt?: boolean;
  readonly json?: boolean;
}

/** `campus backup <file>`: beside running gateways, whom it does not stop. */
export function registerBackupCommand(command: Command, { config }: CommandLine): void {
  command
    .option('--domain <id>', 'this domain and its branches alone; default: all of the instance')
    .option('--encrypt', 'encrypt it by a passphrase, asked for unless BACKUP_PASSPHRASE holds it')
    .option('--passphrase-file <file>', 'encrypt it by the first line of a file')
    .option('--key-file <file>', 'encrypt it by a key: all bytes of a file, at least 32')
    .option('--json', 'print what was written as JSON')
    .action(async (file: string, options: BackupCommandOptions) => {
      const secret = await findBackupSecret(config, options, options.encrypt ? 'choose' : 'optional');
      const signal = listenForStopSignal();
      await withDatabaseUrl({ config, signal }, async (url) => {
        const bucket = await openBucket(config);
        const progress = showTransferProgress(process.stderr, 'backing up', 'rows');
        const startedAt = performance.now();
        try {
          const backup = createBackup({
            url,
            bucket,
            domain: options.domain,
            signal,
            onProgress: (step) => progress.show(step),
          });
          const bytes = await saveBackup(file, secret ? seal(backup.bytes, secret) : backup.bytes);
          progress.stop();
          printBackupSummary(backup.manifest(), { file, bytes, startedAt, isJson: options.json === true });
        } finally {
          progress.stop();
          await bucket?.close();
        }
      });
    });
}
