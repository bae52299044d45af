/** The door to messages: sending them, and managing those that are queued or sent. */
import { invalidAt } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import {
  enumType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import type { Message } from '../../../services/messaging/message.js';
import type { Messages } from '../../../services/messaging/messages.js';
import { connectionType, toConnection } from '../connection.js';
import { instantRange } from '../instant-range.js';
import { PAGE_ARGUMENTS, type PageSizes, toPageRequest } from '../page-arguments.js';
import { type FieldRows, given, serviceResolver } from '../service-resolver.js';

const MessageKindValue = enumType('MessageKind', 'The kind of a message.', {
  email: 'Email.',
  sms: 'A text message.',
});

const MessageStateValue = enumType('MessageState', 'The state of a message.', {
  queued: 'It will be sent, at once or at `nextAttemptAt`.',
  sending: 'It is being sent to a server.',
  sent: 'A server has accepted it.',
  failed: 'It failed for good. `lastError` has the reason.',
  kept: 'No server is configured. It waits for one.',
});

export const MessageResult = objectType('Message', 'An email or a text message.', {
  id: member.id('Identifies the message. Increases with time.'),
  kind: member.of(MessageKindValue, 'Email or text message.'),
  state: member.of(MessageStateValue, 'Its state.'),
  recipients: member.texts('Addresses or numbers it goes to, those in copy included.'),
  remaining: nullable.texts(
    'The recipients that no server has accepted yet, if it accepted others; otherwise null.',
  ),
  subject: nullable.text('The subject of an email.'),
  text: nullable.text('The text; null for an email with HTML only.'),
  html: nullable.text('The HTML of an email.'),
  key: nullable.text('The idempotency key of its sender. A message with the same key is sent once.'),
  attempts: member.whole('The number of attempts.'),
  lastError: nullable.text('Why the last attempt failed, or which recipients the server rejected.'),
  providerId: nullable.text('Its id at the mail server or SMS provider.'),
  recordId: nullable.id('The record of a text message in `sms_log`.'),
  createdBy: member.id('The user or task that requested it.'),
  createdAt: member.instant('When it was requested.'),
  updatedAt: member.instant('When it reached its state.'),
  nextAttemptAt: nullable.instant('When the next attempt is made; null if at once or never.'),
  sentAt: nullable.instant('When a server accepted it.'),
});
export type MessageResult = ValueOf<typeof MessageResult>;

const MessageConnection = connectionType('Message', MessageResult, {
  page: 'A page of messages, the newest first.',
  one: 'A message',
  many: 'The messages',
  isCounted: true,
});

const AttachmentInput = inputType(
  'AttachmentInput',
  'A file that comes with an email: its bytes, or a file of the school.',
  {
    name: nullable.text('Its name; left out: that of the file.'),
    contentType: nullable.text('Its media type; left out: that of the file, else application/octet-stream.'),
    content: nullable.text('Its bytes in base64. Either this or `fileId`.'),
    fileId: nullable.id('A file you may read.'),
  },
);

const SendEmailInput = inputType('SendEmailInput', 'An email to send.', {
  to: member.texts('Addresses, e.g. "asha@example.org" or "Asha <asha@example.org>".'),
  cc: nullable.texts('Addresses in copy.'),
  bcc: nullable.texts('Addresses in blind copy.'),
  replyTo: nullable.text('The address answers go to; left out: the sender.'),
  subject: nullable.text('The subject, one line.'),
  text: nullable.text('The text.'),
  html: nullable.text('The same as HTML.'),
  template: nullable.text(
    'A template the school keeps: the property mailTemplate.<name>, {subject, text, html}.',
  ),
  data: nullable.json(
    'Values for the templates (Mustache: {{name}}, {{#list}}…{{/list}}), an object. With it, ' +
      'subject, text and html are templates too. A missing value is refused unless the placeholder has a ' +
      'default: {{name|Parent}}.',
  ),
  attachments: nullable.list(AttachmentInput, 'Files that come with it.'),
  key: nullable.text(
    'Your own name for it, e.g. "fee-reminder 2026-07 GV-01042": a second request with the same ' +
      'key sends nothing. Left out: the header Idempotency-Key.',
  ),
});

const SendSmsInput = inputType('SendSmsInput', 'A text message to send, to one number or to many.', {
  to: member.texts('Telephone numbers; those without a country are of the school.'),
  text: member.text('The text.'),
  data: nullable.json('Values for the text, which is a template then, an object.'),
  template: nullable.text('The registered template of the text, for the provider.'),
  category: nullable.text('fee, absence, notice or other.'),
  recipient: nullable.id('The student or member of staff it is about.'),
  batch: nullable.text('The run it is part of.'),
  key: nullable.text(
    'Your own name for it: a second request with the same key sends nothing. Left out: the ' +
      'header Idempotency-Key.',
  ),
});

export interface MessageResolverServices {
  readonly messages: Messages;
  readonly pages: PageSizes;
}

export const MessageResolver = serviceResolver(({ query, mutation }: FieldRows<MessageResolverServices>) => ({
  messages: query(
    member.of(
      MessageConnection,
      'Emails and text messages of this domain, the newest first: all of them for an admin, else ' +
        'those that you requested.',
    ),
    {
      ...PAGE_ARGUMENTS,
      kind: nullable.of(MessageKindValue, 'Only of this kind.'),
      state: nullable.of(MessageStateValue, 'Only in this state.'),
      recipient: nullable.text('Only to exactly this address or number.'),
      createdBy: nullable.id('Only messages requested by this user or task.'),
      from: nullable.isoInstant('Only messages requested at this instant or later.'),
      until: nullable.isoInstant('Only messages requested before this instant.'),
    },
    async ({ pages, messages }, scope, sent) => {
      const page = toPageRequest(sent, pages);
      const { kind, state, recipient, createdBy } = sent;
      const range = instantRange(sent, scope.domain.timeZone);
      const filter = { kind, state, recipient, createdBy, ...range };
      const found = await messages.list(scope, { filter, ...page });
      return {
        ...toConnection(found, { toNode: toResult, cursorOf: ({ id }) => id }),
        totalCount: () => messages.count(scope, filter),
      };
    },
  ),
  sendEmail: mutation(
    member.of(
      MessageResult,
      'Queues an email; without a mail server it is KEPT. Needs one of the roles of the setting ' +
        'EMAIL_ROLES. Errors: INVALID_VALUE, LIMIT_EXCEEDED, FORBIDDEN, NOT_FOUND for a template or ' +
        'file, TOO_MANY_REQUESTS, IDEMPOTENCY_CONFLICT.',
    ),
    { data: member.of(SendEmailInput, 'The email.') },
    async ({ messages }, scope, { data: email }, { context }) => {
      const { data, attachments, key, ...others } = given(email);
      const message = await messages.sendEmail(scope, {
        ...others,
        data: toValues(data),
        attachments: attachments?.map(({ name, ...file }) => ({ name: name ?? '', ...given(file) })),
        key: key ?? context.idempotencyKey,
      });
      return toResult(message);
    },
  ),
  sendSms: mutation(
    member.list(
      MessageResult,
      'Queues a text message for each number, all or none, each with its record in `sms_log`, which ' +
        'you must be allowed to create; without a provider they are KEPT. Errors: INVALID_VALUE, ' +
        'LIMIT_EXCEEDED, FORBIDDEN, TOO_MANY_REQUESTS, IDEMPOTENCY_CONFLICT.',
    ),
    { data: member.of(SendSmsInput, 'The message.') },
    async ({ messages }, scope, { data: sms }, { context }) => {
      const { data, key, ...others } = given(sms);
      const request = { ...others, data: toValues(data), key: key ?? context.idempotencyKey };
      return (await messages.sendSms(scope, request)).map(toResult);
    },
  ),
  retryMessage: mutation(
    member.of(
      MessageResult,
      'Sends a message that failed, is kept or waits for its next attempt, now. For admins. Errors: ' +
        'FORBIDDEN, NOT_FOUND, CONFLICT when it was sent.',
    ),
    { id: member.id('The id of the message.') },
    async ({ messages }, scope, { id }) => toResult(await messages.retry(scope, id)),
  ),
  discardMessage: mutation(
    member.of(
      MessageResult,
      'Cancels a message that was not sent. For admins. Errors: FORBIDDEN, NOT_FOUND, ' +
        'CONFLICT when it was sent.',
    ),
    { id: member.id('The id of the message.') },
    async ({ messages }, scope, { id }) => toResult(await messages.discard(scope, id)),
  ),
}));

function toResult({ content, ...message }: Message): MessageResult {
  return { ...message, text: content.text, html: 'html' in content ? content.html : undefined };
}

/** @throws INVALID_VALUE */
function toValues(data: JsonValue | undefined): JsonObject | undefined {
  if (data === undefined || data === null) return undefined;
  if (isJsonObject(data)) return data;
  throw invalidAt('the values of a template are an object', {
    parameter: 'data',
    detail: 'not an object',
    expected: 'e.g. {"name": "Asha"}',
  });
}
