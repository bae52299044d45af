/** A message: its content and its state. */
import { ServiceError } from '../../base/errors.js';
import type { Principal, WorkPrincipal } from '../../base/model/scope.js';
import { refusedByScopes } from '../../store/access/access.js';

export type MessageKind = 'email' | 'sms';

/**
 * `queued`: will be sent, at once or at `nextAttemptAt`. `sending`: an attempt is running. `sent`: a server
 * has accepted it. `failed`: it was abandoned, with the reason. `kept`: the domain has no channel; the
 * message waits until one is configured.
 */
export const MESSAGE_STATES = ['queued', 'sending', 'sent', 'failed', 'kept'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export interface EmailContent {
  /** Default: the sender of the school. */
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
  /** Addresses or numbers, including those of copies. */
  readonly recipients: readonly string[];
  /** The recipients that no server has accepted yet, if one accepted others. */
  readonly remaining: readonly string[] | undefined;
  readonly content: EmailContent | SmsContent;
  readonly subject: string | undefined;
  readonly attempts: number;
  /** Why the last attempt failed, or which recipients a server refused. */
  readonly lastError: string | undefined;
  /** The id given by the mail server or SMS provider. */
  readonly providerId: string | undefined;
  /** The record of `sms_log`. */
  readonly recordId: string | undefined;
  /** The number of nested scripts that led to the message. */
  readonly scriptDepth: number;
  /** `_id` of the user, or the name of the task. */
  readonly createdBy: string;
  /** The principal that queued it. `undefined`: an earlier version did. */
  readonly sender: WorkPrincipal | undefined;
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

/** The answer of a server to a message it accepted. */
export interface Delivered {
  readonly providerId: string | undefined;
  /** The recipients it may accept later. */
  readonly remaining?: readonly string[];
  /** The recipients it refused permanently, with the reasons. */
  readonly note?: string;
}

/** No server accepted the message. `permanent`: another attempt would fail in the same way. */
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
  /** The id of the message, by which a receiver may recognize a duplicate. */
  readonly id: string;
  readonly signal: AbortSignal;
}

/** @throws FORBIDDEN */
export function assertMayEmail(principal: Principal, roles: readonly string[]): void {
  if (principal.scopes !== undefined) {
    throw refusedByScopes(principal, "the API key's scopes do not allow it to send email");
  }
  if (roles.some((role) => principal.roles.has(role))) return;
  throw new ServiceError(
    'FORBIDDEN',
    `you may not send email; one of these roles is needed: ${roles.join(', ')}`,
  );
}
