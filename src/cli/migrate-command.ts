import { Argument, type Command } from 'commander';
import { setMaintenance } from '../gateway/server/admission/maintenance-switch.js';
import { migrateJobQueue } from '../services/jobs/job-queue.js';
import { applyMigrations, listMigrations } from '../store/database/migrations.js';
import { type CommandLine, withDatabaseUrl, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { membersOf, printList } from './print-table.js';

/** The states of a migration, as programs and as people read them. */
const MIGRATION_STATES = {
  applied: 'applied',
  edited: 'applied, with another text',
  failed: 'failed, to be tried again',
  pending: 'pending',
  unknown: 'unknown to this version',
} as const;
type MigrationState = keyof typeof MIGRATION_STATES;

interface ListedMigration {
  readonly name: string;
  readonly state: MigrationState;
}

/** `campus migrate`: the migrations of the database. `start` applies pending ones itself. */
export function registerMigrateCommand(migrate: Command, commandLine: CommandLine): void {
  migrate
    .command('status')
    .description('list the migrations, applied and pending')
    .option('--json', 'print the list as JSON')
    .action((options: { readonly json?: boolean }) =>
      withDatabaseUrl(commandLine, async (url) => {
        const { applied, pending, failed, edited, unknown } = await listMigrations({ url });
        const inState = (state: MigrationState) => (name: string) => ({ name, state });
        const rows = [
          ...applied.map((name) => inState(edited.includes(name) ? 'edited' : 'applied')(name)),
          ...failed.map(inState('failed')),
          ...pending.map(inState('pending')),
          ...unknown.map(inState('unknown')),
        ];
        const columns = {
          migration: ({ name }: ListedMigration) => name,
          state: ({ state }: ListedMigration) => MIGRATION_STATES[state],
        };
        printList(rows, { columns, toJson: membersOf<ListedMigration>('name', 'state') }, options);
      }),
    );

  migrate
    .command('apply')
    .description('apply the pending migrations')
    .action(() =>
      withDatabaseUrl(commandLine, async (url) => {
        const applied = await applyMigrations({ url, onNotice: printLine });
        await migrateJobQueue(url);
        for (const name of applied) printLine(`applied ${name}`);
        if (applied.length === 0) printLine('nothing to apply');
      }),
    );
}

/** `campus maintenance on|off`: every gateway answers 503 while it is on, health checks excepted. */
export function registerMaintenanceCommand(command: Command, commandLine: CommandLine): void {
  command.addArgument(new Argument('<state>').choices(['on', 'off'])).action((state: 'on' | 'off') =>
    withServices(commandLine, async ({ database }) => {
      await setMaintenance(database, state);
      printLine(`maintenance is ${state}`);
    }),
  );
}
