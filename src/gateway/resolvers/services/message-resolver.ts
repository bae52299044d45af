/** The door to messages: sending them, and managing those that are queued or sent. */
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import type { Message } from '../../../services/messaging/message.js';
import type { MessageAdmin } from '../../../services/messaging/message-admin.js';
import type { Messages } from '../../../services/messaging/messages.js';
import { type CountedConnection, toConnection } from '../connection.js';
import { instantRange } from '../instant-range.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import {
  MessageConnection,
  MessageResult,
  MessagesArguments,
  SendEmailInput,
  SendSmsInput,
} from './message-result.js';

export interface MessageResolverServices {
  readonly messages: Messages;
  readonly messageAdmin: MessageAdmin;
  readonly pages: PageSizes;
}

@Resolver()
export class MessageResolver {
  readonly #services: MessageResolverServices;

  constructor(services: MessageResolverServices) {
    this.#services = services;
  }

  @Query(() => MessageConnection, {
    name: 'messages',
    description:
      'Emails and text messages of this domain, the newest first: all of them for an admin, else ' +
      'those you asked for.',
  })
  async list(
    @Ctx() context: RequestContext,
    @Args(() => MessagesArguments) sent: MessagesArguments,
  ): Promise<CountedConnection<MessageResult>> {
    const scope = requireScope(context);
    const page = toPageRequest(sent, this.#services.pages);
    const filter = {
      kind: sent.kind ?? undefined,
      state: sent.state ?? undefined,
      recipient: sent.recipient ?? undefined,
      createdBy: sent.createdBy ?? undefined,
      ...instantRange(sent, scope.domain.timeZone),
    };
    const { messageAdmin } = this.#services;
    const found = await messageAdmin.list(scope, { filter, ...page });
    return {
      ...toConnection(found, { toNode: toResult, cursorOf: ({ id }) => id }),
      totalCount: () => messageAdmin.count(scope, filter),
    };
  }

  @Mutation(() => MessageResult, {
    description:
      'Queues an email; without a mail server it is KEPT. Needs one of the roles of the setting ' +
      'EMAIL_ROLES. Errors: INVALID_VALUE, LIMIT_EXCEEDED, FORBIDDEN, NOT_FOUND for a template or ' +
      'file, TOO_MANY_REQUESTS, IDEMPOTENCY_CONFLICT.',
  })
  async sendEmail(
    @Ctx() context: RequestContext,
    @Arg('data', () => SendEmailInput, { description: 'The email.' }) data: SendEmailInput,
  ): Promise<MessageResult> {
    const message = await this.#services.messages.sendEmail(requireScope(context), {
      to: data.to,
      cc: data.cc ?? undefined,
      bcc: data.bcc ?? undefined,
      replyTo: data.replyTo ?? undefined,
      subject: data.subject ?? undefined,
      text: data.text ?? undefined,
      html: data.html ?? undefined,
      template: data.template ?? undefined,
      data: toValues(data.data),
      attachments: data.attachments?.map((attachment) => ({
        name: attachment.name ?? '',
        contentType: attachment.contentType ?? undefined,
        content: attachment.content ?? undefined,
        fileId: attachment.fileId ?? undefined,
      })),
      key: data.key ?? context.idempotencyKey,
    });
    return toResult(message);
  }

  @Mutation(() => [MessageResult], {
    description:
      'Queues a text message for each number, all or none, each with its record in `sms_log`, which ' +
      'you must be allowed to create; without a provider they are KEPT. Errors: INVALID_VALUE, ' +
      'LIMIT_EXCEEDED, FORBIDDEN, TOO_MANY_REQUESTS, IDEMPOTENCY_CONFLICT.',
  })
  async sendSms(
    @Ctx() context: RequestContext,
    @Arg('data', () => SendSmsInput, { description: 'The message.' }) data: SendSmsInput,
  ): Promise<MessageResult[]> {
    const messages = await this.#services.messages.sendSms(requireScope(context), {
      to: data.to,
      text: data.text,
      data: toValues(data.data),
      template: data.template ?? undefined,
      category: data.category ?? undefined,
      recipient: data.recipient ?? undefined,
      batch: data.batch ?? undefined,
      key: data.key ?? context.idempotencyKey,
    });
    return messages.map(toResult);
  }

  @Mutation(() => MessageResult, {
    description:
      'Sends a message that failed, is kept or waits for its next attempt, now. For admins. Errors: ' +
      'FORBIDDEN, NOT_FOUND, CONFLICT when it was sent.',
  })
  async retryMessage(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the message.' }) id: string,
  ): Promise<MessageResult> {
    return toResult(await this.#services.messageAdmin.retry(requireScope(context), id));
  }

  @Mutation(() => MessageResult, {
    description:
      'Cancels a message that was not sent. For admins. Errors: FORBIDDEN, NOT_FOUND, ' +
      'CONFLICT when it was sent.',
  })
  async discardMessage(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the message.' }) id: string,
  ): Promise<MessageResult> {
    return toResult(await this.#services.messageAdmin.discard(requireScope(context), id));
  }
}

function toResult({ content, ...message }: Message): MessageResult {
  return { ...message, text: content.text, html: 'html' in content ? content.html : undefined };
}

/** @throws INVALID_VALUE */
function toValues(data: JsonValue | undefined): JsonObject | undefined {
  if (data === undefined || data === null) return undefined;
  if (isJsonObject(data)) return data;
  throw new ServiceError('INVALID_VALUE', 'the values of a template are an object', {
    errors: [{ parameter: 'data', detail: 'not an object', expected: 'e.g. {"name": "Asha"}' }],
  });
}
