/** The types of messages: the request, and its progress. */
import { ArgsType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../json.js';
import { DateTime } from '../../scalars/date-time.js';
import { GraphqlJsonScalar } from '../../scalars/json-scalar.js';
import { type Edge, edgeType } from '../connection.js';
import { PageArguments } from '../page-arguments.js';
import { PageInfo } from '../records/generic-record.js';

export enum MessageKindValue {
  EMAIL = 'email',
  SMS = 'sms',
}

registerEnumType(MessageKindValue, {
  name: 'MessageKind',
  description: 'By what way a message goes.',
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
  description: 'How far a message got.',
  valuesConfig: {
    QUEUED: { description: 'It will be sent, at once or at `nextAttemptAt`.' },
    SENDING: { description: 'A server is being spoken to.' },
    SENT: { description: 'A server has taken it.' },
    FAILED: { description: 'It was given up; `lastError` says why.' },
    KEPT: { description: 'There is no server to send it by; it waits for one.' },
  },
});

@ObjectType('Message', { description: 'An email or a text message on its way.', simpleResolvers: true })
export class MessageResult {
  @Field(() => ID, { description: 'Names the message; goes up with time.' })
  readonly id!: string;

  @Field(() => MessageKindValue, { description: 'Email or text message.' })
  readonly kind!: MessageKindValue;

  @Field(() => MessageStateValue, { description: 'How far it got.' })
  readonly state!: MessageStateValue;

  @Field(() => [String], { description: 'Addresses or numbers it goes to, those in copy included.' })
  readonly recipients!: readonly string[];

  @Field(() => [String], {
    nullable: true,
    description: 'Those no server has taken yet, where it took others; null: there is no such difference.',
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
    description: 'The name its sender gave it, under which it is sent once.',
  })
  readonly key!: string | null;

  @Field(() => Int, { description: 'How often it was tried.' })
  readonly attempts!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Why the last attempt did not succeed, or whom the server refused.',
  })
  readonly lastError!: string | null;

  @Field(() => String, { nullable: true, description: 'What the mail server or SMS provider calls it.' })
  readonly providerId!: string | null;

  @Field(() => ID, { nullable: true, description: 'Of a text message: its record in `sms_log`.' })
  readonly recordId!: string | null;

  @Field(() => ID, { description: 'The user, or the task, that asked for it.' })
  readonly createdBy!: string;

  @Field(() => DateTime, { description: 'When it was asked for.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { description: 'When it got as far as it is.' })
  readonly updatedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it is tried again; null: at once, or not.' })
  readonly nextAttemptAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When a server took it.' })
  readonly sentAt!: Date | null;
}

const MessageEdge = edgeType('Message', () => MessageResult, 'A message');

@ObjectType({ description: 'A page of messages, the newest first.', simpleResolvers: true })
export class MessageConnection {
  @Field(() => [MessageResult], { description: 'The messages of the page.' })
  readonly nodes!: readonly MessageResult[];

  @Field(() => [MessageEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<MessageResult>[];

  @Field(() => PageInfo, { description: 'Where the page stands.' })
  readonly pageInfo!: PageInfo;

  @Field(() => Int, { description: 'How many there are in all. Counted only when asked for.' })
  readonly totalCount!: number;
}

@ArgsType()
export class MessagesArguments extends PageArguments {
  @Field(() => MessageKindValue, { nullable: true, description: 'Only of this kind.' })
  readonly kind?: MessageKindValue | null;

  @Field(() => MessageStateValue, { nullable: true, description: 'Only in this state.' })
  readonly state?: MessageStateValue | null;

  @Field(() => String, { nullable: true, description: 'Only to this address or number, to the letter.' })
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
      'Values for the templates (Mustache: {{name}}, {{#list}}…{{/list}}), an object. Given, ' +
      'subject, text and html are templates too.',
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
