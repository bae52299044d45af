import type { Command } from 'commander';
import { ServiceError } from '../errors.js';
import { migrateJobQueue } from '../messaging/job-queue.js';
import { applyMigrations, listMigrations } from '../store/database/migrations.js';
import { findSchemaDrift } from '../store/database/schema-drift.js';
import { type CommandLine, withDatabaseUrl } from './command-line.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

/** `campus migrate`: the tables of the database. `start` applies what is pending by itself. */
export function registerMigrateCommand(migrate: Command, commandLine: CommandLine): void {
  migrate
    .command('status')
    .description('list the migrations, applied and pending')
    .action(() =>
      withDatabaseUrl(commandLine.config, async (url) => {
        const { applied, pending, failed, edited, unknown } = await listMigrations({ url });
        const rows = [
          ...applied.map((name) => [name, edited.includes(name) ? 'applied, with another text' : 'applied']),
          ...failed.map((name) => [name, 'failed, to be tried again']),
          ...pending.map((name) => [name, 'pending']),
          ...unknown.map((name) => [name, 'unknown to this version']),
        ];
        printTable(['migration', 'state'], rows);
      }),
    );

  migrate
    .command('apply')
    .description('apply the pending migrations')
    .action(() =>
      withDatabaseUrl(commandLine.config, async (url) => {
        const applied = await applyMigrations({ url, onNotice: printLine });
        await migrateJobQueue(url);
        for (const name of applied) printLine(`applied ${name}`);
        if (applied.length === 0) printLine('nothing to apply');
      }),
    );

  migrate
    .command('check')
    .description('compare the database with prisma/schema.prisma; exit code 1 where they disagree')
    .action(() =>
      withDatabaseUrl(commandLine.config, async (url) => {
        await applyMigrations({ url });
        await migrateJobQueue(url);
        const drift = await findSchemaDrift({ url });
        if (drift !== undefined) {
          throw new ServiceError(
            'CONFLICT',
            `the migrations and prisma/schema.prisma disagree; missing:\n${drift}`,
          );
        }
        printLine('the migrations and prisma/schema.prisma agree');
      }),
    );
}
