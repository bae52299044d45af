/** Validates the request for a text message and converts it to one message per number. */
import { z } from 'zod';
import { type ErrorDetail, firstFault, invalidAt, ServiceError } from '../../../base/errors.js';
import { defined, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import type { Call } from '../../../base/model/call.js';
import { toE164PhoneNumber } from '../../../base/model/phone-number.js';
import type { SmsContent } from '../message.js';
import { asItIs, assertNoPlaceholder, hintsAtUnused, renderTemplate } from '../template.js';
import { encodeSms } from './sms-text.js';

export const SmsRequest = z.strictObject({
  to: z.union([z.string(), z.array(z.string()).readonly()]),
  text: z.string(),
  /** Treats the text as a template, and fills it in. */
  data: z.custom<JsonObject>(isJsonObject, 'an object is expected').optional(),
  /** The name the provider or the regulator knows the text by. */
  template: z.string().optional(),
  /** fee, absence, notice or other. */
  category: z.string().optional(),
  /** The student or member of staff it is about: an `_id`, or {value, label}. */
  recipient: z.custom<JsonValue>().optional(),
  /** The batch it is part of. */
  batch: z.string().optional(),
  /** The sender's own key: a repetition with the same key is the same message, and is not sent again. */
  key: z.string().optional(),
});
export type SmsRequest = z.output<typeof SmsRequest>;

export interface SmsOptions {
  readonly callingCode: string;
  readonly maxRecipients: number;
  readonly maxSegments: number;
  /** Called with possible mistakes that are not errors. */
  readonly onHint: Call['onHint'];
}

export interface OutgoingSms {
  readonly content: SmsContent;
  readonly size: number;
  /** The fields of its record in `sms_log`. */
  readonly log: JsonObject;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f]/;

/** @throws INVALID_VALUE, LIMIT_EXCEEDED */
export function toSmsMessages(request: SmsRequest, options: SmsOptions): OutgoingSms[] {
  const written = typeof request.to === 'string' ? [request.to] : request.to;
  const numbers = [...new Set(written.map((number) => numberToSendTo(number, options.callingCode)))];
  if (numbers.length === 0)
    throw invalid({ parameter: 'to', detail: 'there is no recipient', expected: 'a number' });
  if (numbers.length > options.maxRecipients) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `at most ${options.maxRecipients} numbers at once, not ${numbers.length}`,
    );
  }
  const { segments, text } = toText(request, options);
  const { template, category, recipient, batch } = request;
  return numbers.map((to) => ({
    content: defined({ to, text, template }),
    size: Buffer.byteLength(text),
    log: defined({ to, text, segments, template, category, recipient, batch }) as JsonObject,
  }));
}

function numberToSendTo(written: string, callingCode: string): string {
  const number = toE164PhoneNumber(written, callingCode);
  if (number !== undefined) return number;
  const expected = `a telephone number, e.g. +${callingCode}5123456789`;
  const sent = written.slice(0, 40);
  throw invalidAt(`"${sent}" is not a telephone number: expected ${expected}`, {
    parameter: 'to',
    detail: 'not a telephone number',
    expected,
    sent,
  });
}

function toText(
  { text: written, data }: SmsRequest,
  { maxSegments, onHint }: Pick<SmsOptions, 'maxSegments' | 'onHint'>,
): { text: string; segments: number } {
  const maxBytes = maxSegments * 400;
  const text = data === undefined ? written : renderTemplate(written, data, { escape: asItIs, maxBytes });
  if (data === undefined) assertNoPlaceholder('text', written);
  else for (const hint of hintsAtUnused([written], data)) onHint?.(hint);
  if (text.trim() === '') throw invalid({ parameter: 'text', detail: 'it is empty', expected: 'a text' });
  if (CONTROL.test(text)) {
    throw invalid({ parameter: 'text', detail: 'it holds control characters', expected: 'a text' });
  }
  // The length is checked first, so that a text that is far too long is not divided into segments.
  const segments = text.length > maxBytes ? maxSegments + 1 : encodeSms(text).segments.length;
  if (segments <= maxSegments) return { text, segments };
  throw new ServiceError(
    'LIMIT_EXCEEDED',
    `a text message has at most ${maxSegments} segments, and this text takes more (${text.length} ` +
      'characters)',
    { errors: [{ parameter: 'text', detail: 'too long', expected: `<= ${maxSegments} segments` }] },
  );
}

function invalid(detail: ErrorDetail): ServiceError {
  const reason = firstFault([detail]);
  return new ServiceError('INVALID_VALUE', `this text message cannot be sent: ${reason}`, {
    errors: [detail],
  });
}
