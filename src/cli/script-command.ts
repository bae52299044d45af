import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import type { ScriptOutline } from '../services/scripting/library/scripts.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { printList } from './print-list.js';

interface DomainOption {
  readonly domain?: string;
}

interface SaveOptions extends DomainOption {
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
  script
    .command('save <name> <file>')
    .description('save a script as a whole; what is not said is at its default')
    .option('--domain <id>', 'the domain; default: the top one')
    .option('--description <text>', 'what it is for')
    .option('--role <role...>', 'roles that may run it, beside admins')
    .option('--service-role <role...>', 'roles it runs with, instead of as its caller')
    .option('--schedule <cron>', 'minute hour day month weekday, in the time zone of the domain')
    .option('--topic <topic...>', 'topics whose messages start it')
    .option('--before <writes...>', `writes it may change or refuse, ${WRITES}`)
    .option('--after <writes...>', `writes it runs after, ${WRITES}`)
    .option('--endpoint <access>', 'answers /x/<name>: public, or caller for those who may run it')
    .option('--disabled', 'keep it, but do not let it run')
    .action((name: string, file: string, options: SaveOptions) =>
      withServices(commandLine, async (services) => {
        const saved = await services.scripts.save(operatorScope(services, options.domain), {
          name,
          code: await readFile(file, 'utf8'),
          ...settingsOf(options),
        });
        printLine(`saved ${saved.name}, version ${saved.version}`);
      }),
    );

  script
    .command('list')
    .description('list the scripts with what starts them')
    .option('--json', 'print the list as JSON, without the code')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((options: DomainOption & { readonly json?: boolean }) =>
      withServices(commandLine, async (services) => {
        const rows = services.scripts.list(operatorScope(services, options.domain));
        printList({ rows, columns: SCRIPT_COLUMNS, toJson: scriptToJson }, options);
      }),
    );

  script
    .command('remove <name>')
    .description('take a script away; its versions and runs stay')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((name: string, options: DomainOption) =>
      withServices(commandLine, async (services) => {
        await services.scripts.remove(operatorScope(services, options.domain), name);
        printLine(`removed ${name}`);
      }),
    );
}

function settingsOf(options: SaveOptions): Readonly<Record<string, unknown>> {
  const { role, serviceRole, topic, before, after, endpoint, description, schedule } = options;
  return {
    ...(description !== undefined && { description }),
    ...(role && { roles: role }),
    ...(serviceRole && { serviceRoles: serviceRole }),
    ...(schedule !== undefined && { schedule }),
    ...(topic && { topics: topic }),
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

const SCRIPT_COLUMNS = {
  name: ({ name }: ScriptOutline) => name,
  version: ({ version }: ScriptOutline) => String(version),
  enabled: ({ isEnabled }: ScriptOutline) => (isEnabled ? 'yes' : 'no'),
  'runs as': ({ serviceRoles }: ScriptOutline) => serviceRoles?.join(', ') ?? 'its caller',
  'started by': (script: ScriptOutline) => startsOf(script).join('; '),
  description: ({ description }: ScriptOutline) => description,
};

function scriptToJson(script: ScriptOutline) {
  const { name, version, description, isEnabled, roles, before, after, topics, endpoint } = script;
  const toTrigger = ({ collection, operations }: ScriptOutline['before'][number]) => ({
    collection,
    operations,
  });
  return {
    ...{ name, version, description, isEnabled, roles, topics },
    serviceRoles: script.serviceRoles ?? null,
    before: before.map(toTrigger),
    after: after.map(toTrigger),
    schedule: script.schedule ?? null,
    endpoint: endpoint === undefined ? null : { access: endpoint.access, methods: endpoint.methods },
    updatedAt: script.updatedAt.toISOString(),
    updatedBy: script.updatedBy,
  };
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
