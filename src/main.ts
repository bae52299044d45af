#!/usr/bin/env node
/** The command line, `campus`. Each command is a file of src/cli; this is the list of them. */
import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { registerCollectionCommand } from './cli/collection-command.js';
import type { CommandLine } from './cli/command-line.js';
import { endWithFault, watchConsoleOutput } from './cli/console-output.js';
import { registerContractsCommand } from './cli/contracts-command.js';
import { registerDomainCommand } from './cli/domain-command.js';
import { registerKeyCommand } from './cli/key-command.js';
import { registerMaintenanceCommand } from './cli/maintenance-command.js';
import { registerMessageCommand } from './cli/message-command.js';
import { registerMigrateCommand } from './cli/migrate-command.js';
import { registerPropertyCommand } from './cli/property-command.js';
import { registerReferencesCommand } from './cli/references-command.js';
import { registerReportCommand } from './cli/report-command.js';
import { registerRunCommand } from './cli/run-command.js';
import { registerScriptCommand } from './cli/script-command.js';
import { registerSeedCommand } from './cli/seed-command.js';
import { registerStartCommand } from './cli/start-command.js';
import { registerUserCommand } from './cli/user-command.js';
import { findMisspelt, parseConfig } from './config.js';
import { sealIntrinsics } from './seal-intrinsics.js';
import { VERSION } from './version.js';

const COMMANDS: readonly ((program: Command, commandLine: CommandLine) => void)[] = [
  registerStartCommand,
  registerMigrateCommand,
  registerSeedCommand,
  registerDomainCommand,
  registerPropertyCommand,
  registerUserCommand,
  registerKeyCommand,
  registerCollectionCommand,
  registerReferencesCommand,
  registerReportCommand,
  registerRunCommand,
  registerScriptCommand,
  registerMessageCommand,
  registerMaintenanceCommand,
  registerContractsCommand,
];

async function main(): Promise<void> {
  sealIntrinsics(globalThis);
  watchConsoleOutput();
  if (existsSync('.env')) process.loadEnvFile('.env');
  for (const line of findMisspelt(process.env)) process.stderr.write(`campus: ${line}\n`);
  const commandLine: CommandLine = { config: parseConfig(process.env) };
  const program = new Command('campus')
    .description(
      "Serves a school's records as GraphQL and REST. Settings come from the environment; " +
        '.env.example lists them.',
    )
    .version(VERSION)
    .exitOverride();
  for (const register of COMMANDS) register(program, commandLine);
  for (const command of program.commands) {
    command.exitOverride();
    for (const sub of command.commands) sub.exitOverride();
  }
  await program.parseAsync();
}

main().catch((fault: unknown) => {
  process.exitCode = endWithFault(fault);
});
