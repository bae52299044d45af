/**
 * The commands of `campus`. The code of a command is loaded when it is run, so that the help and small
 * commands do not wait for the modules of others.
 */
import type { Command } from 'commander';
import type { CommandLine } from './command-line.js';

export interface CommandEntry {
  /** Its name and arguments, as Commander reads them. */
  readonly usage: string;
  readonly description: string;
  /** Gives what adds its options, subcommands and action. */
  readonly load: () => Promise<(command: Command, commandLine: CommandLine) => void>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    usage: 'start',
    description: 'start the gateway; the first start of the embedded database fills in the demo school',
    load: async () => (await import('./start-command.js')).registerStartCommand,
  },
  {
    usage: 'migrate',
    description: 'show and apply the migrations of the database',
    load: async () => (await import('./migrate-command.js')).registerMigrateCommand,
  },
  {
    usage: 'seed',
    description: 'fill in the demo school and its branch, with the demo logins',
    load: async () => (await import('./seed-command.js')).registerSeedCommand,
  },
  {
    usage: 'domain',
    description: 'add and list domains: the top one is the school, the others are its branches',
    load: async () => (await import('./domain-command.js')).registerDomainCommand,
  },
  {
    usage: 'property',
    description: 'show and set the properties of a domain, e.g. timezone, weeklyOffs',
    load: async () => (await import('./domain-command.js')).registerPropertyCommand,
  },
  {
    usage: 'user',
    description: 'add staff who may log in, set passwords, list them',
    load: async () => (await import('./key-command.js')).registerUserCommand,
  },
  {
    usage: 'key',
    description: 'create, revoke and list API keys',
    load: async () => (await import('./key-command.js')).registerKeyCommand,
  },
  {
    usage: 'collection',
    description: 'list the collections, show one with its fields and rights',
    load: async () => (await import('./collection-command.js')).registerCollectionCommand,
  },
  {
    usage: 'check',
    description:
      'list stored records that break a rule of their collection, point to nothing, or are there twice; ' +
      'exit 1 if there are any',
    load: async () => (await import('./collection-command.js')).registerCheckCommand,
  },
  {
    usage: 'report',
    description: 'run a report: a table, or --json, --csv, --xlsx',
    load: async () => (await import('./report-command.js')).registerReportCommand,
  },
  {
    usage: 'import [file]',
    description: 'import a file into a collection: a dry run first, then all rows or the valid ones',
    load: async () => (await import('./import-command.js')).registerImportCommand,
  },
  {
    usage: 'export [collections...]',
    description: 'write the records of collections to files: all of them, or what changed since an instant',
    load: async () => (await import('./export-command.js')).registerExportCommand,
  },
  {
    usage: 'convert <format> <file>',
    description: 'convert the files of another program (oneroster, a zip file) into files to import',
    load: async () => (await import('./export-command.js')).registerConvertCommand,
  },
  {
    usage: 'person',
    description: 'export all that is kept of a person, or erase it',
    load: async () => (await import('./person-command.js')).registerPersonCommand,
  },
  {
    usage: 'run <file>',
    description:
      'run a script from a file; what it prints goes to standard error, its result to standard output',
    load: async () => (await import('./script-command.js')).registerRunCommand,
  },
  {
    usage: 'script',
    description: 'save, list and remove the scripts of a domain',
    load: async () => (await import('./script-command.js')).registerScriptCommand,
  },
  {
    usage: 'message',
    description: 'list messages, send them again, discard them',
    load: async () => (await import('./message-command.js')).registerMessageCommand,
  },
  {
    usage: 'import-mongo <paths...>',
    description: 'bring in a dump of MongoDB: a folder of mongodump, files of mongoexport',
    load: async () => (await import('./import-mongo-command.js')).registerImportMongoCommand,
  },
  {
    usage: 'backup <file>',
    description: 'write all of the instance, as it is at this moment, to a file that must not exist yet',
    load: async () => (await import('./backup-command.js')).registerBackupCommand,
  },
  {
    usage: 'verify <file>',
    description: 'read a whole backup and check that it is complete',
    load: async () => (await import('./backup-command.js')).registerVerifyCommand,
  },
  {
    usage: 'restore <file>',
    description: 'put a backup into an empty database, as a whole or not at all',
    load: async () => (await import('./backup-command.js')).registerRestoreCommand,
  },
  {
    usage: 'maintenance',
    description: 'switch maintenance on or off, on every gateway',
    load: async () => (await import('./migrate-command.js')).registerMaintenanceCommand,
  },
  {
    usage: 'sql-views',
    description: 'make, renew and remove SQL views with the rights of a role or user, for BI programs',
    load: async () => (await import('./sql-views-command.js')).registerSqlViewsCommand,
  },
  {
    usage: 'mcp',
    description: 'connect an agent to a running gateway, by the Model Context Protocol over standard input',
    load: async () => (await import('./mcp-command.js')).registerMcpCommand,
  },
  {
    usage: 'contracts',
    description: 'print schema/schema.graphql, schema/openapi.json and .env.example from the code',
    load: async () => (await import('./contracts-command.js')).registerContractsCommand,
  },
];
