import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../base/json/json.js';
import type { OutputLine, ScriptError } from '../services/scripting/run-request.js';
import { actInDomain, type CommandLine } from './command-line.js';
import { printLine } from './console-output.js';

interface RunOptions {
  readonly as?: string;
  readonly args?: string;
  readonly quiet?: boolean;
  readonly dryRun?: boolean;
}

/** `campus run <file>`: a script from a file, its output as it is printed, its result at the end. */
export function registerRunCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--as <user-name>', 'the user it runs as; default: the operator, an admin')
    .option('--args <json>', 'what the script finds in `args`')
    .option('--dry-run', 'roll back what it writes and the messages it queues')
    .option('--quiet', 'do not show what it prints');
  actInDomain<RunOptions>(command, commandLine, async ({ services, scope: operator, options }, file = '') => {
    const code = await readScript(file);
    const args = options.args === undefined ? null : parseArguments(options.args);
    const { as: userName, dryRun: isDryRun } = options;
    const principal =
      userName === undefined ? operator.principal : await services.users.principalOf(operator, { userName });
    const run = await services.scriptRuns.start(
      { ...operator, principal },
      { name: path.basename(file), code },
      {
        ...{ cause: 'commandLine', arguments: args, isDryRun },
        ...(!options.quiet && { onOutput: printOutput }),
      },
    );
    if (run.error !== undefined) throw toFault(run.error);
    if (run.value !== undefined) printLine(printExactJson(run.value));
  });
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('NOT_FOUND', `${file} cannot be read: ${reason}`, { cause });
  }
}

function parseArguments(text: string): JsonValue {
  try {
    return parsePlainJson(text);
  } catch (cause) {
    throw new ServiceError('INVALID_VALUE', `--args is to be JSON, e.g. --args '{"class":"5"}'`, { cause });
  }
}

function printOutput({ level, text }: OutputLine): void {
  process.stderr.write(level === 'info' ? `${text}\n` : `${level}: ${text}\n`);
}

function toFault({ name, message, script, line, column, code }: ScriptError): ServiceError {
  const place = line === undefined ? script : `${script}:${line}:${column ?? 1}`;
  const kind = code === undefined ? name : code;
  return new ServiceError('SCRIPT_FAILED', `${place}: ${kind}: ${message}`);
}
