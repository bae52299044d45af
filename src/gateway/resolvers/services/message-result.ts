/** The types of messages: the request, and its progress. */

import {
  argumentsType,
  enumType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { connectionType } from '../connection.js';
import { PAGE_ARGUMENTS } from '../page-arguments.js';

const MessageKindValue = enumType('MessageKind', 'The kind of a message.', {
  email: 'Email.',
  sms: 'A text message.',
});

const MessageStateValue = enumType('MessageState', 'The state of a message.', {
  queued: 'It will be sent, at once or at `nextAttemptAt`.',
  sending: 'It is being sent to a server.',
  sent: 'A server has accepted it.',
  failed: 'It failed for good. `lastError` says why.',
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
  text: nullable.text('The text; null for an email in HTML alone.'),
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

export const MessageConnection = connectionType('Message', MessageResult, {
  page: 'A page of messages, the newest first.',
  one: 'A message',
  many: 'The messages',
  isCounted: true,
});

export const MessagesArguments = argumentsType({
  ...PAGE_ARGUMENTS,
  kind: nullable.of(MessageKindValue, 'Only of this kind.'),
  state: nullable.of(MessageStateValue, 'Only in this state.'),
  recipient: nullable.text('Only to exactly this address or number.'),
  createdBy: nullable.id('Only those this user or task asked for.'),
  from: nullable.isoInstant('Only those asked for at this instant or later.'),
  until: nullable.isoInstant('Only those asked for before this instant.'),
});
export type MessagesArguments = ValueOf<typeof MessagesArguments>;

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

export const SendEmailInput = inputType('SendEmailInput', 'An email to send.', {
  to: member.texts('Addresses, e.g. "asha@example.org" or "Asha <asha@example.org>".'),
  cc: nullable.texts('Addresses in copy.'),
  bcc: nullable.texts('Addresses in copy that nobody else sees.'),
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
    'Your own name for it, e.g. "fee-reminder 2026-07 GV-01042": asked for again under the same ' +
      'one, it is not sent twice. Left out: the header Idempotency-Key.',
  ),
});
export type SendEmailInput = ValueOf<typeof SendEmailInput>;

export const SendSmsInput = inputType('SendSmsInput', 'A text message to send, to one number or to many.', {
  to: member.texts('Telephone numbers; those without a country are of the school.'),
  text: member.text('The text.'),
  data: nullable.json('Values for the text, which is a template then, an object.'),
  template: nullable.text('The registered template of the text, for the provider.'),
  category: nullable.text('fee, absence, notice or other.'),
  recipient: nullable.id('The student or member of staff it is about.'),
  batch: nullable.text('The run it is part of.'),
  key: nullable.text(
    'Your own name for it: asked for again under the same one, it is not sent twice. Left out: the ' +
      'header Idempotency-Key.',
  ),
});
export type SendSmsInput = ValueOf<typeof SendSmsInput>;
