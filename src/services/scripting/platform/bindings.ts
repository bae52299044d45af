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
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import type { Domains } from '../../../store/catalog/domains.js';
import type { TextEncryption } from '../../auth/text-encryption.js';
import type { UserTokens } from '../../auth/user-tokens.js';
import type { Messages } from '../../messaging/messages.js';
import type { Topics } from '../../messaging/topics.js';
import type { ScriptError } from '../run-request.js';
import type { ScriptLog } from '../script-log.js';
import { bindFunction, jsonValue } from './arguments.js';
import { createCryptoBindings } from './crypto.js';
import { createDbBindings, type DbServices } from './db/db-bindings.js';
import { createFormatBindings } from './format-bindings.js';
import { type HostBinding, type HostCallContext, ScriptFailure } from './host-binding.js';
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
}

const texts = z.union([z.string(), z.array(z.string())]);
const values = z.custom<JsonObject>(isJsonObject, 'an object is expected');

const LOG_OPTIONS = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  data: jsonValue.optional(),
});

const EMAIL = z.strictObject({
  to: texts,
  cc: texts.optional(),
  bcc: texts.optional(),
  replyTo: z.string().optional(),
  subject: z.string().optional(),
  text: z.string().optional(),
  html: z.string().optional(),
  template: z.string().optional(),
  data: values.optional(),
  attachments: z
    .array(
      z.strictObject({
        name: z.string().default(''),
        contentType: z.string().optional(),
        content: z.string().optional(),
        fileId: z.string().optional(),
      }),
    )
    .optional(),
  key: z.string().optional(),
});

const SMS = z.strictObject({
  to: texts,
  text: z.string(),
  data: values.optional(),
  template: z.string().optional(),
  category: z.string().optional(),
  recipient: jsonValue.optional(),
  batch: z.string().optional(),
  key: z.string().optional(),
});

const CLAIMS = z.strictObject({
  roles: z.array(z.string()).optional(),
  scopes: jsonValue.optional(),
  expiresInSeconds: z.number().optional(),
});

export function createBindings(services: PlatformServices): readonly HostBinding[] {
  const { domains, encryption, messages, scriptLog, topics } = services;
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
    bindFunction('publish', { topic: z.string(), message: jsonValue }, async (given, { scope, within }) => {
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
    // As an admin sees them: secrets are masked. A script that must send one can use `platform.encrypt`.
    bindFunction('property', { name: z.string() }, ({ name }, { scope }) => {
      return domains.listProperties(scope).find((property) => property.name === name)?.value ?? null;
    }),
    bindFunction('properties', {}, (_, { scope }) =>
      Object.fromEntries(domains.listProperties(scope).map(({ name, value }) => [name, value])),
    ),
    bindFunction('sendEmail', { email: EMAIL }, async ({ email }, { scope, within }) => {
      const { id, state } = await messages.sendEmail(scope, email, within);
      return { id, state };
    }),
    // For a list of numbers it returns a list of messages.
    bindFunction('sendSms', { sms: SMS }, async ({ sms }, { scope, within }) => {
      const sent = await messages.sendSms(scope, sms, within);
      const shown = sent.map(({ id, state, recipients }) => ({ id, state, to: recipients[0] ?? '' }));
      return typeof sms.to === 'string' ? (shown[0] ?? null) : shown;
    }),
    // What `db.agg` streams, as one list.
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
    bindFunction('signToken', { claims: CLAIMS.prefault({}) }, async ({ claims }, { scope, within }) => {
      const { token, expiresAt, roles } = await services.userTokens.sign(scope.principal, claims, within);
      return { token, expiresAt: expiresAt.toISOString(), roles: [...roles] };
    }),
    ...createCryptoBindings(),
    ...createFormatBindings(services),
    ...createDbBindings(services),
  ];
}
