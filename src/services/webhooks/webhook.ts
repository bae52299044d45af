/** A webhook: an address that is called when records change. */

import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type ErrorCode, ifRefused, invalidAt, ServiceError } from '../../base/errors.js';
import { isJsonObject, parseExactJson, printExactJson } from '../../base/json/json.js';
import { parseOquery } from '../../base/languages/oquery.js';
import { toNormalText } from '../../base/model/normal-text.js';
import { queryOf } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { isAdmin } from '../../store/access/access.js';
import type { RecordStore } from '../../store/record-store.js';
import { sql } from '../../store/sql.js';
import type { OutboundClient } from '../scripting/requests/outbound-client.js';

/** The changes that a webhook is called for. */
const WebhookEvent = z.strictObject({
  collection: z.string().min(1),
  operations: z.array(z.enum(['created', 'updated', 'deleted'])).min(1),
  /** Limits the event to records that match; a removed record is judged as it last was. */
  oquery: z.string().optional(),
});
export type WebhookEvent = z.output<typeof WebhookEvent>;

/**
 * `skipped`: the owner may not read its record, or no event selects it. One that is being sent, stored as
 * `sending`, is shown as `waiting`.
 */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'skipped';

/** The stored states of deliveries that have not ended. */
export const NOT_ENDED = sql`state in ('waiting', 'sending')`;

/** After so many failures one after the other an address counts as failing. */
export const FAILURES_OF_FAILING = 3;

export interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** The user whose rights decide what is sent. */
  readonly userId: string;
  readonly isPaused: boolean;
  /** Its address has not answered as it is to, several times one after the other. */
  readonly isFailing: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Changes with the name, address, events and pause; compared with `ifMatch`. */
  readonly etag: string;
}

/** The event, as stored with a delivery. */
export const WebhookNews = z.object({
  /** `record.created` and so on; `test` for a test. */
  type: z.string(),
  at: z.string(),
  collection: z.string().optional(),
  recordId: z.string().optional(),
  version: z.number().optional(),
  /** The id of the user or the name of the task that made the change. */
  by: z.string(),
});
export type WebhookNews = z.output<typeof WebhookNews>;

/**
 * Whether a caller may have webhooks: an admin, or one of the roles; `*` stands for every user. An API key
 * may not, because the webhook would outlive it.
 */
export function mayHaveWebhooks({ principal, domain }: Scope, roles: readonly string[]): boolean {
  if (principal.kind !== 'user' || principal.credential.kind !== 'token') return false;
  if (principal.scopes !== undefined || principal.domainId !== domain.id) return false;
  return isAdmin(principal) || roles.some((role) => role === '*' || principal.roles.has(role));
}

const LONGEST_URL = 2_000;
const LONGEST_NAME = 100;
const MOST_EVENTS = 50;

/**
 * Parses the events of a webhook. The caller must be allowed to read the collection of each.
 *
 * @throws INVALID_VALUE (400), MALFORMED_FILTER (400); NOT_FOUND, GONE or FORBIDDEN for the collection
 */
export function parseWebhookEvents(
  written: unknown,
  { scope, store }: { readonly scope: Scope; readonly store: Pick<RecordStore, 'find'> },
): readonly WebhookEvent[] {
  const read = z.array(WebhookEvent).min(1).max(MOST_EVENTS).safeParse(written);
  if (!read.success) {
    const { path = [], message = '' } = read.error.issues[0] ?? {};
    throw invalidAt(`events is a list of 1 to ${MOST_EVENTS}: ${path.join('.')} ${message}`, {
      parameter: 'events',
    });
  }
  for (const { collection, oquery } of read.data)
    store.find(scope, { ...queryOf(collection), filter: parseOquery(oquery ?? '') });
  return read.data.map((event) => ({ ...event, operations: [...new Set(event.operations)] }));
}

/** @throws INVALID_VALUE (400): http or https, without credentials, at an address that webhooks may reach */
export function parseWebhookUrl(written: string, outbound: Pick<OutboundClient, 'assertAllowed'>): string {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isUrl = url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:');
  if (!isUrl || written.length > LONGEST_URL)
    throw invalidAt('url must be an https or http address.', { parameter: 'url' });
  if (url.username !== '' || url.password !== '')
    throw invalidAt('url must not contain a user name or password.', { parameter: 'url' });
  if (url.hash !== '')
    throw invalidAt('url must not have a part after #, which would not be sent.', { parameter: 'url' });
  try {
    outbound.assertAllowed(url);
  } catch (error) {
    throw error instanceof ServiceError ? invalidAt(error.message, { parameter: 'url' }) : error;
  }
  return url.href;
}

/** @throws INVALID_VALUE (400) */
export function parseWebhookName(written: string): string {
  const name = toNormalText(written);
  if (name.length >= 1 && name.length <= LONGEST_NAME && !name.includes('\0')) return name;
  throw invalidAt(`A webhook has a name of 1 to ${LONGEST_NAME} characters.`, { parameter: 'name' });
}

const PREFIX = 'whsec_';

/** Makes a secret of 32 random bytes, in the form that libraries of Standard Webhooks expect. */
export function createWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/**
 * The headers of a delivery: its id, the time in seconds of Unix time, and the HMAC-SHA-256 of
 * `<id>.<time>.<body>` by the secret, in base64.
 */
export function signWebhook(
  secret: string,
  { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The records of a collection that a reader may see, and the fields that it may not. */
interface Readable {
  readonly ids: ReadonlySet<string>;
  readonly hiddenFields: ReadonlySet<string>;
}

/** The codes of the errors for a record that the scope may not read, unlike those of a failed read. */
export const UNREADABLE: readonly ErrorCode[] = ['FORBIDDEN', 'GONE'];

const NOTHING: Readable = { ids: new Set(), hiddenFields: new Set() };

/**
 * The bodies as far as the scope may read them now: without fields that are hidden from it, and `undefined`
 * for a record that is out of its reach. A removed record is judged as it last was. A round trip for each
 * collection.
 */
export async function readableBodies(
  store: Pick<RecordStore, 'find'>,
  scope: Scope,
  deliveries: readonly { readonly event: unknown; readonly body: string | null }[],
): Promise<readonly (string | undefined)[]> {
  const made = deliveries.map(({ event, body }) =>
    body === null ? undefined : { body, news: WebhookNews.parse(event) },
  );
  const idsByCollection = new Map<string, string[]>();
  for (const { news } of made.filter((one) => one !== undefined)) {
    if (news.collection === undefined) continue;
    getOrMake(idsByCollection, news.collection, () => []).push(news.recordId ?? '');
  }
  const readable = new Map<string, Readable>();
  for (const [collection, ids] of idsByCollection)
    readable.set(collection, await findReadable(store, scope, { collection, ids }));
  return made.map((one) => {
    if (one?.news.collection === undefined) return one?.body;
    return withinReach(one.body, one.news, readable.get(one.news.collection) ?? NOTHING);
  });
}

async function findReadable(
  store: Pick<RecordStore, 'find'>,
  scope: Scope,
  { collection, ids }: { readonly collection: string; readonly ids: readonly string[] },
): Promise<Readable> {
  const read = async (): Promise<Readable> => {
    const set = store.find(scope, queryOf(collection));
    const records = await set.findChanged(ids);
    return { ids: new Set(records.map(({ id }) => id)), hiddenFields: set.hiddenFields };
  };
  return await read().catch(ifRefused(UNREADABLE, NOTHING));
}

function withinReach(
  body: string,
  { recordId = '' }: WebhookNews,
  { ids, hiddenFields }: Readable,
): string | undefined {
  if (!ids.has(recordId)) return undefined;
  if (hiddenFields.size === 0) return body;
  const parsed = parseExactJson(body);
  if (!isJsonObject(parsed) || !isJsonObject(parsed.record)) return body;
  const shown = Object.entries(parsed.record).filter(([name]) => !hiddenFields.has(name));
  if (shown.length === Object.keys(parsed.record).length) return body;
  return printExactJson({ ...parsed, record: Object.fromEntries(shown) });
}
