/**
 * Sends the deliveries that the outbox has noted, with the rights of the webhook's owner, and repeats failed
 * ones for a day. Each webhook with a due delivery has one job. A failing address gets one delivery at a
 * time, at least one a minute, and everything that waits for it as soon as one has succeeded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ifRefused, ServiceError } from '../../base/errors.js';
import { parseOquery } from '../../base/languages/oquery.js';
import { queryOf } from '../../base/model/record-query.js';
import { type Scope, systemPrincipal } from '../../base/model/scope.js';
import { inTraceOf } from '../../base/process/traced.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Transaction } from '../../store/database/queryable.js';
import { RepeatedWork } from '../../store/database/repeated-work.js';
import type { RecordStore } from '../../store/record-store.js';
import { type Sql, sql } from '../../store/sql.js';
import type { Principals } from '../auth/principals.js';
import type { DomainDirectory } from '../auth/resolve-scope.js';
import type { TextEncryption } from '../auth/text-encryption.js';
import type { JobQueue } from '../jobs/job-queue.js';
import type { OutboundClient } from '../scripting/requests/outbound-client.js';
import { type FollowedTrail, followTrail } from './follow-trail.js';
import {
  type DeliveryState,
  FAILURES_OF_FAILING,
  mayHaveWebhooks,
  NOT_ENDED,
  readableBodies,
  signWebhook,
  UNREADABLE,
  type WebhookEvent,
  WebhookNews,
} from './webhook.js';

export interface WebhookDeliveriesOptions extends FollowedTrail {
  readonly domains: DomainDirectory;
  readonly store: Pick<RecordStore, 'find' | 'get'>;
  readonly principals: Pick<Principals, 'ofWork'>;
  /** @see mayHaveWebhooks */
  readonly roles: readonly string[];
  readonly encryption: TextEncryption;
  readonly jobs: Pick<JobQueue, 'addMissing'>;
  readonly outbound: Pick<OutboundClient, 'send'>;
  readonly timeoutMs: number;
  readonly onFault: (error: unknown) => void;
}

/** Sends what is due of one webhook. */
export const WEBHOOK_TASK = 'webhooks.send';
/** The jobs of all gateways; so few that they leave workers for other work. */
const MOST_JOBS = 6;
/** There are no more jobs of failing webhooks, whose addresses may not respond. */
const MOST_OF_FAILING = 3;
/** After this time a job leaves the rest to the next one, so that other webhooks have their turn. */
const TURN_MS = 5_000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** The waits after the first attempt, the second and so on; together they take a day. */
const WAITS_SECONDS = [
  ...[10, 30, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 8 * HOUR],
];
/** This long after its last failure a failing address is tried with a waiting delivery ahead of its time. */
const PROBE_EVERY_SECONDS = MINUTE;
/** No answer takes as long. A delivery is tried again after this time if the gateway that sent it died. */
const ANSWER_SECONDS = 120;
/** Limits the deliveries to one address. */
const AT_ONCE = 4;
/** After this time the next deliveries are taken, even if an answer is still missing. */
const ANSWER_SOON_MS = 200;
const LOOK_EVERY_MS = 500;
const KEPT_ANSWER = 2_000;
const KEPT_DAYS = 7;
const WAITING_DAYS = 30;
const MOST_REMOVED = 10_000;
/** The status by which a receiver ends its webhook, as Standard Webhooks specifies. */
const GONE = 410;

const IS_FAILING = sql`(w.failures >= ${FAILURES_OF_FAILING}::int)`;
/**
 * Whether a delivery `d` of the webhook `w` is to be sent. That of a failing webhook may be ahead of its
 * time, to find out whether the address is back.
 */
const IS_DUE = sql`d.webhook_id = w.id and ${NOT_ENDED} and (
  d.next_attempt_at <= now()
  or ${IS_FAILING} and d.state = 'waiting'
    and coalesce(w.tried_at, '-infinity') < now() - ${PROBE_EVERY_SECONDS}::int * interval '1 second'
)`;

export class WebhookDeliveries {
  readonly #options: WebhookDeliveriesOptions;
  #looks: RepeatedWork | undefined;
  #onTried: (state: DeliveryState) => void = () => {};
  #isKeyMissing = false;

  constructor(options: WebhookDeliveriesOptions) {
    this.#options = options;
  }

  /**
   * Begins to follow the outbox and to add jobs; `onTried` gets the state of a delivery after each attempt.
   */
  start(onTried: (state: DeliveryState) => void): void {
    const { onFault } = this.#options;
    this.#onTried = onTried;
    this.#looks = new RepeatedWork({ work: () => this.#look(), everyMs: LOOK_EVERY_MS, onFault });
  }

  async close(): Promise<void> {
    await this.#looks?.close();
  }

  /** Sends what is due of a webhook. The job whose key names the webhook is the only one that does so. */
  async send(webhookId: string, signal: AbortSignal): Promise<void> {
    const endAt = performance.now() + TURN_MS;
    const sending = new Set<Promise<void>>();
    for (;;) {
      const hasTime = performance.now() < endAt && !signal.aborted;
      for (const delivery of hasTime ? await this.#takeDue(webhookId, sending.size) : []) {
        const sent = this.#sendTraced(delivery, signal)
          .catch(this.#options.onFault)
          .finally(() => sending.delete(sent));
        sending.add(sent);
      }
      if (sending.size === 0) return;
      await Promise.race([...sending, sleep(ANSWER_SOON_MS)]);
    }
  }

  /** Sends a delivery even before its time: for a test that a user waits for. */
  async sendNow(id: string): Promise<void> {
    const [delivery] = await this.#take(sql`
      select d.id, d.next_attempt_at, false as is_early from webhook_deliveries d
      where d.id = ${id}::bigint`);
    if (delivery !== undefined)
      await this.#sendTraced(delivery, AbortSignal.timeout(this.#options.timeoutMs));
  }

  /** Removes deliveries that ended a week ago, and those that waited a month for a paused webhook. */
  async purge(): Promise<void> {
    await this.#options.database.query(sql`
      delete from webhook_deliveries
      where id in (
        select id
        from webhook_deliveries
        where created_at < now() - interval '1 day'
          * case when ${NOT_ENDED} then ${WAITING_DAYS}::int else ${KEPT_DAYS}::int end
        limit ${MOST_REMOVED}::int
      )`);
  }

  async #look(): Promise<void> {
    const { database, onFault } = this.#options;
    const [found] = await database.background.query<{ count: number; withoutKey: number }>(
      sql`select count(*)::int as count,
          (count(*) filter (where not ${this.#hasKey()}))::int as "withoutKey"
        from webhooks w`,
      { name: 'webhooks-count' },
    );
    if (found === undefined || found.count === 0) return;
    await followTrail(this.#options, (transaction) => this.#addJobs(transaction));
    const isKeyMissing = found.withoutKey > 0;
    if (isKeyMissing && !this.#isKeyMissing) onFault(new ServiceError('UNAVAILABLE', KEY_MISSING));
    this.#isKeyMissing = isKeyMissing;
  }

  /** Adds jobs for webhooks with a due delivery, for failing ones only into what the others leave. */
  async #addJobs(transaction: Transaction): Promise<void> {
    for (const isFailing of [false, true]) {
      const due = sql`
        select w.id::text
        from webhooks w
        cross join lateral (
          select d.next_attempt_at from webhook_deliveries d
          where ${IS_DUE} order by d.next_attempt_at limit 1
        ) as due
        where ${IS_FAILING} = ${isFailing}::boolean and ${this.#maySend()}
        order by due.next_attempt_at`;
      const most = isFailing ? MOST_OF_FAILING : MOST_JOBS;
      const options = { keyPrefix: 'webhook ', most, maxAttempts: 3 };
      await this.#options.jobs.addMissing(WEBHOOK_TASK, due, options, transaction);
    }
  }

  /** Deliveries that cannot be signed, because their key is missing, wait for it. */
  #maySend(): Sql {
    return sql`not w.is_paused and ${this.#hasKey()}`;
  }

  #hasKey(): Sql {
    return this.#options.encryption.hasKeyOf(sql`w.secret`);
  }

  /** The deliveries that are due beside those being sent: a few, or a single one of a failing webhook. */
  async #takeDue(webhookId: string, busy: number): Promise<readonly Taken[]> {
    return await this.#take(sql`
      select d.id, d.next_attempt_at, d.next_attempt_at > now() as is_early
      from webhooks w
      join webhook_deliveries d on ${IS_DUE}
      where w.id = ${webhookId}::uuid and ${this.#maySend()}
      order by d.next_attempt_at, d.id
      limit (
        select greatest(0, case when ${IS_FAILING} then 1 else ${AT_ONCE}::int end - ${busy}::int)
        from webhooks w where w.id = ${webhookId}::uuid
      )
      for update of d skip locked`);
  }

  /** Marks deliveries as being sent. An attempt ahead of its time is not counted. */
  async #take(ids: Sql): Promise<readonly Taken[]> {
    return await this.#options.database.background.query<Taken>(sql`
      with taken as (${ids})
      update webhook_deliveries d
      set state = 'sending',
        next_attempt_at = now() + ${ANSWER_SECONDS}::int * interval '1 second',
        attempts = d.attempts + case when taken.is_early then 0 else 1 end
      from taken, webhooks w
      where d.id = taken.id and w.id = d.webhook_id
      returning d.id::text as id, d.event, d.body, d.attempts, w.id as "webhookId", w.domain_id as "domainId",
        w.user_id as "userId", w.url, w.events, w.secret, w.failures,
        case when taken.is_early then taken.next_attempt_at::text end as "dueAt"`);
  }

  /** A delivery has a trace of its own, because one write may cause many, some of them weeks later. */
  async #sendTraced(delivery: Taken, signal: AbortSignal): Promise<void> {
    const attributes = { 'campus.webhook': delivery.webhookId, 'campus.attempt': delivery.attempts };
    await inTraceOf({}, { name: 'webhook', kind: 'consumer', attributes }, async () => {
      const tried = await this.#try(delivery, signal);
      await this.#settle(delivery, tried);
      if (tried.status === GONE) await this.#pause(delivery);
      if (tried.durationMs !== undefined) await this.#judgeAddress(delivery, tried.problem === undefined);
    });
  }

  /**
   * Only the receiver and the owner end a delivery; after anything else it is tried again, like one that the
   * address refused.
   */
  async #try(delivery: Taken, signal: AbortSignal): Promise<Tried> {
    try {
      const body = await this.#bodyOf(delivery).catch(ifRefused(UNREADABLE, undefined));
      if (body === undefined) return { isSkipped: true, problem: NOT_SENT, body: null };
      return await this.#post(delivery, body, signal);
    } catch (error) {
      if (error instanceof ServiceError) return { problem: error.message };
      this.#options.onFault(error);
      return { problem: 'The gateway failed; its log has details.' };
    }
  }

  /**
   * The body to send, by the present rights of the owner; `undefined` if the owner may not have it or did not
   * ask for it. A body made for an earlier attempt is sent again, as far as the owner may still read it.
   */
  async #bodyOf({ id, event, body, domainId, userId, events }: Taken): Promise<string | undefined> {
    const { store } = this.#options;
    const scope = await this.#scopeOf(domainId, userId);
    if (scope === undefined) return undefined;
    if (body !== null) return (await readableBodies(store, scope, [{ event, body }]))[0];
    const news = WebhookNews.parse(event);
    const head = { id, ...news, domain: domainId };
    if (news.collection === undefined) return JSON.stringify(head);
    if (!(await this.#isWanted(scope, news, events))) return undefined;
    if (news.type === 'record.deleted') return JSON.stringify(head);
    const { json } = await store.get(scope, news.collection, news.recordId ?? '');
    return `${JSON.stringify(head).slice(0, -1)},"record":${json}}`;
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
    const scope = { domain, principal, call: { requestId: 'webhooks' } };
    return mayHaveWebhooks(scope, roles) ? scope : undefined;
  }

  /** Whether an event of the webhook selects the record, now or as it last was, and the owner may read it. */
  async #isWanted(scope: Scope, news: WebhookNews, events: readonly WebhookEvent[]): Promise<boolean> {
    const { collection = '', recordId = '' } = news;
    const operation = news.type.slice('record.'.length);
    for (const event of events) {
      if (event.collection !== collection || !event.operations.some((one) => one === operation)) continue;
      const filter = parseOquery(event.oquery ?? '');
      const set = this.#options.store.find(scope, { ...queryOf(collection), filter });
      const [record] = await set.findChanged([recordId]);
      if (record?.isRemoved === (operation === 'deleted')) return true;
    }
    return false;
  }

  async #post(delivery: Taken, body: string, signal: AbortSignal): Promise<Tried> {
    const { outbound, encryption, timeoutMs } = this.#options;
    const { id, url, domainId, secret } = delivery;
    const signature = signWebhook(encryption.decrypt(domainId, secret), { id, at: new Date(), body });
    const headers = { 'content-type': 'application/json', ...signature };
    const request = { method: 'POST', url: new URL(url), headers, body, timeoutMs, signal } as const;
    const startedAt = performance.now();
    const answered = await outbound.send({ ...request, redirects: 'return' }).then(
      ({ status, body: bytes }) => {
        const answer = bytes.toString('utf8').slice(0, KEPT_ANSWER).replaceAll('\0', '\ufffd');
        return { status, answer, problem: problemOf(status) };
      },
      (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
    );
    return { ...answered, body, durationMs: performance.now() - startedAt };
  }

  /** The receiver wants no more: the rest waits until the owner starts the webhook again. */
  async #pause({ webhookId, domainId }: Taken): Promise<void> {
    const domain = this.#options.domains.find(domainId);
    if (domain === undefined) return;
    const principal = systemPrincipal('webhooks', [], domainId);
    const scope = { domain, principal, call: { requestId: 'webhooks' } };
    const act = { collection: '$webhook', id: webhookId, operation: 'updated' } as const;
    await this.#options.database.background.query(sql`
      with paused as (
        update webhooks set is_paused = true, updated_at = now()
        where id = ${webhookId}::uuid and not is_paused
        returning id
      )
      ${auditedAct(scope, { ...act, from: sql`from paused` })}`);
  }

  /**
   * Counts a failure, or makes everything due that waits for an address that was failing. If only single
   * deliveries failed while others arrived, the address is not the cause, and those keep their time.
   */
  async #judgeAddress({ webhookId, failures }: Taken, hasArrived: boolean): Promise<void> {
    const { background } = this.#options.database;
    if (!hasArrived) {
      await background.query(sql`
        update webhooks set failures = failures + 1, tried_at = now() where id = ${webhookId}::uuid`);
    } else if (failures > 0) {
      await background.query(sql`
        with recovered as (
          update webhooks set failures = 0 where id = ${webhookId}::uuid
        )
        update webhook_deliveries
        set next_attempt_at = now()
        where ${failures >= FAILURES_OF_FAILING}::boolean
          and webhook_id = ${webhookId}::uuid
          and state = 'waiting'
          and next_attempt_at > now()`);
    }
  }

  /**
   * Sets the time of the next attempt, or gives up after the last; an attempt ahead of its time changes
   * neither.
   */
  async #settle({ id, attempts, dueAt }: Taken, tried: Tried): Promise<void> {
    const { status, answer, problem, durationMs, body } = tried;
    const waitSeconds = dueAt === null ? WAITS_SECONDS[attempts - 1] : 0;
    const state = stateAfter(tried, waitSeconds === undefined);
    this.#onTried(state);
    await this.#options.database.background.query(sql`
      update webhook_deliveries
      set state = ${state},
          body = ${body === undefined ? sql`body` : sql`${body}::text`},
          status = ${status ?? null}::int,
          answer = ${answer ?? null}::text,
          problem = ${problem?.slice(0, KEPT_ANSWER) ?? null}::text,
          duration_ms = ${durationMs ?? null}::float8,
          next_attempt_at = coalesce(${dueAt}::timestamptz,
            now() + ${waitSeconds ?? 0}::int * interval '1 second'),
          attempted_at = now()
      where id = ${id}::bigint`);
  }
}

const KEY_MISSING =
  'The secrets of some webhooks were encrypted with a key that ENCRYPTION_SECRET does not contain. Their ' +
  'deliveries wait. Add the key to ENCRYPTION_SECRET, or rotate the secrets of these webhooks.';
const NOT_SENT =
  'Not sent: the owner may not read the record or have webhooks any more, or the record has changed again.';

interface Taken {
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

/** The outcome of an attempt. */
interface Tried {
  /** The owner may not have it. */
  readonly isSkipped?: boolean;
  /** `undefined`: it has arrived. */
  readonly problem?: string | undefined;
  readonly status?: number | undefined;
  readonly answer?: string | undefined;
  /** `null`: one that the owner may not read any more is not kept. `undefined`: it stays as it is. */
  readonly body?: string | null | undefined;
  /** `undefined` if the address was not called. */
  readonly durationMs?: number | undefined;
}

function stateAfter({ isSkipped, problem, status }: Tried, isLast: boolean): DeliveryState {
  if (isSkipped) return 'skipped';
  if (problem === undefined) return 'delivered';
  return isLast || status === GONE ? 'failed' : 'waiting';
}

/** Any 2xx is a success. A redirect is a failure, because it could lead anywhere. */
function problemOf(status: number): string | undefined {
  if (status === GONE)
    return 'The answer was 410: the receiver no longer wants deliveries, so the webhook is paused.';
  return status >= 200 && status < 300 ? undefined : `The answer was ${status}.`;
}
