import path from 'node:path';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { defined, type JsonValue, parsePlainJson, printExactJson } from '../base/json/json.js';
import { readNamedFile } from '../services/backup/save-backup.js';
import type { ScriptOutline } from '../services/scripting/library/scripts.js';
import type { OutputLine, ScriptError } from '../services/scripting/run-request.js';
import { actInDomain, type CommandLine } from './command-line.js';
import { printLine } from './console-output.js';
import { addListCommand, membersOf } from './print-table.js';

interface SaveOptions {
  readonly description?: string;
  readonly role?: string[];
  readonly serviceRole?: string[];
  readonly schedule?: string;
  readonly topic?: string[];
  readonly before?: string[];
  readonly after?: string[];
  readonly endpoint?: string;
  readonly disabled?: boolean;
}

const WRITES = 'e.g. fee_receipt:create,update';

/** `campus script`: the scripts the school keeps. */
export function registerScriptCommand(script: Command, commandLine: CommandLine): void {
  const save = script
    .command('save <name> <file>')
    .description('save a whole script; options that are left out have their defaults')
    .option('--description <text>', 'what it is for')
    .option('--role <role...>', 'roles that may run it, in addition to admins')
    .option('--service-role <role...>', 'roles it runs with, instead of as its caller')
    .option('--schedule <cron>', 'minute hour day month weekday, in the time zone of the domain')
    .option('--topic <topic...>', 'topics whose messages start it')
    .option('--before <writes...>', `writes it may change or refuse, ${WRITES}`)
    .option('--after <writes...>', `writes it runs after, ${WRITES}`)
    .option('--endpoint <access>', 'serve /x/<name>: public, or caller for users who may run it')
    .option('--disabled', 'keep it, but do not let it run');
  actInDomain<SaveOptions>(save, commandLine, async ({ services, scope, options }, name = '', file = '') => {
    const sent = { name, code: String(await readNamedFile(file)), ...settingsOf(options) };
    const saved = await services.scripts.save(scope, sent);
    printLine(`saved ${saved.name}, version ${saved.version}`);
  });

  addListCommand(script, commandLine, {
    description: 'list the scripts with what starts them',
    rowsOf: ({ services, scope }) => services.scripts.list(scope),
    columns: {
      name: ({ name }: ScriptOutline) => name,
      version: ({ version }) => String(version),
      enabled: ({ isEnabled }) => (isEnabled ? 'yes' : 'no'),
      'runs as': ({ serviceRoles }) => serviceRoles?.join(', ') ?? 'its caller',
      'started by': (outline) => startsOf(outline).join('; '),
      description: ({ description }) => description,
    },
    toJson: membersOf<ScriptOutline>(
      ...(['name', 'version', 'description', 'isEnabled', 'roles', 'serviceRoles'] as const),
      ...(['before', 'after', 'schedule', 'topics', 'endpoint', 'updatedAt', 'updatedBy'] as const),
    ),
  });

  const remove = script.command('remove <name>').description('remove a script; its versions and runs stay');
  actInDomain(remove, commandLine, async ({ services, scope }, name = '') => {
    await services.scripts.remove(scope, name);
    printLine(`removed ${name}`);
  });
}

function settingsOf(options: SaveOptions): Readonly<Record<string, unknown>> {
  const { role, serviceRole, topic, before, after, endpoint, description, schedule } = options;
  return {
    ...defined({ description, schedule, roles: role, serviceRoles: serviceRole, topics: topic }),
    ...(before && { before: before.map((text) => parseWrites('--before', text)) }),
    ...(after && { after: after.map((text) => parseWrites('--after', text)) }),
    ...(endpoint !== undefined && { endpoint: { access: endpoint } }),
    isEnabled: options.disabled !== true,
  };
}

/** `fee_receipt:create,update`. */
function parseWrites(
  option: string,
  text: string,
): { readonly collection: string; readonly operations: string[] } {
  const [collection = '', operations] = text.split(':');
  if (collection !== '' && operations !== undefined) return { collection, operations: operations.split(',') };
  throw new ServiceError(
    'INVALID_VALUE',
    `${option} ${text}: a collection and its writes are expected, ${WRITES}`,
  );
}

function startsOf(script: ScriptOutline): string[] {
  const writes = (when: string, triggers: typeof script.before) =>
    triggers.map(({ collection, operations }) => `${when} ${operations.join(', ')} of ${collection}`);
  return [
    ...writes('before', script.before),
    ...writes('after', script.after),
    ...(script.schedule === undefined ? [] : [`schedule ${script.schedule}`]),
    ...script.topics.map((topic) => `topic ${topic}`),
    ...(script.endpoint === undefined ? [] : [`${script.endpoint.access} endpoint`]),
  ];
}

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
    .option('--args <json>', 'the `args` of the script')
    .option('--dry-run', 'roll back what it writes and the messages it queues')
    .option('--quiet', 'do not show what it prints');
  actInDomain<RunOptions>(command, commandLine, async ({ services, scope: operator, options }, file = '') => {
    const code = String(await readNamedFile(file));
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

function parseArguments(text: string): JsonValue {
  try {
    return parsePlainJson(text);
  } catch (cause) {
    throw new ServiceError('INVALID_VALUE', `--args must be JSON, e.g. --args '{"class":"5"}'`, { cause });
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
