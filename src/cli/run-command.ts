import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../base/json/json.js';
import type { Scope } from '../base/model/scope.js';
import type { Services } from '../gateway/compose/services.js';
import type { OutputLine, ScriptError } from '../services/scripting/run-request.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';

interface RunOptions {
  readonly domain?: string;
  readonly as?: string;
  readonly args?: string;
  readonly quiet?: boolean;
  readonly dryRun?: boolean;
}

/** `campus run <file>`: a script from a file, its output as it is printed, its result at the end. */
export function registerRunCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--domain <id>', 'the domain; default: the top one')
    .option('--as <user-name>', 'the user it runs as; default: the operator, an admin')
    .option('--args <json>', 'what the script finds in `args`')
    .option('--dry-run', 'roll back what it writes and the messages it queues')
    .option('--quiet', 'do not show what it prints')
    .action((file: string, options: RunOptions) =>
      withServices(commandLine, async (services) => {
        const code = await readScript(file);
        const args = options.args === undefined ? null : parseArguments(options.args);
        const scope = await scopeFor(services, options);
        const run = await services.scriptRuns.start(
          scope,
          { name: path.basename(file), code },
          {
            cause: 'commandLine',
            arguments: args,
            isDryRun: options.dryRun,
            ...(!options.quiet && { onOutput: printOutput }),
          },
        );
        if (run.error !== undefined) throw toFault(run.error);
        if (run.value !== undefined) printLine(printExactJson(run.value));
      }),
    );
}

async function scopeFor(services: Services, { domain, as }: RunOptions): Promise<Scope> {
  const operator = operatorScope(services, domain);
  if (as === undefined) return operator;
  return { ...operator, principal: await services.users.principalOf(operator, { userName: as }) };
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
