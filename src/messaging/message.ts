/** A message on its way: what is to be sent, and how far it got. */

export type MessageKind = 'email' | 'sms';

/**
 * `queued`: will be sent, at once or at `nextAttemptAt`. `sending`: a server is being spoken to. `sent`: a
 * server has taken it. `failed`: given up, with the reason. `kept`: there is nothing to send it by; it waits
 * for a server to be configured.
 */
export const MESSAGE_STATES = ['queued', 'sending', 'sent', 'failed', 'kept'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export interface EmailContent {
  /** Absent: the school's own. */
  readonly from?: string;
  readonly replyTo?: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
}

export interface SmsContent {
  /** E.164. */
  readonly to: string;
  readonly text: string;
  /** The name the provider or the regulator knows the text by. */
  readonly template?: string;
}

export interface Message {
  readonly id: string;
  readonly domainId: string;
  readonly kind: MessageKind;
  readonly state: MessageState;
  readonly key: string | undefined;
  /** Addresses or numbers, those in copy included. */
  readonly recipients: readonly string[];
  /** Those no server has taken yet, when one took others. */
  readonly remaining: readonly string[] | undefined;
  readonly content: EmailContent | SmsContent;
  readonly subject: string | undefined;
  readonly attempts: number;
  /** Why the last attempt did not succeed, or whom a server refused. */
  readonly lastError: string | undefined;
  /** What the mail server or SMS provider calls it. */
  readonly providerId: string | undefined;
  /** The record of `sms_log`. */
  readonly recordId: string | undefined;
  /** How many scripts, one started by the other, led to it. */
  readonly scriptDepth: number;
  /** `_id` of the user, or the name of the task. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly nextAttemptAt: Date | undefined;
  readonly sentAt: Date | undefined;
}

export interface Attachment {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer | undefined;
  /** Instead of the bytes: a file of the domain, read when the message is sent. */
  readonly fileId: string | undefined;
}

/** What a server said to a message it took. */
export interface Delivered {
  readonly providerId: string | undefined;
  /** Those it did not take now and may take later. */
  readonly remaining?: readonly string[];
  /** The recipients it refused for good, and why. */
  readonly note?: string;
}

/** A message no server took. `permanent`: the next attempt would come to the same. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly kind: 'permanent' | 'temporary';

  constructor(kind: 'permanent' | 'temporary', message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** A way to send one kind of message: one mail server, one SMS provider. */
export interface Channel<Content> {
  /** @throws DeliveryError */
  send(message: Content, context: DeliveryContext): Promise<Delivered>;
  close(): Promise<void>;
}

export interface DeliveryContext {
  /** The id of the message: a receiver may know a repetition by it. */
  readonly id: string;
  readonly signal: AbortSignal;
}
