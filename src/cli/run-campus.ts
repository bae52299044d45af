/** The command line, `campus`. Each command is a file of this folder, and commands.ts the list of them. */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { sealIntrinsics } from '../base/process/seal-intrinsics.js';
import { VERSION } from '../base/process/version.js';
import type { CommandLine } from './command-line.js';
import { COMMANDS } from './commands.js';
import { endWithFault, printNote, watchConsoleOutput } from './console-output.js';

/** Runs one command to its end, and leaves its exit code in `process.exitCode`. */
export async function runCampus(words: readonly string[]): Promise<void> {
  try {
    await runCommand(words);
  } catch (fault) {
    process.exitCode = endWithFault(fault);
  }
}

async function runCommand(words: readonly string[]): Promise<void> {
  sealIntrinsics(globalThis);
  watchConsoleOutput();
  const program = new Command('campus')
    .description(
      "Serves a school's records as GraphQL and REST. Settings come from the environment; " +
        '.env.example lists them.',
    )
    .version(VERSION)
    .exitOverride();
  const requested = requestedCommand(words);
  for (const entry of COMMANDS) {
    const command = program.command(entry.usage).description(entry.description);
    if (entry.usage.split(' ')[0] === requested) {
      // Before any class with decorators is.
      await import('reflect-metadata');
      const register = await entry.load();
      register(command, await readCommandLine());
    }
    command.exitOverride();
    for (const sub of command.commands) sub.exitOverride();
  }
  await program.parseAsync(words, { from: 'user' });
}

/** The first word, or the one after `help`; options of `campus` itself take no words. */
function requestedCommand(words: readonly string[]): string | undefined {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

async function readCommandLine(): Promise<CommandLine> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { findMisspelt, parseConfig } = await import('../gateway/config/config.js');
  for (const line of findMisspelt(process.env)) printNote(line);
  return { config: parseConfig(process.env) };
}
