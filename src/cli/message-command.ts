import { type Command, InvalidArgumentError, Option } from 'commander';
import { MESSAGE_STATES, type Message, type MessageState } from '../services/messaging/message.js';
import { actInDomain, type CommandLine, type DomainWork } from './command-line.js';
import { printLine } from './console-output.js';
import { addListCommand, membersOf } from './print-table.js';

interface ListOptions {
  readonly state?: MessageState;
  readonly limit: number;
  readonly json?: boolean;
}

/**
 * `campus message`: emails and text messages, and what became of them. Gateways send them, not the command
 * line.
 */
export function registerMessageCommand(message: Command, commandLine: CommandLine): void {
  addListCommand(message, commandLine, {
    description: 'list messages, the newest first',
    rowsOf: async ({ services, scope, options: { state, limit } }: DomainWork<ListOptions>) =>
      (await services.messages.list(scope, { filter: { state }, limit })).rows,
    columns: {
      id: ({ id }: Message) => id,
      kind: ({ kind }) => kind,
      state: ({ state }) => state,
      to: ({ recipients: [first = '', ...others] }) =>
        others.length === 0 ? first : `${first} and ${others.length} more`,
      requested: ({ createdAt }) => createdAt.toISOString(),
      attempts: ({ attempts }) => String(attempts),
      'last error': ({ lastError }) => lastError ?? '',
    },
    toJson: membersOf<Message>(
      ...(['id', 'kind', 'state', 'recipients', 'subject', 'createdAt', 'attempts', 'lastError'] as const),
    ),
  })
    .addOption(new Option('--state <state>', 'only in this state').choices([...MESSAGE_STATES]))
    .option('--limit <n>', 'the most messages to list', parseCount, 50);

  const retry = message
    .command('retry <id>')
    .description('send a message that failed, is kept or waits, as soon as a gateway is free');
  actInDomain(retry, commandLine, async ({ services, scope }, id = '') => {
    await services.messages.retry(scope, id);
    printLine(`queued ${id}`);
  });

  const discard = message.command('discard <id>').description('discard a message that was not sent');
  actInDomain(discard, commandLine, async ({ services, scope }, id = '') => {
    await services.messages.discard(scope, id);
    printLine(`discarded ${id}`);
  });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= 1000) return count;
  throw new InvalidArgumentError('expected a number from 1 to 1000.');
}
