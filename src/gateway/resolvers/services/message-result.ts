/** The types of messages: the request, and its progress. */
import { ArgsType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { type Edge, edgeType } from '../connection.js';
import { PageArguments } from '../page-arguments.js';
import { PageInfo } from '../records/generic-record.js';

export enum MessageKindValue {
  EMAIL = 'email',
  SMS = 'sms',
}

registerEnumType(MessageKindValue, {
  name: 'MessageKind',
  description: 'The kind of a message.',
  valuesConfig: { EMAIL: { description: 'Email.' }, SMS: { description: 'A text message.' } },
});

export enum MessageStateValue {
  QUEUED = 'queued',
  SENDING = 'sending',
  SENT = 'sent',
  FAILED = 'failed',
  KEPT = 'kept',
}

registerEnumType(MessageStateValue, {
  name: 'MessageState',
  description: 'The state of a message.',
  valuesConfig: {
    QUEUED: { description: 'It will be sent, at once or at `nextAttemptAt`.' },
    SENDING: { description: 'It is being sent to a server.' },
    SENT: { description: 'A server has accepted it.' },
    FAILED: { description: 'It failed for good. `lastError` says why.' },
    KEPT: { description: 'No server is configured. It waits for one.' },
  },
});

@ObjectType('Message', { description: 'An email or a text message.', simpleResolvers: true })
export class MessageResult {
  @Field(() => ID, { description: 'Identifies the message. Increases with time.' })
  readonly id!: string;

  @Field(() => MessageKindValue, { description: 'Email or text message.' })
  readonly kind!: MessageKindValue;

  @Field(() => MessageStateValue, { description: 'Its state.' })
  readonly state!: MessageStateValue;

  @Field(() => [String], { description: 'Addresses or numbers it goes to, those in copy included.' })
  readonly recipients!: readonly string[];

  @Field(() => [String], {
    nullable: true,
    description: 'The recipients that no server has accepted yet, if it accepted others; otherwise null.',
  })
  readonly remaining!: readonly string[] | null;

  @Field(() => String, { nullable: true, description: 'The subject of an email.' })
  readonly subject!: string | null;

  @Field(() => String, { nullable: true, description: 'The text; null for an email in HTML alone.' })
  readonly text!: string | null;

  @Field(() => String, { nullable: true, description: 'The HTML of an email.' })
  readonly html!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The idempotency key of its sender. A message with the same key is sent once.',
  })
  readonly key!: string | null;

  @Field(() => Int, { description: 'The number of attempts.' })
  readonly attempts!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Why the last attempt failed, or which recipients the server rejected.',
  })
  readonly lastError!: string | null;

  @Field(() => String, { nullable: true, description: 'Its id at the mail server or SMS provider.' })
  readonly providerId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The record of a text message in `sms_log`.' })
  readonly recordId!: string | null;

  @Field(() => ID, { description: 'The user or task that requested it.' })
  readonly createdBy!: string;

  @Field(() => DateTime, { description: 'When it was requested.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { description: 'When it reached its state.' })
  readonly updatedAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the next attempt is made; null if at once or never.',
  })
  readonly nextAttemptAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When a server accepted it.' })
  readonly sentAt!: Date | null;
}

const MessageEdge = edgeType('Message', () => MessageResult, 'A message');

@ObjectType({ description: 'A page of messages, the newest first.', simpleResolvers: true })
export class MessageConnection {
  @Field(() => [MessageResult], { description: 'The messages of the page.' })
  readonly nodes!: readonly MessageResult[];

  @Field(() => [MessageEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<MessageResult>[];

  @Field(() => PageInfo, { description: 'The position of the page in the order.' })
  readonly pageInfo!: PageInfo;

  @Field(() => Int, { description: 'The total number. Counted only if selected.' })
  readonly totalCount!: number;
}

@ArgsType()
export class MessagesArguments extends PageArguments {
  @Field(() => MessageKindValue, { nullable: true, description: 'Only of this kind.' })
  readonly kind?: MessageKindValue | null;

  @Field(() => MessageStateValue, { nullable: true, description: 'Only in this state.' })
  readonly state?: MessageStateValue | null;

  @Field(() => String, { nullable: true, description: 'Only to exactly this address or number.' })
  readonly recipient?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only those this user or task asked for.' })
  readonly createdBy?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Only those asked for at this instant or later.' })
  readonly from?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Only those asked for before this instant.' })
  readonly until?: string | null;
}

@InputType({ description: 'A file that comes with an email: its bytes, or a file of the school.' })
export class AttachmentInput {
  @Field(() => String, { nullable: true, description: 'Its name; left out: that of the file.' })
  readonly name?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Its media type; left out: that of the file, else application/octet-stream.',
  })
  readonly contentType?: string | null;

  @Field(() => String, { nullable: true, description: 'Its bytes in base64. Either this or `fileId`.' })
  readonly content?: string | null;

  @Field(() => ID, { nullable: true, description: 'A file you may read.' })
  readonly fileId?: string | null;
}

@InputType({ description: 'An email to send.' })
export class SendEmailInput {
  @Field(() => [String], { description: 'Addresses, e.g. "asha@example.org" or "Asha <asha@example.org>".' })
  readonly to!: readonly string[];

  @Field(() => [String], { nullable: true, description: 'Addresses in copy.' })
  readonly cc?: readonly string[] | null;

  @Field(() => [String], { nullable: true, description: 'Addresses in copy that nobody else sees.' })
  readonly bcc?: readonly string[] | null;

  @Field(() => String, { nullable: true, description: 'The address answers go to; left out: the sender.' })
  readonly replyTo?: string | null;

  @Field(() => String, { nullable: true, description: 'The subject, one line.' })
  readonly subject?: string | null;

  @Field(() => String, { nullable: true, description: 'The text.' })
  readonly text?: string | null;

  @Field(() => String, { nullable: true, description: 'The same as HTML.' })
  readonly html?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'A template the school keeps: the property mailTemplate.<name>, {subject, text, html}.',
  })
  readonly template?: string | null;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description:
      'Values for the templates (Mustache: {{name}}, {{#list}}…{{/list}}), an object. With it, ' +
      'subject, text and html are templates too. A missing value is refused unless the placeholder has a ' +
      'default: {{name|Parent}}.',
  })
  readonly data?: JsonValue;

  @Field(() => [AttachmentInput], { nullable: true, description: 'Files that come with it.' })
  readonly attachments?: readonly AttachmentInput[] | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Your own name for it, e.g. "fee-reminder 2026-07 GV-01042": asked for again under the same ' +
      'one, it is not sent twice. Left out: the header Idempotency-Key.',
  })
  readonly key?: string | null;
}

@InputType({ description: 'A text message to send, to one number or to many.' })
export class SendSmsInput {
  @Field(() => [String], { description: 'Telephone numbers; those without a country are of the school.' })
  readonly to!: readonly string[];

  @Field(() => String, { description: 'The text.' })
  readonly text!: string;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'Values for the text, which is a template then, an object.',
  })
  readonly data?: JsonValue;

  @Field(() => String, {
    nullable: true,
    description: 'The registered template of the text, for the provider.',
  })
  readonly template?: string | null;

  @Field(() => String, { nullable: true, description: 'fee, absence, notice or other.' })
  readonly category?: string | null;

  @Field(() => ID, { nullable: true, description: 'The student or member of staff it is about.' })
  readonly recipient?: string | null;

  @Field(() => String, { nullable: true, description: 'The run it is part of.' })
  readonly batch?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Your own name for it: asked for again under the same one, it is not sent twice. Left out: the ' +
      'header Idempotency-Key.',
  })
  readonly key?: string | null;
}
