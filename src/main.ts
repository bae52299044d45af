#!/usr/bin/env node
/** The command line, `campus`. Each command is a file of src/cli; this is the list of them. */
import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { registerCollection } from './cli/collection.js';
import type { CommandLine } from './cli/command-line.js';
import { endWithFault, watchOutput } from './cli/console.js';
import { registerContracts } from './cli/contracts.js';
import { registerDomain } from './cli/domain.js';
import { registerKey } from './cli/key.js';
import { registerMaintenance } from './cli/maintenance.js';
import { registerMessage } from './cli/message.js';
import { registerMigrate } from './cli/migrate.js';
import { registerProperty } from './cli/property.js';
import { registerReferences } from './cli/references.js';
import { registerReport } from './cli/report.js';
import { registerRun } from './cli/run.js';
import { registerScript } from './cli/script.js';
import { registerSeed } from './cli/seed.js';
import { registerStart } from './cli/start.js';
import { registerUser } from './cli/user.js';
import { findMisspelt, parseConfig } from './config.js';
import { sealIntrinsics } from './sealed-intrinsics.js';
import { VERSION } from './version.js';

const COMMANDS: readonly ((program: Command, commandLine: CommandLine) => void)[] = [
  registerStart,
  registerMigrate,
  registerSeed,
  registerDomain,
  registerProperty,
  registerUser,
  registerKey,
  registerCollection,
  registerReferences,
  registerReport,
  registerRun,
  registerScript,
  registerMessage,
  registerMaintenance,
  registerContracts,
];

async function main(): Promise<void> {
  sealIntrinsics(globalThis);
  watchOutput();
  if (existsSync('.env')) process.loadEnvFile('.env');
  for (const line of findMisspelt(process.env)) process.stderr.write(`campus: ${line}\n`);
  const commandLine: CommandLine = { config: parseConfig(process.env) };
  const program = new Command('campus')
    .description(
      "Serves a school's records as GraphQL and REST. Settings come from the environment; .env.example lists them.",
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
