/**
 * All members of a script's global `platform`, in the order of the interface document. (`platform.print`,
 * `platform.transaction` and `console`: guest/prelude.ts.)
 *
 * Each binding is declared in schema/platform.d.ts with an example; a test fails if one is not, or if no test
 * calls it. What is written within a `before` script belongs to the transaction of its write: if the script
 * refuses the write, nothing is published or sent.
 *
 * @see interface 1.1, 1.2
 */

import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { invalidAt, ServiceError } from '../../../base/errors.js';
import type { JsonObject, JsonValue } from '../../../base/json/json.js';
import { instantFrom } from '../../../base/model/calendar.js';
import type { Scope } from '../../../base/model/scope.js';
import { JsonText } from '../../../base/scalars/json-text.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import type { Domains } from '../../../store/catalog/domains.js';
import { DEFAULT_LANGUAGE, REPORT_DEFAULTS } from '../../../store/catalog/known-properties.js';
import type { TextEncryption } from '../../auth/text-encryption.js';
import type { UserTokens } from '../../auth/user-tokens.js';
import { EmailRequest } from '../../messaging/email/email-request.js';
import type { Messages } from '../../messaging/messages.js';
import { SmsRequest } from '../../messaging/sms/sms-request.js';
import type { Topics } from '../../messaging/topics.js';
import { OUTPUT_LEVELS, type ScriptError } from '../run-request.js';
import type { ScriptLog } from '../script-log.js';
import { printLimit, type ScriptLimits } from '../script-settings.js';
import { createDbBindings, type DbServices } from './db/db-bindings.js';
import {
  bindChange,
  bindFunction,
  type FunctionBinding,
  type HostBinding,
  type HostCallContext,
  jsonValue,
  ScriptFailure,
} from './host-binding.js';
import { createRequestBinding, type RequestServices } from './request.js';

/** The services of all bindings together. */
export interface PlatformServices extends RequestServices, DbServices {
  readonly domains: Domains;
  readonly catalog: Catalog;
  readonly encryption: TextEncryption;
  readonly topics: Pick<Topics, 'publish'>;
  readonly scriptLog: ScriptLog;
  readonly messages: Pick<Messages, 'sendEmail' | 'sendSms'>;
  /** Finds a stored script, checks that the caller may run it, and runs it to its end, one level deeper. */
  runNested(
    context: HostCallContext,
    name: string,
    args: JsonValue,
  ): Promise<{ readonly value: JsonValue | undefined; readonly error: ScriptError | undefined }>;
  readonly userTokens: UserTokens;
  readonly limits: ScriptLimits;
  /** A report as the caller may see it, printed for people. @throws as the report does */
  report(
    scope: Scope,
    request: { readonly name: string; readonly parameters: JsonObject; readonly format: ReportFormat },
  ): Promise<{
    readonly fileName: string;
    readonly contentType: string;
    readonly body: AsyncIterable<string | Uint8Array>;
  }>;
}

const REPORT_FORMATS = ['json', 'csv', 'xlsx'] as const;
type ReportFormat = (typeof REPORT_FORMATS)[number];

const LOG_OPTIONS = z.strictObject({
  level: z.enum(OUTPUT_LEVELS).default('info'),
  data: jsonValue.optional(),
});

const CLAIMS = z.strictObject({
  roles: z.array(z.string()).optional(),
  scopes: jsonValue.optional(),
  expiresInSeconds: z.number().optional(),
});

export function createBindings(services: PlatformServices): readonly HostBinding[] {
  const { domains, encryption, limits, messages, scriptLog, topics } = services;
  return [
    createRequestBinding(services),
    // All domains for an admin of the top domain, else the own one.
    bindFunction('domains', {}, (_, { scope }) =>
      domains
        .listFor(scope)
        .map(({ id, name, parentId, timeZone }) => ({ id, name, timeZone, isTop: parentId === undefined })),
    ),
    // The same answer for a domain that does not exist as for a sub-domain: existing ones are not disclosed.
    bindFunction('isTopDomain', { domain: z.string().optional() }, ({ domain }, { scope }) => {
      return domains.top()?.id === (domain ?? scope.domain.id);
    }),
    bindFunction('encrypt', { text: z.string() }, ({ text }, { scope }) =>
      encryption.encrypt(scope.domain.id, text),
    ),
    bindFunction('decrypt', { encrypted: z.string() }, ({ encrypted }, { scope }) =>
      encryption.decrypt(scope.domain.id, encrypted),
    ),
    bindChange('publish', { topic: z.string(), message: jsonValue }, async (given, { scope, within }) => {
      await topics.publish(scope, given.topic, given.message, { within });
      return undefined;
    }),
    bindFunction(
      'log',
      { message: z.string(), options: LOG_OPTIONS.prefault({}) },
      async (given, context) => {
        const { scope, run, within } = context;
        const { level, data } = given.options;
        const isInTransaction = within !== undefined;
        await scriptLog.write(scope, run, { level, message: given.message, data, isInTransaction });
        return undefined;
      },
    ),
    // Secrets are masked, as for an admin. A script that must send one can use `platform.encrypt`.
    bindFunction('property', { name: z.string() }, ({ name }, { scope }) => {
      return domains.listProperties(scope).find((property) => property.name === name)?.value ?? null;
    }),
    bindFunction('properties', {}, (_, { scope }) =>
      Object.fromEntries(domains.listProperties(scope).map(({ name, value }) => [name, value])),
    ),
    bindChange('sendEmail', { email: EmailRequest }, async ({ email }, { scope, within }) => {
      const { id, state } = await messages.sendEmail(scope, email, within);
      return { id, state };
    }),
    // For a list of numbers it returns a list of messages.
    bindChange('sendSms', { sms: SmsRequest }, async ({ sms }, { scope, within }) => {
      const sent = await messages.sendSms(scope, sms, within);
      const shown = sent.map(({ id, state, recipients }) => ({ id, state, to: recipients[0] ?? '' }));
      return typeof sms.to === 'string' ? (shown[0] ?? null) : shown;
    }),
    // A file has the shape of an attachment of an email.
    bindFunction(
      'report',
      {
        name: z.string(),
        parameters: z
          .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
          .prefault({}),
        format: z.enum(REPORT_FORMATS).default('json'),
      },
      async (request, { scope, within }) => {
        if (within !== undefined) {
          const reason = 'platform.report reads what is committed: call it before or after the transaction';
          throw new ServiceError('CONFLICT', reason);
        }
        const { fileName: name, contentType, body } = await services.report(scope, request);
        const bytes = await readUpTo(limits, body);
        if (request.format === 'json') return new JsonText(bytes.toString());
        return { name, contentType, content: bytes.toString('base64') };
      },
    ),
    // Returns the stream of `db.agg` as one list.
    bindFunction(
      'aggregate',
      { collection: z.string().min(1), pipeline: jsonValue.optional() },
      ({ collection, pipeline }, context) => services.db.aggregateAll(context, collection, pipeline),
      { returns: 'promise' },
    ),
    // The error of the called script is thrown in the caller. The runner limits the depth.
    bindFunction(
      'runScript',
      { name: z.string(), arguments: jsonValue.optional() },
      async ({ name, arguments: given = null }, context) => {
        const { value, error } = await services.runNested(context, name, given);
        if (error !== undefined) throw new ScriptFailure(error);
        return value;
      },
    ),
    // True for collections declared in schema/collections; false for those registered at run time.
    bindFunction('isEduCollection', { collection: z.string() }, ({ collection }) => {
      return services.catalog.find(collection)?.isDeclared ?? false;
    }),
    bindChange('signToken', { claims: CLAIMS.prefault({}) }, async ({ claims }, { scope, within }) => {
      const { token, expiresAt, roles } = await services.userTokens.sign(scope.principal, claims, within);
      return { token, expiresAt: expiresAt.toISOString(), roles: [...roles] };
    }),
    ...createCryptoBindings(),
    ...createFormatBindings(services),
    ...createDbBindings(services),
  ];
}

const MOST_RANDOM_BYTES = 1024;

const algorithm = z.enum(['sha256', 'sha384', 'sha512', 'sha1', 'md5']);
const encoding = z.enum(['hex', 'base64', 'base64url']).default('hex');
/** A text counts by its UTF-8 bytes; other bytes come in a coding. */
const bytes = z.union(
  [
    z.string(),
    z.strictObject({ base64: z.base64() }),
    z.strictObject({ base64url: z.base64url() }),
    z.strictObject({ hex: z.string().regex(/^(?:[0-9a-f]{2})*$/i) }),
  ],
  'expected a text, or bytes as { base64 }, { base64url } or { hex }',
);

function createCryptoBindings(): readonly FunctionBinding[] {
  return [
    bindFunction(
      'crypto.hash',
      { algorithm, data: bytes, encoding },
      ({ algorithm: name, data, encoding: form }) => createHash(name).update(toBytes(data)).digest(form),
    ),
    bindFunction('crypto.hmac', { algorithm, key: bytes, data: bytes, encoding }, (given) =>
      createHmac(given.algorithm, toBytes(given.key)).update(toBytes(given.data)).digest(given.encoding),
    ),
    bindFunction('crypto.isEqual', { one: z.string(), other: z.string() }, ({ one, other }) => {
      // Hashes have equal length, so the time discloses nothing about the texts.
      const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
      return first !== undefined && second !== undefined && timingSafeEqual(first, second);
    }),
    bindFunction('crypto.encode', { data: bytes, encoding: encoding.unwrap().default('base64') }, (given) =>
      toBytes(given.data).toString(given.encoding),
    ),
    bindFunction('crypto.decode', { data: bytes }, ({ data }) => toBytes(data).toString('utf8')),
    bindFunction('crypto.uuid', {}, () => randomUUID()),
    bindFunction(
      'crypto.random',
      { size: z.number().int().min(1).max(MOST_RANDOM_BYTES), encoding },
      (given) => randomBytes(given.size).toString(given.encoding),
    ),
  ];
}

function toBytes(data: z.output<typeof bytes>): Buffer {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  if ('base64' in data) return Buffer.from(data.base64, 'base64');
  return 'hex' in data ? Buffer.from(data.hex, 'hex') : Buffer.from(data.base64url, 'base64url');
}

/** An instant, or a day of the school. */
const instant = z.union([z.string(), z.number()]).optional();
const amount = z.union([z.number(), z.string().regex(/^-?\d{1,30}(\.\d{1,20})?$/, 'expected a number')]);

const DAY_STYLES = { iso: undefined, short: 'short', medium: 'medium', long: 'long', full: 'full' } as const;
const dayStyle = z.enum(['iso', 'short', 'medium', 'long', 'full']).default('iso');

function createFormatBindings(services: {
  readonly domains: Pick<Domains, 'property'>;
}): readonly FunctionBinding[] {
  const text = ({ domain }: Scope, name: string, byDefault: string) => {
    const value = services.domains.property(domain.id, name);
    return typeof value === 'string' ? value : byDefault;
  };
  const languageOf = (scope: Scope) => text(scope, 'language', DEFAULT_LANGUAGE);
  return [
    bindFunction('format.day', { date: instant, style: dayStyle }, ({ date, style }, { scope }) => {
      const dateStyle = DAY_STYLES[style];
      // Swedish writes days as ISO 8601 does.
      const format = new Intl.DateTimeFormat(dateStyle ? languageOf(scope) : 'sv-SE', {
        timeZone: scope.domain.timeZone,
        dateStyle: dateStyle ?? 'short',
      });
      return format.format(toDate(scope, 'day', date));
    }),
    bindFunction(
      'format.time',
      { date: instant, style: z.enum(['short', 'medium']).default('short') },
      (given, { scope }) => {
        const { timeZone } = scope.domain;
        const options = { timeZone, timeStyle: given.style } as const;
        return new Intl.DateTimeFormat(languageOf(scope), options).format(toDate(scope, 'time', given.date));
      },
    ),
    bindFunction(
      'format.money',
      {
        amount,
        currency: z
          .string()
          .regex(/^[A-Z]{3}$/)
          .optional(),
      },
      (given, { scope }) => {
        const currency = given.currency ?? text(scope, 'currency', REPORT_DEFAULTS.currency);
        return printNumber(languageOf(scope), given.amount, { style: 'currency', currency });
      },
    ),
    bindFunction(
      'format.number',
      { number: amount, digits: z.number().int().min(0).max(20).optional() },
      (given, { scope }) => {
        const { digits } = given;
        return printNumber(languageOf(scope), given.number, {
          minimumFractionDigits: digits,
          maximumFractionDigits: digits ?? 20,
        });
      },
    ),
  ];
}

function printNumber(language: string, number: z.output<typeof amount>, options: Intl.NumberFormatOptions) {
  // A text keeps its digits: amounts of records may have more than a double holds.
  return new Intl.NumberFormat(language, options).format(number as Intl.StringNumericLiteral);
}

function toDate({ domain }: Scope, short: string, date: z.output<typeof instant>): Date {
  const given = typeof date === 'string' ? (instantFrom(date, domain.timeZone) ?? Number.NaN) : date;
  const read = given === undefined ? new Date() : new Date(given);
  if (!Number.isNaN(read.getTime())) return read;
  const detail = `"${String(date).slice(0, 100)}" is not a date`;
  throw invalidAt(`platform.format.${short}: date: ${detail}`, {
    parameter: 'date',
    detail,
    expected: 'a Date, an ISO 8601 text, or a day such as 2026-11-28',
  });
}

/** @throws LIMIT_EXCEEDED for more than one call may give */
async function readUpTo(limits: ScriptLimits, body: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > limits.payloadBytes) {
      const reason = `The report is larger than ${printLimit(limits, 'payloadBytes')}: request a part of it.`;
      throw new ServiceError('LIMIT_EXCEEDED', reason);
    }
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}
