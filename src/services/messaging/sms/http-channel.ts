/**
 * Sends text messages by a provider's HTTP interface. Address, method, headers and body are templates in the
 * settings, so that any interface can be described.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { tryTo } from '../../../base/errors.js';
import {
  type Channel,
  type Delivered,
  type DeliveryContext,
  DeliveryError,
  type SmsContent,
} from '../message.js';
import type { MessageSettings } from '../message-settings.js';
import { asItIs, renderTemplate } from '../template.js';
import { encodeSms } from './sms-text.js';

/**
 * Address, headers and body are templates, which may hold `{{to}}` (E.164), `{{digits}}` (without its +),
 * `{{text}}`, `{{sender}}`, `{{template}}`, `{{id}}` (of the message, the same at every attempt) and
 * `{{unicode}}` (1 where the text needs it, else 0). In the address and in forms values are percent-encoded,
 * in JSON bodies escaped as JSON. The body has the `Content-Type` of the headers; without one, a body that
 * begins with `{` or `[` is JSON, any other a form. The values of the headers are secrets.
 */
export interface HttpSmsOptions
  extends Pick<
    MessageSettings,
    | 'smsHttpMethod'
    | 'smsHttpHeaders'
    | 'smsHttpBody'
    | 'smsHttpSuccess'
    | 'smsHttpIdPath'
    | 'messageTimeoutMs'
  > {
  readonly url: string;
  readonly sender: string;
}

/** A message need not have a template, nor a school a sender. */
const PLACES = { mayBeEmpty: true } as const;
const MAX_URL_BYTES = 16_384;
const MAX_BODY_BYTES = 65_536;
const MAX_ANSWER_BYTES = 65_536;
const SHOWN_ANSWER = 200;
/**
 * The statuses that do not judge the message: a wrong address or method of the setting, a wrong or missing
 * credential, no credit, a proxy, and those that permit another attempt.
 */
const ABOUT_SETTINGS: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 408, 425, 429]);

export class HttpSmsChannel implements Channel<SmsContent> {
  readonly #options: HttpSmsOptions;

  constructor(options: HttpSmsOptions) {
    this.#options = options;
  }

  async send(message: SmsContent, { id, signal }: DeliveryContext): Promise<Delivered> {
    const { status, body } = await this.#ask(message, id, signal);
    const shown = this.#withoutSecrets(body.slice(0, SHOWN_ANSWER));
    if (status < 200 || status > 299) {
      const kind = ABOUT_SETTINGS.has(status) || status >= 500 ? 'temporary' : 'permanent';
      throw new DeliveryError(kind, `the SMS provider answered ${status}: ${shown}`);
    }
    const { smsHttpSuccess: success, smsHttpIdPath: idPath } = this.#options;
    // Not retried: if the setting is wrong, every parent would get the message a dozen times.
    if (success && !success.test(body))
      throw new DeliveryError('permanent', `the SMS provider refused the message: ${shown}`);
    return { providerId: idPath === undefined ? undefined : findText(body, idPath) };
  }

  async close(): Promise<void> {}

  async #ask(
    message: SmsContent,
    id: string,
    signal: AbortSignal,
  ): Promise<{ status: number; body: string }> {
    const { url, smsHttpMethod: method, smsHttpHeaders: headers, messageTimeoutMs } = this.#options;
    const values = this.#valuesOf(message, id);
    const ended = new AbortController();
    try {
      const body = this.#bodyOf(values);
      const response = await fetch(
        renderTemplate(url, values, { ...PLACES, escape: encodeURIComponent, maxBytes: MAX_URL_BYTES }),
        {
          method,
          headers: { 'Idempotency-Key': id, ...(body && { 'Content-Type': body.contentType }), ...headers },
          ...(body && method !== 'GET' && { body: body.text }),
          redirect: 'manual',
          signal: AbortSignal.any([signal, ended.signal, AbortSignal.timeout(messageTimeoutMs)]),
        },
      );
      return { status: response.status, body: await readStart(response) };
    } catch (error) {
      signal.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = this.#withoutSecrets(cause instanceof Error ? cause.message : String(cause));
      throw new DeliveryError('temporary', `the SMS provider cannot be reached: ${reason}`);
    } finally {
      // The rest of the answer is not awaited.
      ended.abort();
      await sleep(0);
    }
  }

  #valuesOf({ to, text, template }: SmsContent, id: string) {
    const unicode = encodeSms(text).encoding === 'ucs2' ? '1' : '0';
    const { sender } = this.#options;
    return { to, digits: to.slice(1), text, sender, template: template ?? '', id, unicode };
  }

  #bodyOf(values: Readonly<Record<string, string>>): { text: string; contentType: string } | undefined {
    const { smsHttpBody: body, smsHttpHeaders: headers } = this.#options;
    if (body === undefined) return undefined;
    const [, given] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
    const guessed = /^\s*[{[]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded';
    const contentType = given ?? guessed;
    const format = { ...PLACES, escape: escapeFor(contentType), maxBytes: MAX_BODY_BYTES };
    const text = renderTemplate(body, values, format);
    return { text, contentType };
  }

  #withoutSecrets(text: string): string {
    return Object.values(this.#options.smsHttpHeaders).reduce(
      (shown, secret) => (secret.length < 4 ? shown : shown.replaceAll(secret, '[redacted]')),
      text,
    );
  }
}

function escapeFor(contentType: string): (value: string) => string {
  if (/json/i.test(contentType)) return (value) => JSON.stringify(value).slice(1, -1);
  return /form-urlencoded/i.test(contentType) ? encodeURIComponent : asItIs;
}

/** Reads the start of an answer, because an answer may be endless. */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function findText(json: string, path: string): string | undefined {
  const found = path.split('.').reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? Reflect.get(value, name)
        : undefined,
    tryTo(() => JSON.parse(json)),
  );
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
}
