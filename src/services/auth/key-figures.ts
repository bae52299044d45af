/** The usage figures of an API key, for its owner. */

import { callerName, type Scope } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import { type Sql, sql } from '../../store/sql.js';
import type { ApiKeys } from './api-keys.js';
import { KEPT_REQUESTS, LATENCY_BOUNDS_MS } from './key-meter.js';

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

export interface KeyRequest {
  readonly at: Date;
  readonly requestId: string;
  readonly operation: string;
  readonly status: number;
  readonly durationMs: number;
  readonly cost: number | undefined;
}

export interface Quota {
  readonly limit: number;
  readonly used: number;
  readonly resetSeconds: number;
}

/** Says how much of a caller's rate is used up. Implemented by `RateLimits` of src/gateway/server. */
interface QuotaSource {
  quotaOf(caller: string): Promise<Quota>;
}

interface KeyFiguresOptions {
  readonly database: Database;
  readonly apiKeys: Pick<ApiKeys, 'ownerOf'>;
  readonly quotas: QuotaSource;
}

export class KeyFigures {
  readonly #options: KeyFiguresOptions;

  constructor(options: KeyFiguresOptions) {
    this.#options = options;
  }

  /** The user of the key. @throws NOT_FOUND (404) for a key the caller may not see; FORBIDDEN (403) */
  async ownerOf(scope: Scope, keyId: string): Promise<string> {
    return callerName(await this.#options.apiKeys.ownerOf(scope, keyId));
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

  /** The quota of this minute of a user, over all keys and gateways; at most a second behind. */
  async quota(owner: string): Promise<Quota> {
    return await this.#options.quotas.quotaOf(owner);
  }
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
