/**
 * Sends the deliveries that the outbox has noted, with the rights of the webhook's owner, and repeats failed
 * ones for a day. A failing address gets one delivery at a time, at least one a minute, and everything that
 * waits for it as soon as one has succeeded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../base/errors.js';
import { parseOquery } from '../../base/languages/oquery.js';
import { queryOf } from '../../base/model/record-query.js';
import { type Scope, systemPrincipal } from '../../base/model/scope.js';
import { inTraceOf } from '../../base/process/traced.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import { type Sql, sql } from '../../store/sql.js';
import type { Principals } from '../auth/principals.js';
import type { DomainDirectory } from '../auth/resolve-scope.js';
import type { TextEncryption } from '../auth/text-encryption.js';
import type { OutboundClient } from '../scripting/requests/outbound-client.js';
import { isRefused, readableBodies } from './readable-bodies.js';
import { signWebhook } from './sign-webhook.js';
import {
  type DeliveryState,
  FAILURES_OF_FAILING,
  mayHaveWebhooks,
  type WebhookEvent,
  type WebhookNews,
  webhookNewsSchema,
} from './webhook.js';
import type { WebhookOutbox } from './webhook-outbox.js';

export interface WebhookDeliveriesOptions {
  readonly database: Database;
  readonly domains: DomainDirectory;
  readonly store: Pick<RecordStore, 'find' | 'get'>;
  readonly principals: Pick<Principals, 'ofWork'>;
  /** @see mayHaveWebhooks */
  readonly roles: readonly string[];
  readonly encryption: TextEncryption;
  readonly outbox: Pick<WebhookOutbox, 'follow'>;
  readonly outbound: Pick<OutboundClient, 'send'>;
  readonly timeoutMs: number;
  readonly onFault: (error: unknown) => void;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** The waits after the first attempt, the second and so on; together they take a day. */
const WAITS_SECONDS = [
  ...[10, 30, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 8 * HOUR],
];
/** This long after its last failure a failing address is tried with a waiting delivery ahead of its time. */
const PROBE_EVERY_SECONDS = MINUTE;
/** A delivery that a gateway took before it died is free again after this time. */
const LEASE_SECONDS = 120;
const AT_ONCE = 16;
/** Limits the deliveries to one address, so that an unresponsive one leaves places for others. */
const AT_ONCE_OF_WEBHOOK = 4;
/** After this time the next deliveries are taken, even if an answer is still missing. */
const ANSWER_SOON_MS = 200;
const LOOK_EVERY_MS = 500;
/** How soon a gateway without webhooks notices the first one. */
const LOOK_RARELY_MS = 3_000;
const KEPT_ANSWER = 2_000;
const KEPT_DAYS = 7;
const WAITING_DAYS = 30;
const MOST_REMOVED = 10_000;

/** Closing it waits for the deliveries that are being sent. */
export class WebhookDeliveries {
  readonly #options: WebhookDeliveriesOptions;
  readonly #end = new AbortController();
  /** The deliveries being sent, by webhook. */
  readonly #sending = new Map<Promise<void>, string>();
  #running: Promise<void> = Promise.resolve();
  #onTried: (state: DeliveryState) => void = () => {};
  #isKeyMissing = false;

  constructor(options: WebhookDeliveriesOptions) {
    this.#options = options;
  }

  /** Begins to follow the outbox and to send; `onTried` gets the state of a delivery after each attempt. */
  start(onTried: (state: DeliveryState) => void): void {
    this.#onTried = onTried;
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
    await Promise.all(this.#sending.keys());
  }

  /** Sends a delivery that was just noted, even before its time: for a test that a user waits for. */
  async sendNow(id: string): Promise<void> {
    const [delivery] = await this.#claim(sql`
      select d.id, d.next_attempt_at, false as is_early from webhook_deliveries d
      where d.id = ${id}::bigint and d.state = 'waiting'
      for update skip locked`);
    if (delivery !== undefined) await this.#sendTraced(delivery);
  }

  /** Removes deliveries that ended a week ago, and those that waited a month for a paused webhook. */
  async purge(): Promise<void> {
    await this.#options.database.query(sql`
      delete from webhook_deliveries
      where id in (
        select id
        from webhook_deliveries
        where created_at < now() - interval '1 day'
          * case state when 'waiting' then ${WAITING_DAYS}::int else ${KEPT_DAYS}::int end
        limit ${MOST_REMOVED}::int
      )`);
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    let isOut = false;
    while (!signal.aborted) {
      let waitMs = LOOK_EVERY_MS;
      try {
        if (await this.#isWanted()) await this.#work(signal);
        else waitMs = LOOK_RARELY_MS;
        isOut = false;
      } catch (error) {
        if (!isOut) this.#options.onFault(error);
        isOut = true;
        waitMs = LOOK_RARELY_MS;
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #isWanted(): Promise<boolean> {
    const rows = await this.#options.database.background.query(sql`select 1 as one from webhooks limit 1`, {
      name: 'webhooks-any',
    });
    return rows.length > 0;
  }

  async #work(signal: AbortSignal): Promise<void> {
    await this.#options.outbox.follow();
    await this.#reportMissingKey();
    for (;;) {
      const claimed = await this.#claimDue();
      for (const delivery of claimed) this.#begin(delivery);
      if (claimed.length === 0 || signal.aborted) return;
      await this.#waitForRoom(signal);
    }
  }

  async #reportMissingKey(): Promise<void> {
    const { database, encryption, onFault } = this.#options;
    const rows = await database.background.query(
      sql`select 1 as one from webhooks where not ${encryption.hasKeyOf(sql`secret`)} limit 1`,
      { name: 'webhooks-without-key' },
    );
    const isMissing = rows.length > 0;
    if (isMissing && !this.#isKeyMissing) onFault(new ServiceError('UNAVAILABLE', KEY_MISSING));
    this.#isKeyMissing = isMissing;
  }

  #begin(delivery: Claimed): void {
    const sending = this.#sendTraced(delivery).finally(() => this.#sending.delete(sending));
    this.#sending.set(sending, delivery.webhookId);
  }

  /** Waits for the deliveries being sent, up to a limit. */
  async #waitForRoom(signal: AbortSignal): Promise<void> {
    const soon = new AbortController();
    const isSoon = sleep(ANSWER_SOON_MS, undefined, { signal: AbortSignal.any([signal, soon.signal]) });
    await Promise.race([Promise.all(this.#sending.keys()), isSoon.catch(() => undefined)]);
    soon.abort();
  }

  /**
   * The deliveries that are due: a few for each webhook, a single one for a failing one. For a failing
   * webhook without a due delivery, the next one, to find out whether its address is back. Deliveries that
   * cannot be signed, because their key is missing, wait for it.
   */
  async #claimDue(): Promise<readonly Claimed[]> {
    const room = AT_ONCE - this.#sending.size;
    if (room === 0) return [];
    const busy: Record<string, number> = {};
    for (const webhook of this.#sending.values()) busy[webhook] = (busy[webhook] ?? 0) + 1;
    return await this.#claim(sql`
      select due.id, due.next_attempt_at, due.is_early
      from webhooks w
      cross join lateral (
        select d.id, d.next_attempt_at, d.next_attempt_at > now() as is_early
        from webhook_deliveries d
        where d.webhook_id = w.id
          and d.state = 'waiting'
          and (
            d.next_attempt_at <= now()
            or w.failures >= ${FAILURES_OF_FAILING}::int
              and d.problem is not null
              and coalesce(w.tried_at, '-infinity')
                < now() - ${PROBE_EVERY_SECONDS}::int * interval '1 second'
          )
        order by d.next_attempt_at, d.id
        limit greatest(
          case when w.failures < ${FAILURES_OF_FAILING}::int then ${AT_ONCE_OF_WEBHOOK}::int else 1 end
            - coalesce((${JSON.stringify(busy)}::jsonb ->> w.id::text)::int, 0),
          0
        )
        for update skip locked
      ) as due
      where not w.is_paused and ${this.#options.encryption.hasKeyOf(sql`w.secret`)}
      order by due.next_attempt_at, due.id
      limit ${room}::int`);
  }

  /**
   * Reserves deliveries for this gateway for a while. A delivery that is being sent has no `problem`; one
   * that waits for another attempt has. An attempt ahead of its time is not counted.
   */
  async #claim(ids: Sql): Promise<readonly Claimed[]> {
    return await this.#options.database.background.query<Claimed>(sql`
      with taken as (${ids})
      update webhook_deliveries d
      set next_attempt_at = now() + ${LEASE_SECONDS}::int * interval '1 second',
        attempts = d.attempts + case when taken.is_early then 0 else 1 end,
        problem = null
      from taken, webhooks w
      where d.id = taken.id and w.id = d.webhook_id
      returning d.id::text as id, d.event, d.body, d.attempts, w.id as "webhookId", w.domain_id as "domainId",
        w.user_id as "userId", w.url, w.events, w.secret, w.failures,
        case when taken.is_early then taken.next_attempt_at::text end as "dueAt"`);
  }

  /** A delivery has a trace of its own, because one write may cause many, some of them weeks later. */
  async #sendTraced(delivery: Claimed): Promise<void> {
    const attributes = { 'campus.webhook': delivery.webhookId, 'campus.attempt': delivery.attempts };
    await inTraceOf({}, { name: 'webhook', kind: 'consumer', attributes }, () => this.#send(delivery));
  }

  /**
   * Only the receiver and the owner end a delivery; after anything else it is tried again, like one that the
   * address refused.
   */
  async #send(delivery: Claimed): Promise<void> {
    try {
      const body = await this.#bodyOf(delivery);
      await (body === undefined
        ? this.#settle(delivery, { state: 'skipped', problem: NOT_TOLD, isBodyKept: false })
        : this.#post(delivery, body));
    } catch (error) {
      const problem =
        error instanceof ServiceError ? error.message : 'A fault of the gateway; its log says more.';
      // If the database is out of reach, the reservation expires and the delivery is tried again.
      await this.#settle(delivery, { ...afterFailure(delivery), problem }).catch(() => undefined);
      if (!(error instanceof ServiceError)) this.#options.onFault(error);
    }
  }

  /**
   * The body to send, by the present rights of the owner; `undefined` if the owner may not have it or did not
   * ask for it. A body made for an earlier attempt is sent again, as far as the owner may still read it.
   */
  async #bodyOf({ id, event, body, domainId, userId, events }: Claimed): Promise<string | undefined> {
    const { store } = this.#options;
    const scope = await this.#scopeOf(domainId, userId);
    if (scope === undefined) return undefined;
    if (body !== null) return (await readableBodies(store, scope, [{ event, body }]))[0];
    const news = webhookNewsSchema.parse(event);
    const head = { id, ...news, domain: domainId };
    if (news.collection === undefined) return JSON.stringify(head);
    try {
      if (!(await this.#isTold(scope, news, events))) return undefined;
      if (news.type === 'record.deleted') return JSON.stringify(head);
      const { json } = await store.get(scope, news.collection, news.recordId ?? '');
      return `${JSON.stringify(head).slice(0, -1)},"record":${json}}`;
    } catch (error) {
      if (isRefused(error)) return undefined;
      throw error;
    }
  }

  /** `undefined` if the owner may not have webhooks any more. @throws UNAVAILABLE for an unknown domain */
  async #scopeOf(domainId: string, userId: string): Promise<Scope | undefined> {
    const { domains, principals, roles } = this.#options;
    await domains.assureKnown(domainId);
    const domain = domains.find(domainId);
    if (domain === undefined) throw new ServiceError('UNAVAILABLE', `The domain "${domainId}" is not known.`);
    const principal = await principals.ofWork({
      ...{ kind: 'user', id: userId, domainId },
      credential: { kind: 'token', id: 'webhooks' },
    });
    if (principal === undefined) return undefined;
    const scope = { domain, principal, requestId: 'webhooks' };
    return mayHaveWebhooks(scope, roles) ? scope : undefined;
  }

  /** Whether the owner may read the record, as it is or last was, and asked for it. */
  async #isTold(scope: Scope, news: WebhookNews, events: readonly WebhookEvent[]): Promise<boolean> {
    const { collection = '', recordId = '' } = news;
    const operation = news.type.slice('record.'.length);
    for (const event of events) {
      if (event.collection !== collection || !event.operations.some((one) => one === operation)) continue;
      const filter = parseOquery(event.oquery ?? '');
      const set = this.#options.store.find(scope, { ...queryOf(collection), filter });
      const [record] = await set.printChanged([recordId], []);
      if (record !== undefined && record.isRemoved === (operation === 'deleted')) return true;
    }
    return false;
  }

  async #post(delivery: Claimed, body: string): Promise<void> {
    const { outbound, encryption, timeoutMs } = this.#options;
    const startedAt = performance.now();
    const headers = {
      'content-type': 'application/json',
      ...signWebhook(encryption.decrypt(delivery.domainId, delivery.secret), {
        id: delivery.id,
        at: new Date(),
        body,
      }),
    };
    const outcome = await outbound
      .send({
        method: 'POST',
        url: new URL(delivery.url),
        headers,
        body,
        timeoutMs,
        redirects: 'return',
        signal: this.#end.signal,
      })
      .then(
        ({ status, body: answer }) => ({ status, answer: printable(answer), problem: problemOf(status) }),
        (error: unknown) => ({
          status: undefined,
          answer: undefined,
          problem: error instanceof Error ? error.message : String(error),
        }),
      );
    const durationMs = performance.now() - startedAt;
    const next = afterAnswer(delivery, outcome);
    await this.#settle(delivery, { ...outcome, ...next, body, durationMs });
    if (outcome.status === GONE) await this.#pause(delivery);
    if (outcome.problem !== undefined) await this.#noteFailure(delivery);
    else if (delivery.failures > 0) await this.#noteRecovery(delivery);
  }

  /** The receiver wants no more: the rest waits until the owner starts the webhook again. */
  async #pause({ webhookId, domainId }: Claimed): Promise<void> {
    const domain = this.#options.domains.find(domainId);
    if (domain === undefined) return;
    const scope = { domain, principal: systemPrincipal('webhooks', [], domainId), requestId: 'webhooks' };
    const act = { collection: '$webhook', id: webhookId, operation: 'updated' } as const;
    await this.#options.database.background.query(sql`
      with paused as (
        update webhooks set is_paused = true, updated_at = now()
        where id = ${webhookId}::uuid and not is_paused
        returning id
      )
      ${auditedAct(scope, { ...act, from: sql`from paused` })}`);
  }

  async #noteFailure({ webhookId }: Claimed): Promise<void> {
    await this.#options.database.background.query(sql`
      update webhooks set failures = failures + 1, tried_at = now() where id = ${webhookId}::uuid`);
  }

  /**
   * Makes everything due that waits for an address that was failing. If only single deliveries failed while
   * others arrived, the address is not the cause, and those keep their time.
   */
  async #noteRecovery({ webhookId }: Claimed): Promise<void> {
    await this.#options.database.background.query(sql`
      with before as (
        select id, failures from webhooks where id = ${webhookId}::uuid for update
      ), recovered as (
        update webhooks w
        set failures = 0
        from before
        where w.id = before.id
        returning before.id, before.failures
      )
      update webhook_deliveries d
      set next_attempt_at = now()
      from recovered
      where recovered.failures >= ${FAILURES_OF_FAILING}::int
        and d.webhook_id = recovered.id
        and d.state = 'waiting'
        and d.problem is not null
        and d.next_attempt_at > now()`);
  }

  async #settle({ id }: Claimed, outcome: Outcome): Promise<void> {
    const { state, status, answer, problem, durationMs, waitSeconds = 0, dueAt } = outcome;
    const { body, isBodyKept = true } = outcome;
    this.#onTried(state);
    await this.#options.database.background.query(sql`
      update webhook_deliveries
      set state = ${state},
          body = case when ${isBodyKept}::boolean then coalesce(${body ?? null}::text, body) end,
          status = ${status ?? null}::int,
          answer = ${answer ?? null}::text,
          problem = ${problem?.slice(0, KEPT_ANSWER) ?? null}::text,
          duration_ms = ${durationMs ?? null}::float8,
          next_attempt_at = coalesce(${dueAt ?? null}::timestamptz,
            now() + ${waitSeconds}::int * interval '1 second'),
          attempted_at = now()
      where id = ${id}::bigint`);
  }
}

/** The status by which a receiver ends its webhook, as Standard Webhooks specifies. */
const GONE = 410;

/** What the receiver's answer, or its absence, makes of the delivery. */
function afterAnswer(
  delivery: Claimed,
  { status, problem }: Pick<Outcome, 'status' | 'problem'>,
): Pick<Outcome, 'state' | 'waitSeconds' | 'dueAt'> {
  if (problem === undefined) return { state: 'delivered' };
  return status === GONE ? { state: 'failed' } : afterFailure(delivery);
}

/**
 * Sets the time of the next attempt, or gives up after the last; an attempt ahead of its time changes
 * neither.
 */
function afterFailure({
  attempts,
  dueAt,
}: Pick<Claimed, 'attempts' | 'dueAt'>): Pick<Outcome, 'state' | 'waitSeconds' | 'dueAt'> {
  if (dueAt !== null) return { state: 'waiting', dueAt };
  const waitSeconds = WAITS_SECONDS[attempts - 1];
  return waitSeconds === undefined ? { state: 'failed' } : { state: 'waiting', waitSeconds };
}

const KEY_MISSING =
  'The secrets of some webhooks were encrypted with a key that ENCRYPTION_SECRET does not contain. Their ' +
  'deliveries wait. Add the key to ENCRYPTION_SECRET, or rotate the secrets of these webhooks.';
const NOT_TOLD =
  'Not sent: the owner may not read the record or have webhooks any more, or the record has changed again.';

interface Claimed {
  readonly id: string;
  readonly event: unknown;
  readonly body: string | null;
  readonly attempts: number;
  readonly webhookId: string;
  readonly domainId: string;
  readonly userId: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly secret: string;
  /** How often the address had failed in a row when the delivery was taken. */
  readonly failures: number;
  /** When the next counted attempt is due, for a delivery that is tried ahead of its time. */
  readonly dueAt: string | null;
}

interface Outcome {
  readonly state: DeliveryState;
  readonly body?: string | undefined;
  /** Default: true. A body that the owner may not read any more is not kept. */
  readonly isBodyKept?: boolean;
  readonly status?: number | undefined;
  readonly answer?: string | undefined;
  readonly problem?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly waitSeconds?: number | undefined;
  /** The time of the next attempt, instead of a wait. */
  readonly dueAt?: string | undefined;
}

/** Any 2xx is a success. A redirect is a failure, because it could lead anywhere. */
function problemOf(status: number): string | undefined {
  if (status === GONE) return 'The answer was 410: the receiver wants no more, so the webhook is paused.';
  return status >= 200 && status < 300 ? undefined : `The answer was ${status}.`;
}

function printable(answer: Buffer): string {
  return answer.toString('utf8').slice(0, KEPT_ANSWER).replaceAll('\0', '\ufffd');
}
