/** The command line, `campus`. Each command is a file of this folder, and commands.ts the list of them. */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { sealIntrinsics } from '../seal-intrinsics.js';
import { VERSION } from '../version.js';
import type { CommandLine } from './command-line.js';
import { COMMANDS } from './commands.js';
import { endWithFault, watchConsoleOutput } from './console-output.js';

async function main(): Promise<void> {
  sealIntrinsics(globalThis);
  watchConsoleOutput();
  const program = new Command('campus')
    .description(
      "Serves a school's records as GraphQL and REST. Settings come from the environment; " +
        '.env.example lists them.',
    )
    .version(VERSION)
    .exitOverride();
  const asked = askedCommand(process.argv.slice(2));
  for (const { usage, description, load } of COMMANDS) {
    const command = program.command(usage).description(description);
    if (command.name() === asked) {
      // Before any class with decorators is.
      await import('reflect-metadata');
      const register = await load();
      register(command, await readCommandLine());
    }
    command.exitOverride();
    for (const sub of command.commands) sub.exitOverride();
  }
  await program.parseAsync();
}

/** The first word, or the one after `help`; options of `campus` itself take no words. */
function askedCommand(words: readonly string[]): string | undefined {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

async function readCommandLine(): Promise<CommandLine> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { findMisspelt, parseConfig } = await import('../config.js');
  for (const line of findMisspelt(process.env)) process.stderr.write(`campus: ${line}\n`);
  return { config: parseConfig(process.env) };
}

main().catch((fault: unknown) => {
  process.exitCode = endWithFault(fault);
});
