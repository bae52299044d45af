/**
 * Validates the request for an email and converts it to what is stored; nothing in it can become a separate
 * header.
 */
import { z } from 'zod';
import { type ErrorDetail, firstFault, ServiceError } from '../../../base/errors.js';
import { defined, isJsonObject, type JsonObject } from '../../../base/json/json.js';
import type { Call } from '../../../base/model/call.js';
import type { EmailContent } from '../message.js';
import { asItIs, assertNoPlaceholder, escapeHtml, hintsAtUnused, renderTemplate } from '../template.js';

const addressList = z.union([z.string(), z.array(z.string()).readonly()]);

export const AttachmentRequest = z.strictObject({
  name: z.string().default(''),
  contentType: z.string().optional(),
  /** Base64. Either this or `fileId`. */
  content: z.string().optional(),
  fileId: z.string().optional(),
});
export type AttachmentRequest = z.output<typeof AttachmentRequest>;

export const EmailRequest = z.strictObject({
  to: addressList,
  cc: addressList.optional(),
  bcc: addressList.optional(),
  replyTo: z.string().optional(),
  subject: z.string().optional(),
  text: z.string().optional(),
  html: z.string().optional(),
  /**
   * A property of the domain `mailTemplate.<name>` with the members `subject`, `text`, `html`; members of the
   * request take precedence.
   */
  template: z.string().optional(),
  /** Treats subject, text and html as templates, and fills them in. */
  data: z.custom<JsonObject>(isJsonObject, 'an object is expected').optional(),
  attachments: z.array(AttachmentRequest).readonly().optional(),
  /** The sender's own key: a repetition with the same key is the same message, and is not sent again. */
  key: z.string().optional(),
});
export type EmailRequest = z.output<typeof EmailRequest>;

export interface EmailOptions {
  readonly maxRecipients: number;
  readonly maxBytes: number;
  /** Called with possible mistakes that are not errors. */
  readonly onHint: Call['onHint'];
}

export type TemplateTexts = Partial<Record<'subject' | 'text' | 'html', string>>;

const MAX_SUBJECT = 500;
/**
 * The longest address: 64 characters before the @ and 255 after it would exceed SMTP's path of 256.
 *
 * @see RFC 5321, 4.5.3.1
 */
const MAX_ADDRESS = 254;
// Control characters are what makes a header of a value.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029]/;
/**
 * Addresses as used in practice: no quoted local parts, no address literals. Letters of every script (RFC
 * 6531).
 */
const ADDRESS =
  /^[^\s@<>()[\]\\,;:"]+@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)*[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u;
/** The longest line of a mail, which an address with its name must fit in. @see RFC 5322, 2.1.1 */
const MAX_WRITTEN = 998;

/**
 * Validates the request and fills in its templates.
 *
 * @throws INVALID_VALUE with every fault; LIMIT_EXCEEDED for too many recipients or too large a message
 */
export function toEmailContent(
  request: EmailRequest,
  stored: TemplateTexts | undefined,
  options: EmailOptions,
): EmailContent {
  const count = [request.to, request.cc, request.bcc].flatMap((written) => written ?? []).length;
  if (count > options.maxRecipients) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `an email goes to at most ${options.maxRecipients} recipients, not ${count}`,
    );
  }
  const errors: ErrorDetail[] = [];
  const to = addresses(request.to, 'to', errors);
  const cc = addresses(request.cc, 'cc', errors);
  const bcc = addresses(request.bcc, 'bcc', errors);
  const replyTo = request.replyTo === undefined ? [] : addresses(request.replyTo, 'replyTo', errors);
  if (count === 0 && errors.length === 0) {
    errors.push({
      parameter: 'to',
      detail: 'there is no recipient',
      expected: 'at least one address in to, cc or bcc',
    });
  }
  const { subject = '', text, html } = fillIn(request, stored, options);
  if (CONTROL.test(subject) || subject.length > MAX_SUBJECT) {
    const expected = `one line of at most ${MAX_SUBJECT} characters`;
    errors.push({ parameter: 'subject', detail: 'not a subject', expected });
  }
  if (text === undefined && html === undefined) {
    errors.push({
      parameter: 'text',
      detail: 'it is empty',
      expected: 'text, html or a template',
    });
  }
  if (errors.length > 0)
    throw new ServiceError('INVALID_VALUE', `this email cannot be sent: ${firstFault(errors)}`, { errors });
  const [reply] = replyTo;
  return defined({ to, cc, bcc, subject, replyTo: reply, text, html });
}

/** The distinct plain addresses, for the SMTP envelope. */
export function envelopeOf({ to, cc, bcc }: EmailContent): string[] {
  return [...new Set([...to, ...cc, ...bcc].map((written) => toAddress(written).address))];
}

/** Splits `Asha <asha@example.org>` into name and address; a plain address has no name. */
export function toAddress(written: string): { readonly name: string; readonly address: string } {
  const start = written.endsWith('>') ? written.lastIndexOf('<') : -1;
  if (start === -1) return { name: '', address: written };
  const name = written
    .slice(0, start)
    .trimEnd()
    .replace(/^"(.*)"$/, '$1');
  return { name, address: written.slice(start + 1, -1) };
}

export function isAddress(written: string): boolean {
  if (written.length > MAX_WRITTEN) return false;
  const { address } = toAddress(written);
  return address.length <= MAX_ADDRESS && !CONTROL.test(written) && ADDRESS.test(address);
}

function addresses(
  written: string | readonly string[] | undefined,
  parameter: string,
  errors: ErrorDetail[],
): string[] {
  const list = typeof written === 'string' ? [written] : (written ?? []);
  const trimmed = list.map((address) => address.trim());
  for (const address of trimmed) {
    if (isAddress(address)) continue;
    const expected = 'an address, e.g. asha@example.org or Asha <asha@example.org>';
    errors.push({ parameter, detail: 'not an address', expected, sent: address.slice(0, 100) });
  }
  return trimmed;
}

function fillIn(
  request: EmailRequest,
  stored: TemplateTexts | undefined,
  options: EmailOptions,
): TemplateTexts {
  const texts: [name: keyof TemplateTexts, text: string | undefined][] = [
    ['subject', request.subject ?? stored?.subject],
    ['text', request.text ?? stored?.text],
    ['html', request.html ?? stored?.html],
  ];
  const { data } = request;
  const written = texts.flatMap(([, text]) => text ?? []);
  if (data !== undefined) for (const hint of hintsAtUnused(written, data)) options.onHint?.(hint);
  return Object.fromEntries(
    texts.flatMap(([name, text]) => {
      if (text === undefined) return [];
      if (data === undefined && stored === undefined) {
        assertNoPlaceholder(name, text);
        return [[name, text]];
      }
      const toMarkup = name === 'html' ? escapeHtml : asItIs;
      return [[name, renderTemplate(text, data ?? {}, { escape: toMarkup, maxBytes: options.maxBytes })]];
    }),
  );
}
