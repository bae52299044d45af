/** The door to usage figures of API keys: for their owners, and for admins those of the domain. */

import { invalidAt } from '../../../base/errors.js';
import { callerName } from '../../../base/model/scope.js';
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import type { ApiKeys } from '../../../services/auth/api-keys.js';
import { KEPT_REQUESTS, type KeyMeter } from '../../../services/auth/key-meter.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

const KeyFiguresResult = objectType('KeyFigures', 'Requests of an API key, counted.', {
  requests: member.whole('The number of requests.'),
  errors: member.whole('The number of answers with an error, in whole or in part.'),
  refused: member.whole('The number rejected by the rate limit (429). They are included in the errors.'),
  medianMs: member.number('The median duration. Unit: milliseconds.'),
  p95Ms: member.number('The 95th percentile of the duration. Unit: milliseconds.'),
});

const KeyHourResult = objectType('KeyHour', 'Requests of an API key within an hour.', {
  ...KeyFiguresResult.members,
  hour: member.instant('The beginning of the hour.'),
});

const KeyRequestResult = objectType('KeyRequest', 'A request by an API key.', {
  at: member.instant('When it ended.'),
  requestId: member.text('Its id, as the header X-Request-Id had it.'),
  operation: member.text('The name of the GraphQL operation, or the template of the route.'),
  status: member.whole('The status of the answer.'),
  durationMs: member.number('Its duration. Unit: milliseconds.'),
  cost: nullable.whole('The cost of the GraphQL operation; null for REST.'),
});

const HOUR_MS = 3_600_000;
const MOST_HOURS = 30 * 24;

const ApiKeyUsage = objectType(
  'ApiKeyUsage',
  'The use of an API key. A request appears within five seconds.',
  {
    limitPerMinute: member.whole(
      'Requests its user may make in a minute, over all keys and sessions (RATE_LIMIT_PER_MINUTE).',
    ),
    leftThisMinute: member.whole('The number left to its user in this minute.'),
    total: member.of(KeyFiguresResult, 'All hours together.'),
    hours: member.list(KeyHourResult, 'The hours with requests, the earliest first.'),
    requests: member.list(KeyRequestResult, 'The last requests, the newest first.', {
      arguments: { first: nullable.whole('The most to return. The last 1,000 are stored. Default: 100.') },
    }),
  },
);

interface KeyUsageServices {
  readonly apiKeys: Pick<ApiKeys, 'ownerOf'>;
  readonly keyMeter: KeyMeter;
  /** @see RateLimits */
  readonly rateLimits: {
    quotaOf(caller: string): Promise<{ readonly limit: number; readonly used: number }>;
  };
}

export const KeyUsageResolver = serviceResolver(({ query }: FieldRows<KeyUsageServices>) => ({
  apiKeyUsage: query(
    member.of(
      ApiKeyUsage,
      'What an API key of yours, or for an admin of the domain, was used for. Errors: NOT_FOUND.',
    ),
    {
      id: member.id('The id of the key.'),
      hours: nullable.whole('The hours that the figures cover, 1 to 720 (30 days). Default: 24.'),
    },
    async ({ apiKeys, keyMeter, rateLimits }, scope, { id, hours = 24 }) => {
      const owner = callerName(await apiKeys.ownerOf(scope, id));
      const back = assertWithin(hours, { parameter: 'hours', most: MOST_HOURS });
      const since = new Date((Math.floor(Date.now() / HOUR_MS) - back + 1) * HOUR_MS);
      // Each part is read only if selected.
      return {
        limitPerMinute: async () => (await rateLimits.quotaOf(owner)).limit,
        leftThisMinute: async () => {
          const { limit, used } = await rateLimits.quotaOf(owner);
          return Math.max(0, limit - used);
        },
        total: () => keyMeter.total(id, since),
        hours: () => keyMeter.hours(id, since),
        requests: async ({ first }: { readonly first?: number | null }) => {
          const most = assertWithin(first ?? 100, { parameter: 'first', most: KEPT_REQUESTS });
          return await keyMeter.requests(id, most);
        },
      };
    },
  ),
}));

/** @throws INVALID_VALUE (400) */
function assertWithin(
  sent: number,
  { parameter, most }: { readonly parameter: string; readonly most: number },
): number {
  if (sent >= 1 && sent <= most) return sent;
  const detail = `${parameter} is 1 to ${most}, not ${sent}.`;
  throw invalidAt(detail, { parameter, sent });
}
