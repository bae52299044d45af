/** Sends email by SMTP with nodemailer, over connections that are kept open. */
import { Readable } from 'node:stream';
import type { Transporter } from 'nodemailer';
import type { SMTPPoolOptions, SMTPPoolSentMessageInfo } from 'nodemailer/lib/smtp-pool';
import {
  type Channel,
  type Delivered,
  type DeliveryContext,
  DeliveryError,
  type EmailContent,
} from '../message.js';
import { toAddress } from './email-request.js';

export interface OutgoingEmail {
  readonly content: EmailContent;
  readonly from: string;
  /** The recipients to send it to. */
  readonly envelope: readonly string[];
  readonly createdAt: Date;
  readonly attachments: readonly OutgoingAttachment[];
}

export interface OutgoingAttachment {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer | Readable;
}

export interface SmtpOptions {
  /**
   * `smtp://user:password@host:587`; `smtps://` uses TLS from the start. `smtp://` uses STARTTLS if it is
   * offered; `?requireTLS=true` requires it.
   */
  readonly url: string;
  readonly maxConnections: number;
  readonly timeoutMs: number;
}

type SmtpTransport = Transporter<SMTPPoolSentMessageInfo, SMTPPoolOptions>;

export class SmtpChannel implements Channel<OutgoingEmail> {
  readonly #options: SmtpOptions;
  #transport: Promise<SmtpTransport> | undefined;

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  async send(message: OutgoingEmail, { id, signal }: DeliveryContext): Promise<Delivered> {
    signal.throwIfAborted();
    const { content, from, envelope, attachments } = message;
    try {
      this.#transport ??= openTransport(this.#options);
      const transport = await this.#transport;
      const info = await transport.sendMail({
        envelope: { from: toAddress(from).address, to: [...envelope] },
        from: toAddress(from),
        to: content.to.map(toAddress),
        cc: content.cc.map(toAddress),
        ...(content.replyTo !== undefined && { replyTo: toAddress(content.replyTo) }),
        subject: content.subject,
        ...(content.text !== undefined && { text: content.text }),
        ...(content.html !== undefined && { html: content.html }),
        attachments: attachments.map(({ name, contentType, content: bytes }) => ({
          filename: name,
          contentType,
          content: bytes,
        })),
        date: message.createdAt,
        // The same for every attempt, so that a receiver can recognize a duplicate.
        messageId: `<${id}@${toAddress(from).address.split('@').at(-1)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return delivered(info);
    } catch (error) {
      throw toDeliveryError(error);
    } finally {
      for (const { content: bytes } of attachments) if (bytes instanceof Readable) bytes.destroy();
    }
  }

  async close(): Promise<void> {
    const transport = await this.#transport;
    transport?.close();
  }
}

/** Nodemailer is loaded with the first email: many schools send none. */
async function openTransport({ url, maxConnections, timeoutMs }: SmtpOptions): Promise<SmtpTransport> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url,
    pool: true,
    maxConnections,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: 3 * timeoutMs,
    // No text of a caller may be interpreted as a path or URL to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // An idle connection closed by the server is not an error: the next message opens one.
  transport.on('error', () => {});
  return transport;
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
  /** The SMTP command that was refused; `CONN` for the greeting. */
  readonly command?: string;
  readonly recipient?: string;
}

/** A server may accept some recipients and refuse others, temporarily (4yz) or permanently (5yz). */
function delivered(info: SMTPPoolSentMessageInfo): Delivered {
  const refusals = (info.rejectedErrors ?? []) as readonly SmtpError[];
  const later = refusals.filter((refusal) => !isForGood(refusal));
  const never = refusals.filter(isForGood);
  const [, providerId] = /\bqueued as (\S+)/i.exec(info.response) ?? [];
  return {
    providerId: providerId ?? info.messageId,
    ...(later.length > 0 && { remaining: later.flatMap(({ recipient }) => recipient ?? []) }),
    ...(never.length > 0 && { note: never.map(({ message }) => message).join('; ') }),
  };
}

function toDeliveryError(error: unknown): DeliveryError {
  if (!(error instanceof Error)) return new DeliveryError('temporary', String(error));
  return new DeliveryError(isForGood(error) ? 'permanent' : 'temporary', error.message, { cause: error });
}

/**
 * Whether the server refused this message or recipient by 5yz. It also answers so to its greeting, to a
 * missing or wrong password, and to a connection without TLS: these are faults of the settings, and the
 * message waits until they are corrected.
 */
function isForGood({ code, command, responseCode = 0 }: SmtpError): boolean {
  if (code === 'EAUTH' || code === 'ETLS' || responseCode === AUTHENTICATION_REQUIRED) return false;
  return responseCode >= 500 && ABOUT_MESSAGE.test(command ?? '');
}

/** The commands that name the message. */
const ABOUT_MESSAGE = /^(?:MAIL FROM|RCPT TO|DATA|BDAT)/;
const AUTHENTICATION_REQUIRED = 530;
