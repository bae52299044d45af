/** Manages webhooks: owners manage their own, admins all of the domain. */
import { randomUUID } from 'node:crypto';
import { validate as isUuid } from 'uuid';
import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import { type AuditedOperation, auditedAct } from '../../store/audited-act.js';
import {
  assertNumberOf,
  type KeysetPage,
  type KeysetRequest,
  newestFirst,
  toKeysetPage,
  withPlaces,
} from '../../store/database/keyset.js';
import { countIn, fromRow, type RowOf } from '../../store/database/queryable.js';
import type { RecordStore } from '../../store/record-store.js';
import { type Sql, sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { TextEncryption } from '../auth/text-encryption.js';
import type { OutboundClient } from '../scripting/requests/outbound-client.js';
import { beginFollowing, type FollowedTrail } from './follow-trail.js';
import {
  createWebhookSecret,
  type DeliveryState,
  FAILURES_OF_FAILING,
  mayHaveWebhooks,
  NOT_ENDED,
  parseWebhookEvents,
  parseWebhookName,
  parseWebhookUrl,
  readableBodies,
  type Webhook,
  type WebhookNews,
} from './webhook.js';
import type { WebhookDeliveries } from './webhook-deliveries.js';

export interface WebhookRequest {
  readonly name: string;
  readonly url: string;
  /** @see parseWebhookEvents */
  readonly events: unknown;
}

export interface WebhookChange extends Partial<WebhookRequest> {
  readonly isPaused?: boolean | undefined;
  /** Change the webhook only if it still has this ETag. */
  readonly ifMatch?: string | undefined;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly state: DeliveryState;
  readonly event: WebhookNews;
  readonly body: string | undefined;
  readonly attempts: number;
  /** The time of the next attempt; `undefined` once the delivery has ended. */
  readonly nextAttemptAt: Date | undefined;
  readonly status: number | undefined;
  readonly answer: string | undefined;
  readonly problem: string | undefined;
  readonly durationMs: number | undefined;
  readonly createdAt: Date;
  readonly attemptedAt: Date | undefined;
}

export interface DeliveryQuery extends KeysetRequest {
  readonly state?: string | undefined;
}

/** The most webhooks of a user. Each can cover all that the user may read, so a few are enough. */
const MOST_OF_A_USER = 20;

export interface WebhooksOptions extends FollowedTrail {
  readonly store: Pick<RecordStore, 'find'>;
  readonly encryption: TextEncryption;
  readonly deliveries: Pick<WebhookDeliveries, 'sendNow'>;
  readonly outbound: Pick<OutboundClient, 'assertAllowed'>;
  /** The roles that may have webhooks, beside `admin`; `*` stands for every user. */
  readonly roles: readonly string[];
}

export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** @see mayHaveWebhooks */
  mayHave(scope: Scope): boolean {
    return mayHaveWebhooks(scope, this.#options.roles);
  }

  /**
   * Registers a webhook of the caller. The answer is the only place where its secret is ever shown.
   *
   * @throws FORBIDDEN (403), INVALID_VALUE (400), LIMIT_EXCEEDED (400) over twenty, and as
   * `parseWebhookEvents`
   */
  async create(
    scope: Scope,
    request: WebhookRequest,
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    this.#assertMayHave(scope);
    const name = parseWebhookName(request.name);
    const url = parseWebhookUrl(request.url, this.#options.outbound);
    const events = parseWebhookEvents(request.events, { scope, store: this.#options.store });
    const id = randomUUID();
    const secret = createWebhookSecret();
    const { domain, principal } = scope;
    // Changes that are already in the outbox came before the webhook.
    await this.#options.outbox?.moveAll();
    return await inOwnTransaction(this.#options.database, async (transaction) => {
      await beginFollowing(transaction);
      const own = sql`webhooks where domain_id = ${domain.id} and user_id = ${principal.id}`;
      if ((await countIn(transaction, own)) >= MOST_OF_A_USER)
        throw new ServiceError('LIMIT_EXCEEDED', `A user has at most ${MOST_OF_A_USER} webhooks.`);
      await transaction.query(noteOf(scope, id, 'created'));
      const [row] = await transaction.query<Webhook>(sql`
        insert into webhooks (id, domain_id, user_id, name, url, events, secret, created_by)
        values (${id}::uuid, ${domain.id}, ${principal.id}, ${name}, ${url}, ${JSON.stringify(events)}::jsonb,
          ${this.#options.encryption.encrypt(domain.id, secret)}, ${principal.id})
        returning ${COLUMNS}`);
      if (row === undefined) throw new ServiceError('INTERNAL', 'The webhook was not stored.');
      return { webhook: row, secret };
    });
  }

  /** The webhooks of the caller, or of the domain for an admin, newest first. @throws FORBIDDEN (403) */
  async list(scope: Scope): Promise<readonly Webhook[]> {
    this.#assertMayHave(scope);
    const rows = await this.#options.database.query<Webhook>(sql`
      select ${COLUMNS} from webhooks where ${reachOf(scope)} order by created_at desc, webhooks.id`);
    return rows;
  }

  /**
   * Changes a webhook; properties left out stay as they are. While it is paused its deliveries wait, for at
   * most a month.
   *
   * @throws NOT_FOUND (404) for a webhook out of the caller's reach; VERSION_CONFLICT (412) if its ETag is
   * not `ifMatch`, and nothing is changed; and as `create`
   */
  async update(scope: Scope, id: string, change: WebhookChange): Promise<Webhook> {
    await this.#get(scope, id);
    const name = change.name === undefined ? null : parseWebhookName(change.name);
    const url = change.url === undefined ? null : parseWebhookUrl(change.url, this.#options.outbound);
    const events =
      change.events === undefined
        ? null
        : JSON.stringify(parseWebhookEvents(change.events, { scope, store: this.#options.store }));
    const { ifMatch, isPaused } = change;
    const isUnchanged = ifMatch === undefined ? sql.empty : sql`and ${ETAG} = ${ifMatch}`;
    const [row] = await this.#options.database.query<Webhook>(sql`
      with changed as (
        update webhooks
        set name = coalesce(${name}::text, name),
            url = coalesce(${url}::text, url),
            events = coalesce(${events}::jsonb, events),
            is_paused = coalesce(${isPaused ?? null}::boolean, is_paused),
            updated_at = now()
        where id = ${id}::uuid ${isUnchanged}
        returning ${COLUMNS}
      ), noted as (${noteOf(scope, id, 'updated', sql`from changed`)})
      select * from changed`);
    if (row !== undefined) return row;
    // If the webhook still exists, it has changed since the caller read it.
    const { name: nameNow } = await this.#get(scope, id);
    throw new ServiceError('VERSION_CONFLICT', `the webhook "${nameNow}" was changed meanwhile`, {
      errors: [{ detail: 'read it again and decide anew' }],
    });
  }

  /** Removes a webhook and the list of its deliveries. @throws NOT_FOUND (404), FORBIDDEN (403) */
  async remove(scope: Scope, id: string): Promise<void> {
    await this.#get(scope, id);
    await this.#options.database.query(sql`
      with noted as (${noteOf(scope, id, 'deleted')})
      delete from webhooks where id = ${id}::uuid`);
  }

  /** Replaces the secret; the old one signs nothing any more. @throws as `remove` */
  async rotateSecret(scope: Scope, id: string): Promise<string> {
    await this.#get(scope, id);
    const secret = createWebhookSecret();
    await this.#options.database.query(sql`
      with noted as (${noteOf(scope, id, 'rotated')})
      update webhooks
      set secret = ${this.#options.encryption.encrypt(scope.domain.id, secret)}, updated_at = now()
      where id = ${id}::uuid`);
    return secret;
  }

  /** Sends an event of the type `test` and waits for the answer. @throws as `remove` */
  async test(scope: Scope, id: string): Promise<WebhookDelivery> {
    await this.#get(scope, id);
    const event: WebhookNews = { type: 'test', at: new Date().toISOString(), by: scope.principal.id };
    // It is not due yet, so that nobody else takes it.
    const [noted] = await this.#options.database.query<{ id: string }>(sql`
      insert into webhook_deliveries (webhook_id, event, state, next_attempt_at)
      values (${id}::uuid, ${JSON.stringify(event)}::jsonb, 'sending', now() + interval '1 minute')
      returning id::text as id`);
    if (noted === undefined) throw new ServiceError('INTERNAL', 'The test was not noted.');
    await this.#options.deliveries.sendNow(noted.id);
    return await this.#delivery(scope, noted.id);
  }

  /**
   * The deliveries that were sent or wait, newest first, with their bodies as far as the caller may read them
   * now. @throws NOT_FOUND (404), FORBIDDEN (403)
   */
  async deliveries(scope: Scope, id: string, query: DeliveryQuery): Promise<KeysetPage<WebhookDelivery>> {
    await this.#get(scope, id);
    const checked = withPlaces(query, assertNumberOf('a delivery'));
    const page = newestFirst(checked, sql`webhook_deliveries.id`, 'bigint');
    const isInState = query.state === undefined ? sql.empty : sql`and ${SHOWN_STATE} = ${query.state}`;
    const rows = await this.#options.database.query<DeliveryRow>(sql`
      select ${DELIVERY_COLUMNS}
      from webhook_deliveries
      where webhook_id = ${id}::uuid and ${page.condition} ${isInState}
      ${page.tail}`);
    const bodies = await readableBodies(this.#options.store, scope, rows);
    const shown = rows.map((row, index) => fromRow<WebhookDelivery>({ ...row, body: bodies[index] ?? null }));
    return toKeysetPage(shown, query);
  }

  /**
   * Sends a delivery again, with the attempts of a new one, as far as the owner of the webhook may still read
   * it. A waiting delivery is tried now.
   *
   * @throws NOT_FOUND (404) if no webhook in the caller's reach has this delivery; FORBIDDEN (403)
   */
  async replay(scope: Scope, deliveryId: string): Promise<WebhookDelivery> {
    this.#assertMayHave(scope);
    const id = /^\d{1,18}$/.test(deliveryId) ? deliveryId : '-1';
    const [row] = await this.#options.database.query<DeliveryRow>(sql`
      update webhook_deliveries
      set state = 'waiting', attempts = 0, next_attempt_at = now(), problem = null
      where id = ${id}::bigint and webhook_id in (select id from webhooks where ${reachOf(scope)})
      returning ${DELIVERY_COLUMNS}`);
    if (row === undefined) throw new ServiceError('NOT_FOUND', 'There is no such delivery of yours.');
    return await this.#shown(scope, row);
  }

  /**
   * Sends the deliveries of a webhook again that wait for another attempt or were given up. Returns their
   * number.
   *
   * @throws NOT_FOUND (404), FORBIDDEN (403)
   */
  async replayAll(scope: Scope, id: string): Promise<number> {
    await this.#get(scope, id);
    const [replayed] = await this.#options.database.query<{ count: number }>(sql`
      with replayed as (
        update webhook_deliveries
        set state = 'waiting', attempts = 0, next_attempt_at = now(), problem = null
        where webhook_id = ${id}::uuid and state in ('waiting', 'failed')
        returning 1
      )
      select count(*)::int as count from replayed`);
    return replayed?.count ?? 0;
  }

  async #get(scope: Scope, id: string): Promise<Webhook> {
    this.#assertMayHave(scope);
    const [row] = isUuid(id)
      ? await this.#options.database.query<Webhook>(sql`
          select ${COLUMNS} from webhooks where id = ${id}::uuid and ${reachOf(scope)}`)
      : [];
    if (row === undefined) throw noSuchWebhook();
    return row;
  }

  async #shown(scope: Scope, row: DeliveryRow): Promise<WebhookDelivery> {
    const [body] = await readableBodies(this.#options.store, scope, [row]);
    return fromRow<WebhookDelivery>({ ...row, body: body ?? null });
  }

  async #delivery(scope: Scope, id: string): Promise<WebhookDelivery> {
    const [row] = await this.#options.database.query<DeliveryRow>(sql`
      select ${DELIVERY_COLUMNS} from webhook_deliveries where id = ${id}::bigint`);
    if (row === undefined) throw noSuchWebhook();
    return await this.#shown(scope, row);
  }

  #assertMayHave(scope: Scope): void {
    if (this.mayHave(scope)) return;
    const roles = ['admin', ...this.#options.roles.filter((role) => role !== 'admin')].join(', ');
    throw new ServiceError(
      'FORBIDDEN',
      `Webhooks are for the roles ${roles} (WEBHOOK_ROLES), after logging in, in your own domain.`,
    );
  }
}

/** Records an action on a webhook in the audit trail. */
function noteOf(scope: Scope, id: string, operation: AuditedOperation, from: Sql = sql.empty): Sql {
  return auditedAct(scope, { collection: '$webhook', id, operation, from });
}

/** The ETag is made of what can be changed, not of the time: two changes may fall into one millisecond. */
const ETAG = sql`hashtextextended(
    jsonb_build_array(webhooks.name, webhooks.url, webhooks.events, webhooks.is_paused)::text, 0)::text`;

const COLUMNS = sql`webhooks.id::text as id, user_id as "userId", name, url, events,
  is_paused as "isPaused", failures >= ${FAILURES_OF_FAILING}::int as "isFailing",
  created_at as "createdAt", updated_at as "updatedAt", ${ETAG} as etag`;

/** @see DeliveryState */
const SHOWN_STATE = sql`case state when 'sending' then 'waiting' else state end`;

const DELIVERY_COLUMNS = sql`webhook_deliveries.id::text as id, webhook_id::text as "webhookId",
  ${SHOWN_STATE} as state,
  event, body, attempts,
  case when ${NOT_ENDED} then next_attempt_at end as "nextAttemptAt", status, answer, problem,
  duration_ms as "durationMs", created_at as "createdAt", attempted_at as "attemptedAt"`;

type DeliveryRow = RowOf<WebhookDelivery>;

function reachOf({ principal, domain }: Scope): Sql {
  const ofDomain = sql`domain_id = ${domain.id}`;
  return isAdmin(principal) ? ofDomain : sql`${ofDomain} and user_id = ${principal.id}`;
}

function noSuchWebhook(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such webhook among yours.');
}
