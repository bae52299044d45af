/**
 * Sends queued messages. Each job is one attempt; a message whose failure may be temporary gets another job
 * later.
 */
import { isRefused, ServiceError } from '../../base/errors.js';
import type { Domain, Principal, WorkPrincipal } from '../../base/model/scope.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { Database } from '../../store/database/database.js';
import type { Transaction } from '../../store/database/queryable.js';
import { RepeatedWork } from '../../store/database/repeated-work.js';
import type { RecordStore } from '../../store/record-store.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { JobContext, JobQueue } from '../jobs/job-queue.js';
import type { Channels } from './channels.js';
import { type AttachmentFiles, openAttachments } from './email/attachments.js';
import { envelopeOf } from './email/email-request.js';
import {
  assertMayEmail,
  type Delivered,
  DeliveryError,
  type EmailContent,
  type Message,
  type MessageKind,
  type SmsContent,
} from './message.js';
import {
  claimMessage,
  FORGOTTEN_MESSAGES,
  findByProviderId,
  JOB_KEY_PREFIX,
  listKept,
  readAttachments,
  requeueMessage,
  type Settled,
  settleMessage,
} from './message-rows.js';
import type { MessageSettings } from './message-settings.js';
import type { SmsReceipt } from './sms/smpp-channel.js';
import { logScope, logState, SMS_COLLECTION, type SmsLogChange } from './sms/sms-log.js';

export const SEND_TASK = 'messages.send';

export interface MessageDeliveryOptions {
  readonly database: Database;
  readonly domains: Pick<Domains, 'find' | 'assureKnown'>;
  readonly store: RecordStore;
  readonly jobs: JobQueue;
  readonly channels: Pick<Channels, 'findEmail' | 'findSms' | 'has'>;
  readonly files: AttachmentFiles;
  readonly config: MessageSettings;
  /** The present rights of a sender; `undefined`: none. */
  readonly principals: { ofWork(sender: WorkPrincipal): Promise<Principal | undefined> };
}

/** The result of an attempt, for operators. It contains neither address nor text. */
export interface MessageObservation {
  readonly kind: 'messageTried';
  readonly messageKind: MessageKind;
  readonly messageId: string;
  readonly domainId: string;
  /** `queued`: the message will be retried. */
  readonly state: Settled['state'];
  readonly attempt: number;
  readonly reason: string | undefined;
}

/** Each wait is twice the last, up to this, and varies at random from half to one and a half times that. */
const LONGEST_WAIT_MS = 3_600_000;
/**
 * The attempts of a job cover a database that fails during an attempt. Attempts that a server refuses are
 * counted by the message itself.
 */
const MAX_JOB_ATTEMPTS = 25;
const NOT_ALLOWED = 'not sent: the user who queued it may not send it any more';
/** Lost jobs are added again up to this number. */
const MOST_JOBS = 1_000;
const KEPT_BATCH = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Adds the job that sends a message. The key of the job makes sure that a message has only one. */
export async function enqueueSending(
  jobs: JobQueue,
  messageId: string,
  settings: { readonly delayMs?: number },
  tx?: Transaction,
): Promise<void> {
  const options = { key: JOB_KEY_PREFIX + messageId, maxAttempts: MAX_JOB_ATTEMPTS, ...settings };
  await jobs.add(SEND_TASK, { id: messageId }, options, tx);
}

export class MessageDelivery {
  readonly #options: MessageDeliveryOptions;

  constructor(options: MessageDeliveryOptions) {
    this.#options = options;
  }

  /** Makes one attempt. Returns `undefined` if there was nothing to send. */
  async send(
    messageId: string,
    { jobId, signal }: Pick<JobContext, 'jobId' | 'signal'>,
  ): Promise<MessageObservation | undefined> {
    const message = await claimMessage(this.#options.database, messageId, jobId);
    if (message === undefined) return undefined;
    const settled = await this.#attempt(message, signal);
    await this.#settle(message, settled);
    return {
      kind: 'messageTried',
      messageKind: message.kind,
      messageId: message.id,
      domainId: message.domainId,
      state: settled.state,
      attempt: message.attempts,
      reason: settled.lastError,
    };
  }

  /**
   * Queues kept messages of domains that have a channel by now, and messages whose job was lost. Returns
   * their number.
   */
  async release(): Promise<number> {
    const { database, jobs, channels, config } = this.#options;
    let released = 0;
    for (let after = FIRST_ID; ; ) {
      const kept = await listKept(database, { keptHours: config.sendKeptHours, after, limit: KEPT_BATCH });
      for (const { id, domainId, kind } of kept) {
        if (!channels.has(kind, domainId)) continue;
        await inOwnTransaction(database, async (tx) => {
          const queued = await requeueMessage(tx, { domainId, id, states: ['kept'] });
          if (queued) await enqueueSending(jobs, id, {}, tx);
        });
        released++;
      }
      const last = kept.at(-1);
      if (last === undefined || kept.length < KEPT_BATCH) break;
      after = last.id;
    }
    const options = { keyPrefix: JOB_KEY_PREFIX, most: MOST_JOBS, maxAttempts: MAX_JOB_ATTEMPTS };
    return released + (await jobs.addMissing(SEND_TASK, FORGOTTEN_MESSAGES, options));
  }

  /**
   * Records what the network reports of a message that a provider accepted. Returns whether the message is
   * known.
   */
  async note({ providerId, outcome, state }: SmsReceipt): Promise<boolean> {
    const message = await findByProviderId(this.#options.database, providerId);
    if (message === undefined) return false;
    const error = outcome === 'failed' ? `not delivered: ${state}` : undefined;
    await this.#writing(message, (tx) => this.#log(message, { status: outcome, error }, tx));
    return true;
  }

  async #attempt(message: Message, signal: AbortSignal): Promise<Settled> {
    try {
      if (!(await this.#maySend(message))) {
        return { state: 'failed', lastError: NOT_ALLOWED, remaining: message.remaining };
      }
      const delivered = await this.#deliver(message, signal);
      if (delivered === undefined) return { state: 'kept', lastError: 'no server is configured for it' };
      const { remaining, note, providerId } = delivered;
      if (remaining === undefined || remaining.length === 0)
        return { state: 'sent', lastError: note, providerId };
      const reason = `not accepted yet for ${remaining.join(', ')}`;
      return { ...this.#retryOrFail(message, reason), remaining, providerId };
    } catch (error) {
      // The gateway is stopping; another one retries at once.
      if (signal.aborted) return { ...again(message, 0), lastError: 'the gateway stopped' };
      const { kind, reason } = toFailure(error);
      if (kind === 'permanent') return { state: 'failed', lastError: reason, remaining: message.remaining };
      return { ...this.#retryOrFail(message, reason), remaining: message.remaining };
    }
  }

  /** Whether its sender may still send such messages. */
  async #maySend(message: Message): Promise<boolean> {
    const { principals, config, store } = this.#options;
    if (message.sender === undefined) return true;
    const principal = await principals.ofWork(message.sender);
    if (principal === undefined) return false;
    const scope = { domain: await this.#domainOf(message), principal, call: { requestId: '' } };
    return !isRefused(() => {
      if (message.kind === 'email') assertMayEmail(principal, config.emailRoles);
      else store.assertAllowed(scope, SMS_COLLECTION, 'create');
    }, ['FORBIDDEN']);
  }

  async #deliver(message: Message, signal: AbortSignal): Promise<Delivered | undefined> {
    const { channels, database, files } = this.#options;
    const context = { id: message.id, signal };
    if (message.kind === 'sms') {
      return await channels.findSms(message.domainId)?.send(message.content as SmsContent, context);
    }
    const email = channels.findEmail(message.domainId);
    if (email === undefined) return undefined;
    const content = message.content as EmailContent;
    // The sender's rights to the attached files were checked when the message was requested.
    const scope = logScope({ message, domain: await this.#domainOf(message) });
    const attachments = await openAttachments(scope, await readAttachments(database, message.id), files);
    const envelope = message.remaining ?? envelopeOf(content);
    const outgoing = { content, from: email.from, envelope, createdAt: message.createdAt, attachments };
    return await email.channel.send(outgoing, context);
  }

  #retryOrFail(message: Message, reason: string): Settled {
    const { messageMaxAttempts, messageRetryMs } = this.#options.config;
    if (message.attempts >= messageMaxAttempts) {
      return { state: 'failed', lastError: `given up after ${message.attempts} attempts: ${reason}` };
    }
    const waitMs = Math.min(messageRetryMs * 2 ** (message.attempts - 1), LONGEST_WAIT_MS);
    // The random part spreads the retries of messages that failed at the same moment.
    return { ...again(message, waitMs * (0.5 + Math.random())), lastError: reason };
  }

  /** Stores the result, the record in `sms_log` and the job of the next attempt in one transaction. */
  async #settle(message: Message, settled: Settled): Promise<void> {
    const { jobs } = this.#options;
    await this.#writing(message, async (tx) => {
      await settleMessage(tx, message.id, settled);
      if (settled.state === 'sent')
        await this.#log(message, { status: 'sent', providerId: settled.providerId }, tx);
      if (settled.state === 'failed')
        await this.#log(message, { status: 'failed', error: settled.lastError }, tx);
      const { retryInMs: delayMs } = settled;
      if (delayMs !== undefined) await enqueueSending(jobs, message.id, { delayMs }, tx);
    });
  }

  /** Writing to `sms_log` may run scripts, so a place for them is reserved before a connection is taken. */
  async #writing(message: Message, work: (tx: Transaction) => Promise<void>): Promise<void> {
    const { database, domains, store } = this.#options;
    const domain = domains.find(message.domainId);
    if (domain === undefined) await inOwnTransaction(database, work);
    else await store.atomically(logScope({ message, domain }), { writes: [SMS_COLLECTION] }, work);
  }

  async #log(message: Message, change: SmsLogChange, tx: Transaction): Promise<void> {
    const domain = this.#options.domains.find(message.domainId);
    if (domain) await logState(this.#options.store, { message, domain }, change, tx);
  }

  async #domainOf({ domainId }: Message): Promise<Domain> {
    const { domains } = this.#options;
    await domains.assureKnown(domainId);
    const domain = domains.find(domainId);
    if (domain === undefined) throw new DeliveryError('temporary', 'its domain is not known');
    return domain;
  }
}

function again(message: Message, waitMs: number): Settled {
  return {
    state: 'queued',
    lastError: undefined,
    remaining: message.remaining,
    retryInMs: waitMs,
  };
}

function toFailure(error: unknown): { readonly kind: 'permanent' | 'temporary'; readonly reason: string } {
  if (error instanceof DeliveryError) return { kind: error.kind, reason: error.message };
  // Only what the receiver answers is permanent, and a file that was deleted: it stays missing.
  if (error instanceof ServiceError) return { kind: 'temporary', reason: error.message };
  throw error;
}

export const RECEIPT_TASK = 'messages.receipt';
/** A receipt may overtake the note of what it is the receipt of. */
const RECEIPT_DELAY_MS = 2_000;
const RECEIPT_ATTEMPTS = 4;
/** The line is long enough for an outage of the database: some minutes of a centre that is busy. */
const MAX_WAITING = 50_000;

/**
 * Makes jobs of the receipts an SMS centre sends, which it sends once: they wait here while the database is
 * away.
 */
export class ReceiptIntake {
  readonly #jobs: Pick<JobQueue, 'add'>;
  readonly #onFault: (error: unknown) => void;
  readonly #adding: RepeatedWork;
  readonly #waiting: SmsReceipt[] = [];

  constructor(options: {
    readonly jobs: Pick<JobQueue, 'add'>;
    readonly onFault: (error: unknown) => void;
  }) {
    this.#jobs = options.jobs;
    this.#onFault = options.onFault;
    this.#adding = new RepeatedWork({ work: () => this.#addAll(), onFault: options.onFault });
  }

  take(receipt: SmsReceipt): void {
    if (this.#waiting.length >= MAX_WAITING) {
      const { providerId } = receipt;
      this.#onFault(new Error(`The receipt of ${providerId} is lost: ${MAX_WAITING} wait for the database.`));
      return;
    }
    this.#waiting.push(receipt);
    this.#adding.wake();
  }

  /** Waits for receipts that are being added. Those that could not be added by then are reported as lost. */
  async close(): Promise<void> {
    await this.#adding.close();
    const lost = this.#waiting.length;
    if (lost > 0) this.#onFault(new Error(`${lost} receipts of text messages are lost with this process.`));
  }

  async #addAll(): Promise<void> {
    for (let receipt = this.#waiting[0]; receipt !== undefined; receipt = this.#waiting[0]) {
      const options = { delayMs: RECEIPT_DELAY_MS, maxAttempts: RECEIPT_ATTEMPTS };
      await this.#jobs.add(RECEIPT_TASK, { ...receipt }, options);
      this.#waiting.shift();
    }
  }
}
