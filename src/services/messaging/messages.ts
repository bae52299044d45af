/**
 * Queues email and text messages: they are stored in the caller's transaction, and a job sends them a moment
 * later (`MessageDelivery`). Lists them for people, who can also send an unsent message now, or discard it.
 *
 * A message is sent at least once: a gateway that dies before it records the acceptance by a server sends it
 * again, with the same Message-ID or Idempotency-Key. With a key of the caller, it is queued exactly once.
 */
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { invalidAt, ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import { DEFAULT_CALLING_CODE } from '../../base/model/phone-number.js';
import { type Scope, toWorkPrincipal, type WorkPrincipal } from '../../base/model/scope.js';
import { isAdmin, refusedByScopes } from '../../store/access/access.js';
import type { Domains } from '../../store/catalog/domains.js';
import { assertIdOf, type KeysetPage, type KeysetRequest, withPlaces } from '../../store/database/keyset.js';
import type { Transaction } from '../../store/database/queryable.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import { toAttachments } from './email/attachments.js';
import { type EmailRequest, envelopeOf, type TemplateTexts, toEmailContent } from './email/email-request.js';
import { type Attachment, assertMayEmail, type Message, type MessageKind } from './message.js';
import { enqueueSending, type MessageDeliveryOptions } from './message-delivery.js';
import {
  countMessages,
  countOfLastHour,
  findMessage,
  findRepeated,
  insertAttachments,
  insertMessage,
  listMessages,
  type MessageFilter,
  type NewMessage,
  requeueMessage,
  settleMessage,
} from './message-rows.js';
import { logQueued, logState, SMS_COLLECTION } from './sms/sms-log.js';
import { type SmsRequest, toSmsMessages } from './sms/sms-request.js';

type SharedOptions = Pick<
  MessageDeliveryOptions,
  'database' | 'store' | 'jobs' | 'files' | 'config' | 'channels'
>;

export interface MessagesOptions extends SharedOptions {
  readonly domains: Pick<Domains, 'property'>;
}

const assertMessageId = assertIdOf('a message');
const KEY = /^[\x20-\x7e]{1,200}$/;
const QUOTA_RETRY_SECONDS = 600;

export class Messages {
  readonly #options: MessagesOptions;

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  /** Whether the caller may send email. */
  mayEmail({ principal }: Scope): boolean {
    const { emailRoles } = this.#options.config;
    return principal.scopes === undefined && emailRoles.some((role) => principal.roles.has(role));
  }

  /**
   * Queues an email as part of the transaction `within`; its state is `kept` if the domain has no mail
   * server.
   *
   * @throws INVALID_VALUE, LIMIT_EXCEEDED; FORBIDDEN; NOT_FOUND for a template or file; TOO_MANY_REQUESTS;
   *   IDEMPOTENCY_CONFLICT if the key was used for another email
   */
  async sendEmail(scope: Scope, request: EmailRequest, within?: Transaction): Promise<Message> {
    const { config } = this.#options;
    assertMayEmail(scope.principal, config.emailRoles);
    const content = toEmailContent(request, this.#storedTemplate(scope, request.template), {
      maxRecipients: config.messageMaxRecipients,
      maxBytes: config.emailMaxBytes,
      onHint: scope.call.onHint,
    });
    const attachments = await toAttachments(scope, request.attachments ?? [], {
      files: this.#options.files,
      within,
    });
    const size = sizeOf([content.subject, content.text, content.html], attachments);
    if (size > config.emailMaxBytes) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `an email holds at most ${config.emailMaxBytes} bytes with its attachments, this one ${size}`,
      );
    }
    const message = {
      ...this.#newMessage(scope, 'email', request.key, request),
      recipients: envelopeOf(content),
      subject: content.subject,
      content,
      size,
      recordId: undefined,
    };
    const queue = async (tx: Transaction): Promise<Message> => {
      await this.#assertRate(tx, scope, 'email', message.recipients.length);
      return await this.#queue(tx, message, () => insertAttachments(tx, message.id, attachments));
    };
    return within === undefined ? await inOwnTransaction(this.#options.database, queue) : await queue(within);
  }

  /**
   * Queues a text message for each number, all or none, each with its record of `sms_log`.
   *
   * @throws INVALID_VALUE for a number or text; LIMIT_EXCEEDED; FORBIDDEN if the caller may not create
   *   records of `sms_log`; TOO_MANY_REQUESTS; IDEMPOTENCY_CONFLICT
   */
  async sendSms(scope: Scope, request: SmsRequest, within?: Transaction): Promise<Message[]> {
    const { config, store } = this.#options;
    const outgoing = toSmsMessages(request, {
      callingCode: scope.domain.callingCode ?? DEFAULT_CALLING_CODE,
      maxRecipients: config.messageMaxRecipients,
      maxSegments: config.smsMaxSegments,
      onHint: scope.call.onHint,
    });
    const queueAll = async (tx: Transaction): Promise<Message[]> => {
      await this.#assertRate(tx, scope, 'sms', outgoing.length);
      const queued: Message[] = [];
      for (const sms of outgoing) {
        const key =
          request.key === undefined ? undefined : keyFor(request.key, sms.content.to, outgoing.length);
        const base = this.#newMessage(scope, 'sms', key, { ...request, to: sms.content.to });
        const message = {
          ...base,
          recipients: [sms.content.to],
          subject: undefined,
          content: sms.content,
          size: sms.size,
          recordId: base.id,
        };
        queued.push(await this.#queue(tx, message, () => logQueued(store, scope, tx, { id: base.id, sms })));
      }
      return queued;
    };
    if (within !== undefined) return await queueAll(within);
    return await store.atomically(scope, { writes: [SMS_COLLECTION] }, queueAll);
  }

  /**
   * Lists messages, the newest first. An admin sees all messages of the domain, other users their own.
   * @throws FORBIDDEN for API keys
   */
  async list(
    scope: Scope,
    { filter, ...page }: KeysetRequest & { readonly filter: MessageFilter },
  ): Promise<KeysetPage<Message>> {
    return await listMessages(this.#options.database, scope.domain.id, {
      ...withPlaces(page, assertMessageId),
      filter: visibleTo(scope, filter),
    });
  }

  async count(scope: Scope, filter: MessageFilter): Promise<number> {
    return await countMessages(this.#options.database, scope.domain.id, visibleTo(scope, filter));
  }

  /**
   * Sends a message now that failed, is kept, or waits for its next attempt. @throws FORBIDDEN unless the
   * caller is an admin; NOT_FOUND; CONFLICT for a message in another state
   */
  async retry(scope: Scope, id: string): Promise<Message> {
    const { jobs, store } = this.#options;
    const act = {
      does: 'sends messages again',
      done: 'sent again',
      sender: toWorkPrincipal(scope.principal),
    };
    return await this.#take(scope, id, act, async (tx, message) => {
      await logState(store, { message, domain: scope.domain }, { status: 'queued' }, tx);
      await enqueueSending(jobs, message.id, {}, tx);
      return message;
    });
  }

  /**
   * Discards a message that has not been sent. @throws FORBIDDEN unless the caller is an admin; NOT_FOUND;
   * CONFLICT for a message in another state
   */
  async discard(scope: Scope, id: string): Promise<Message> {
    const { store } = this.#options;
    const act = { does: 'discards messages', done: 'discarded', sender: undefined };
    return await this.#take(scope, id, act, async (tx, message) => {
      const lastError = `discarded by ${scope.principal.id}`;
      await settleMessage(tx, message.id, { state: 'failed', lastError });
      await logState(store, { message, domain: scope.domain }, { status: 'failed', error: lastError }, tx);
      return { ...message, state: 'failed', lastError };
    });
  }

  /** Takes an unsent message back into the queue, for an admin, and does the work in the same transaction. */
  async #take(
    scope: Scope,
    id: string,
    act: { readonly does: string; readonly done: string; readonly sender: WorkPrincipal | undefined },
    work: (tx: Transaction, message: Message) => Promise<Message>,
  ): Promise<Message> {
    const { domain, principal } = scope;
    if (!isAdmin(principal)) throw new ServiceError('FORBIDDEN', `only an admin ${act.does}`);
    return await this.#options.store.atomically(scope, { writes: [SMS_COLLECTION] }, async (tx) => {
      const target = { domainId: domain.id, id: assertMessageId(id, 'id'), sender: act.sender };
      const taken = await requeueMessage(tx, { ...target, states: ['failed', 'kept', 'queued'] });
      if (taken !== undefined) return await work(tx, taken);
      const message = await findMessage(tx, domain.id, id);
      if (message === undefined) throw new ServiceError('NOT_FOUND', `there is no message "${id}"`);
      throw new ServiceError('CONFLICT', `the message is ${message.state} and cannot be ${act.done}`);
    });
  }

  async #queue(tx: Transaction, message: NewMessage, work: () => Promise<void>): Promise<Message> {
    const inserted = await insertMessage(tx, message);
    if (inserted === undefined) return (await findRepeated(tx, message)) ?? keyConflict(message.key);
    await work();
    if (inserted.state === 'queued') await enqueueSending(this.#options.jobs, inserted.id, {}, tx);
    return inserted;
  }

  #newMessage(scope: Scope, kind: MessageKind, key: string | undefined, request: object) {
    if (key !== undefined && !KEY.test(key)) {
      const expected = '1 to 200 printable ASCII characters';
      throw invalidAt(`a key is ${expected}`, {
        parameter: 'key',
        detail: 'not a key',
        expected,
        sent: key.slice(0, 100),
      });
    }
    const state: 'queued' | 'kept' = this.#options.channels.has(kind, scope.domain.id) ? 'queued' : 'kept';
    return {
      id: uuidv7(),
      domainId: scope.domain.id,
      kind,
      state,
      key,
      requestHash:
        key === undefined ? undefined : createHash('sha256').update(JSON.stringify(request)).digest(),
      createdBy: scope.principal.id,
      sender: toWorkPrincipal(scope.principal),
      requestId: scope.call.requestId,
      scriptDepth: scope.call.scriptDepth ?? 0,
    };
  }

  /** @throws NOT_FOUND, INVALID_VALUE */
  #storedTemplate(scope: Scope, name: string | undefined): TemplateTexts | undefined {
    if (name === undefined) return undefined;
    const value = this.#options.domains.property(scope.domain.id, `mailTemplate.${name}`);
    if (value === undefined) {
      throw new ServiceError(
        'NOT_FOUND',
        `there is no mail template "${name}": it would be the property mailTemplate.${name}`,
      );
    }
    return toTemplate(name, value);
  }

  async #assertRate(tx: Transaction, scope: Scope, kind: MessageKind, more: number): Promise<void> {
    const { emailsPerHour, smsPerHour } = this.#options.config;
    const limit = kind === 'email' ? emailsPerHour : smsPerHour;
    const sent = await countOfLastHour(tx, scope.domain.id, kind);
    if (sent + more <= limit) return;
    const setting = kind === 'email' ? 'EMAILS_PER_HOUR' : 'SMS_PER_HOUR';
    const what = kind === 'email' ? 'emails (one for each recipient)' : 'text messages';
    throw new ServiceError(
      'TOO_MANY_REQUESTS',
      `a school sends at most ${limit} ${what} an hour (${setting}), and has requested ${sent}`,
      { retryAfterSeconds: QUOTA_RETRY_SECONDS },
    );
  }
}

/** @throws IDEMPOTENCY_CONFLICT */
function keyConflict(key: string | undefined): never {
  throw new ServiceError(
    'IDEMPOTENCY_CONFLICT',
    `the key "${key}" is that of another message; use a new one`,
    { errors: [{ parameter: 'key', detail: 'used for another message', sent: key }] },
  );
}

function sizeOf(texts: readonly (string | undefined)[], attachments: readonly Attachment[]): number {
  const text = texts.reduce((sum, part) => sum + Buffer.byteLength(part ?? ''), 0);
  return attachments.reduce((sum, { content }) => sum + (content?.length ?? 0), text);
}

/**
 * The key of the message to one number: with several numbers, each has a key derived from that of the
 * request.
 */
function keyFor(key: string, to: string, count: number): string {
  return count === 1 ? key : `${key} ${to}`;
}

/** @throws INVALID_VALUE */
function toTemplate(name: string, value: JsonValue): TemplateTexts {
  const texts = isJsonObject(value) ? Object.entries(value) : [['', value] as const];
  const isTemplate = texts.every(
    ([part, text]) => ['subject', 'text', 'html'].includes(part) && typeof text === 'string',
  );
  if (isTemplate) return Object.fromEntries(texts);
  throw new ServiceError(
    'INVALID_VALUE',
    `the property mailTemplate.${name} is not a template: expected {"subject": …, "text": …, "html": ` +
      '…}, each a text',
  );
}

/** @throws FORBIDDEN */
function visibleTo({ principal }: Scope, filter: MessageFilter): MessageFilter {
  if (principal.scopes !== undefined) {
    throw refusedByScopes(principal, "the API key's scopes do not allow it to read messages");
  }
  if (principal.roles.has('admin')) return filter;
  if (filter.createdBy !== undefined && filter.createdBy !== principal.id) {
    throw new ServiceError('FORBIDDEN', 'only an admin sees the messages of others');
  }
  return { ...filter, createdBy: principal.id };
}
