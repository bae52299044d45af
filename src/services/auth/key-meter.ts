/** Counts the requests of API keys without delaying them, and shows the figures to their owners. */

import type { Database } from '../../store/database/database.js';
import { RegularWrites } from '../../store/database/repeated-work.js';
import { type Sql, sql } from '../../store/sql.js';

/** An ended request, as far as the key's owner may see it. */
export interface MeteredRequest {
  readonly keyId: string;
  readonly requestId: string;
  /** The name of the GraphQL operation, or the route template; contains nothing that was sent. */
  readonly operation: string;
  readonly status: number;
  /** The answer, or a part of it, was an error. */
  readonly isError: boolean;
  readonly durationMs: number;
  /** The estimated cost of the GraphQL operation; `undefined` for other requests. */
  readonly cost: number | undefined;
}

/** The upper bounds of the buckets in `latency`; the last bucket has none. */
const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] as const;
/** How many requests of a key are kept. */
export const KEPT_REQUESTS = 1_000;

const HOUR_MS = 3_600_000;
const KEPT_DAYS = 30;
/** How many hours of keys are held in memory while the database is down. */
const MOST_KEY_HOURS = 5_000;
const MOST_WAITING_REQUESTS = 20_000;
const LONGEST_TEXT = 128;

interface HourCount {
  readonly keyId: string;
  readonly hour: number;
  requests: number;
  errors: number;
  refused: number;
  readonly latency: number[];
}

interface WaitingRequest {
  readonly request: MeteredRequest;
  readonly at: number;
}

interface KeyMeterOptions {
  readonly database: Database;
  readonly onFault: (error: unknown) => void;
}

/**
 * Collects requests in memory and writes them every two seconds: one statement for the hours, and one for the
 * requests, of which the last 1,000 per key are kept. A killed gateway loses two seconds of figures. While
 * the database is down they are held, up to a limit.
 *
 * Close it to write the rest.
 */
export class KeyMeter {
  readonly #options: KeyMeterOptions;
  readonly #writes: RegularWrites;
  #hours = new Map<string, HourCount>();
  #requests = new WaitingRequests();
  /** The address of the last use of each key. */
  #uses = new Map<string, string | undefined>();

  constructor(options: KeyMeterOptions) {
    this.#options = options;
    this.#writes = new RegularWrites(() => this.#write());
  }

  /** Records a request: a few additions, and no waiting. */
  note(request: MeteredRequest): void {
    const at = Date.now();
    const count = this.#countOf(request.keyId, Math.floor(at / HOUR_MS));
    if (count !== undefined) {
      count.requests += 1;
      if (request.isError) count.errors += 1;
      if (request.status === 429) count.refused += 1;
      const slot = slotOf(request.durationMs);
      count.latency[slot] = (count.latency[slot] ?? 0) + 1;
    }
    this.#requests.add({ request, at });
  }

  /** Records a use of the key and its address, to be shown with the key. */
  touch(keyId: string, address: string | undefined): void {
    this.#uses.set(keyId, address);
  }

  /** The hours with requests since an instant, oldest first. */
  async hours(keyId: string, since: Date): Promise<readonly HourFigures[]> {
    const rows = await this.#options.database.query<Counts & { hour: Date }>(sql`
      select hour, requests, errors, refused, latency, ${exactQuantiles(
        keyId,
        sql`at >= hour and at < hour + interval '1 hour'`,
      )}
      from key_usage
      where key_id = ${keyId}::uuid and hour >= ${since}::timestamptz
      order by hour`);
    return rows.map((row) => ({ hour: row.hour, ...figuresOf(row) }));
  }

  /** The total of these hours. */
  async total(keyId: string, since: Date): Promise<Omit<HourFigures, 'hour'>> {
    const [row] = await this.#options.database.query<Counts>(sql`
      with found as (
        select * from key_usage where key_id = ${keyId}::uuid and hour >= ${since}::timestamptz
      )
      select
        coalesce(sum(requests), 0)::int as requests,
        coalesce(sum(errors), 0)::int as errors,
        coalesce(sum(refused), 0)::int as refused,
        array(
          select sum(l.count)::int
          from found
          cross join lateral unnest(latency) with ordinality as l (count, place)
          group by l.place
          order by l.place
        ) as latency,
        ${exactQuantiles(keyId, sql`at >= ${since}::timestamptz`)}
      from found`);
    return figuresOf(row ?? { requests: 0, errors: 0, refused: 0, latency: [], exact: undefined });
  }

  /** The latest requests, newest first, of the at most 1,000 that are kept. */
  async requests(keyId: string, first: number): Promise<readonly KeyRequest[]> {
    const rows = await this.#options.database.prisma.keyRequest.findMany({
      where: { keyId },
      orderBy: [{ at: 'desc' }, { requestId: 'asc' }],
      take: Math.min(first, KEPT_REQUESTS),
      omit: { keyId: true, place: true },
    });
    return rows.map((row) => ({ ...row, cost: row.cost ?? undefined }));
  }

  /** Removes figures older than a month. */
  async purge(now: Date): Promise<void> {
    const oldest = new Date(now.getTime() - KEPT_DAYS * 24 * HOUR_MS);
    await this.#options.database.query(sql`delete from key_usage where hour < ${oldest}::timestamptz`);
  }

  /** Writes what was collected since the last time. Called periodically; never throws. */
  async flush(): Promise<void> {
    await this.#writes.flush();
  }

  async close(): Promise<void> {
    await this.#writes.close();
  }

  async #write(): Promise<void> {
    const [uses, hours, requests] = [this.#uses, [...this.#hours.values()], this.#requests];
    this.#uses = new Map();
    this.#hours = new Map();
    this.#requests = new WaitingRequests();
    const { onFault } = this.#options;
    await this.#writeUses(uses).catch((error: unknown) => {
      this.#uses = new Map([...uses, ...this.#uses]);
      onFault(error);
    });
    await this.#writeHours(hours).catch((error: unknown) => {
      for (const count of hours) this.#giveBack(count);
      onFault(error);
    });
    await this.#writeRequests(requests).catch((error: unknown) => {
      for (const newer of this.#requests.list()) requests.add(newer);
      this.#requests = requests;
      onFault(error);
    });
  }

  /** At most once a minute for each key, whatever the number of gateways. */
  async #writeUses(uses: ReadonlyMap<string, string | undefined>): Promise<void> {
    if (uses.size === 0) return;
    const rows = [...uses].map(([id, address]) => ({ id, address }));
    await this.#options.database.background.query(
      sql`
        update api_keys k
        set last_used_at = now(), last_used_address = n.address
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n (id uuid, address text)
        where k.id = n.id
          and (k.last_used_at is null or k.last_used_at <= now() - interval '59 seconds')`,
      { name: 'auth-key-usage' },
    );
  }

  async #writeHours(counts: readonly HourCount[]): Promise<void> {
    if (counts.length === 0) return;
    // Skips keys that were deleted. Ordered, because two gateways lock the same rows.
    await this.#options.database.background.query(
      sql`
        insert into key_usage as u (key_id, hour, requests, errors, refused, latency)
        select n."keyId", to_timestamp(n.hour * 3600), n.requests, n.errors, n.refused, n.latency
        from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
          as n ("keyId" uuid, hour bigint, requests int, errors int, refused int, latency int[])
        order by n."keyId", n.hour
        on conflict (key_id, hour) do update
        set requests = u.requests + excluded.requests,
            errors = u.errors + excluded.errors,
            refused = u.refused + excluded.refused,
            latency = array(
              select coalesce(was, 0) + coalesce(more, 0)
              from unnest(u.latency, excluded.latency) with ordinality as both_counts (was, more, place)
              order by place
            )`,
      { name: 'key-usage' },
    );
  }

  async #writeRequests(requests: WaitingRequests): Promise<void> {
    if (requests.count === 0) return;
    const rows = requests.list().map(toRow);
    await this.#options.database.background.query(
      sql`
        with sent as (
          select *, row_number() over (partition by "keyId" order by at, ordinal) as rank
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n ("keyId" uuid, ordinal int, at float8,
            "requestId" text, operation text, status int, "durationMs" float8, cost int)
        ), locked as (
          select id from api_keys where id in (select "keyId" from sent) order by id for update
        ), counted as (
          update api_keys k
          set request_count = k.request_count + n.count
          from (select "keyId", count(*) as count from sent group by 1) n, locked
          where k.id = n."keyId" and locked.id = k.id
          returning k.id, k.request_count - n.count as before
        )
        insert into key_requests (key_id, place, at, request_id, operation, status, duration_ms, cost)
        select counted.id, (counted.before + sent.rank - 1) % ${KEPT_REQUESTS}::int,
          to_timestamp(sent.at / 1000), sent."requestId", sent.operation, sent.status, sent."durationMs",
          sent.cost
        from sent
        join counted on counted.id = sent."keyId"
        on conflict (key_id, place) do update
        set at = excluded.at,
            request_id = excluded.request_id,
            operation = excluded.operation,
            status = excluded.status,
            duration_ms = excluded.duration_ms,
            cost = excluded.cost`,
      { name: 'key-requests' },
    );
  }

  #countOf(keyId: string, hour: number): HourCount | undefined {
    const name = `${keyId}/${hour}`;
    const known = this.#hours.get(name);
    if (known !== undefined) return known;
    if (this.#hours.size >= MOST_KEY_HOURS) return undefined;
    const latency = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0);
    const count = { keyId, hour, requests: 0, errors: 0, refused: 0, latency };
    this.#hours.set(name, count);
    return count;
  }

  #giveBack(unwritten: HourCount): void {
    const count = this.#countOf(unwritten.keyId, unwritten.hour);
    if (count === undefined) return;
    count.requests += unwritten.requests;
    count.errors += unwritten.errors;
    count.refused += unwritten.refused;
    for (const [slot, more] of unwritten.latency.entries())
      count.latency[slot] = (count.latency[slot] ?? 0) + more;
  }
}

function slotOf(durationMs: number): number {
  const slot = LATENCY_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return slot === -1 ? LATENCY_BOUNDS_MS.length : slot;
}

function toRow({ request, at }: WaitingRequest, ordinal: number) {
  return {
    ...request,
    at,
    ordinal,
    requestId: request.requestId.slice(0, LONGEST_TEXT),
    operation: request.operation.slice(0, LONGEST_TEXT),
  };
}

/**
 * The latest requests of each key, no more than are kept: a statement must not write a row twice, and holding
 * a whole busy second would burden the garbage collector.
 */
class WaitingRequests {
  readonly #byKey = new Map<string, WaitingRequest[]>();
  count = 0;

  add(waiting: WaitingRequest): void {
    const { keyId } = waiting.request;
    const latest = this.#byKey.get(keyId) ?? [];
    if (latest.length === KEPT_REQUESTS) latest.shift();
    else if (this.count >= MOST_WAITING_REQUESTS) return;
    else this.count += 1;
    latest.push(waiting);
    this.#byKey.set(keyId, latest);
  }

  /** The requests of each key in the order of their arrival. */
  list(): readonly WaitingRequest[] {
    return [...this.#byKey.values()].flat();
  }
}

export interface HourFigures {
  /** The beginning of the hour. */
  readonly hour: Date;
  readonly requests: number;
  readonly errors: number;
  /** Refused by the rate limit; included in the errors. */
  readonly refused: number;
  /** Half of the requests took no longer. */
  readonly medianMs: number;
  /** 95 of 100 requests took no longer. */
  readonly p95Ms: number;
}

export interface KeyRequest extends Omit<MeteredRequest, 'keyId' | 'isError'> {
  readonly at: Date;
}

interface Counts {
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
  readonly latency: readonly number[];
  /** Counts only the requests that are kept. */
  readonly exact: { readonly requests: number; readonly median: number; readonly p95: number } | undefined;
}

/** The quantiles of the requests that are kept: exact, if these are all there were. */
function exactQuantiles(keyId: string, when: Sql): Sql {
  return sql`(
        select json_build_object(
          'requests', count(*), 'median', percentile_disc(0.5) within group (order by duration_ms),
          'p95', percentile_disc(0.95) within group (order by duration_ms)
        )
        from key_requests
        where key_id = ${keyId}::uuid and ${when}
      ) as exact`;
}

function figuresOf({ requests, errors, refused, latency, exact }: Counts): Omit<HourFigures, 'hour'> {
  const isExact = exact !== undefined && exact.requests === requests && requests > 0;
  return {
    ...{ requests, errors, refused },
    medianMs: isExact ? exact.median : quantileOf(latency, 0.5),
    p95Ms: isExact ? exact.p95 : quantileOf(latency, 0.95),
  };
}

/**
 * The time below which this share of the requests lies, assuming an even distribution within a bucket.
 * Requests slower than the last bound count as that bound.
 */
function quantileOf(latency: readonly number[], part: number): number {
  const total = latency.reduce((sum, count) => sum + count, 0);
  let before = 0;
  for (const [slot, count] of latency.entries()) {
    const lower = LATENCY_BOUNDS_MS[slot - 1] ?? 0;
    const upper = LATENCY_BOUNDS_MS[slot] ?? lower;
    if (count > 0 && before + count >= total * part) {
      const share = (total * part - before) / count;
      return Math.round((lower + (upper - lower) * share) * 10) / 10;
    }
    before += count;
  }
  return 0;
}
