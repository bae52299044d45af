import { type Command, InvalidArgumentError, Option } from 'commander';
import { MESSAGE_STATES, type Message, type MessageState } from '../services/messaging/message.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { printList } from './print-list.js';

interface DomainOption {
  readonly domain?: string;
}

interface ListOptions extends DomainOption {
  readonly state?: MessageState;
  readonly limit: number;
  readonly json?: boolean;
}

/**
 * `campus message`: emails and text messages, and what became of them. Gateways send them, not the command
 * line.
 */
export function registerMessageCommand(message: Command, commandLine: CommandLine): void {
  message
    .command('list')
    .description('list messages, the newest first')
    .addOption(new Option('--state <state>', 'only in this state').choices([...MESSAGE_STATES]))
    .option('--limit <n>', 'at most so many', parseCount, 50)
    .option('--json', 'print the list as JSON')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((options: ListOptions) =>
      withServices(commandLine, async (services) => {
        const scope = operatorScope(services, options.domain);
        const filter = { state: options.state };
        const { rows } = await services.messageAdmin.list(scope, { filter, limit: options.limit });
        printList({ rows, columns: MESSAGE_COLUMNS, toJson: messageToJson }, options);
      }),
    );

  message
    .command('retry <id>')
    .description('send a message that failed, is kept or waits, as soon as a gateway is free')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((id: string, options: DomainOption) =>
      withServices(commandLine, async (services) => {
        await services.messageAdmin.retry(operatorScope(services, options.domain), id);
        printLine(`queued ${id}`);
      }),
    );

  message
    .command('discard <id>')
    .description('give up a message that was not sent')
    .option('--domain <id>', 'the domain; default: the top one')
    .action((id: string, options: DomainOption) =>
      withServices(commandLine, async (services) => {
        await services.messageAdmin.discard(operatorScope(services, options.domain), id);
        printLine(`discarded ${id}`);
      }),
    );
}

const MESSAGE_COLUMNS = {
  id: ({ id }: Message) => id,
  kind: ({ kind }: Message) => kind,
  state: ({ state }: Message) => state,
  to: ({ recipients }: Message) => recipientsOf(recipients),
  'asked for': ({ createdAt }: Message) => createdAt.toISOString(),
  attempts: ({ attempts }: Message) => String(attempts),
  'last error': ({ lastError }: Message) => lastError ?? '',
};

function messageToJson({ id, kind, state, recipients, subject, createdAt, attempts, lastError }: Message) {
  return {
    ...{ id, kind, state, recipients, attempts },
    subject: subject ?? null,
    createdAt: createdAt.toISOString(),
    lastError: lastError ?? null,
  };
}

function recipientsOf([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= 1000) return count;
  throw new InvalidArgumentError('expected a number from 1 to 1000.');
}
