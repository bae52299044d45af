/** The door to usage figures of API keys: for their owners, and for admins those of the domain. */

import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { invalidAt } from '../../../base/errors.js';
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import {
  type HourFigures,
  KEPT_REQUESTS,
  type KeyFigures,
  type KeyRequest,
} from '../../../services/auth/key-meter.js';
import { type RequestContext, requireScope } from '../request-context.js';

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
  cost: nullable.whole('What the GraphQL operation cost; null for REST.'),
});

const HOUR_MS = 3_600_000;
const MOST_HOURS = 30 * 24;

/** Each part is read only if selected. */
@ObjectType('ApiKeyUsage', { description: 'The use of an API key. A request appears within five seconds.' })
class ApiKeyUsage {
  readonly #figures: KeyFigures;
  readonly #id: string;
  readonly #owner: string;
  readonly #since: Date;

  constructor(figures: KeyFigures, key: { readonly id: string; readonly owner: string }, since: Date) {
    this.#figures = figures;
    this.#id = key.id;
    this.#owner = key.owner;
    this.#since = since;
  }

  @Field(() => Int, {
    description:
      'Requests its user may make in a minute, over all keys and sessions (RATE_LIMIT_PER_MINUTE).',
  })
  async limitPerMinute(): Promise<number> {
    return (await this.#figures.quota(this.#owner)).limit;
  }

  @Field(() => Int, { description: 'The number left to its user in this minute.' })
  async leftThisMinute(): Promise<number> {
    const { limit, used } = await this.#figures.quota(this.#owner);
    return Math.max(0, limit - used);
  }

  @Field(() => KeyFiguresResult, { description: 'All hours together.' })
  async total(): Promise<Omit<HourFigures, 'hour'>> {
    return await this.#figures.total(this.#id, this.#since);
  }

  @Field(() => [KeyHourResult], { description: 'The hours with requests, the earliest first.' })
  async hours(): Promise<readonly HourFigures[]> {
    return await this.#figures.hours(this.#id, this.#since);
  }

  @Field(() => [KeyRequestResult], { description: 'The last requests, the newest first.' })
  async requests(
    @Arg('first', () => Int, {
      nullable: true,
      description: 'The most to return. The last 1,000 are stored. Default: 100.',
    })
    first: number | null | undefined,
  ): Promise<readonly KeyRequest[]> {
    const most = assertWithin(first ?? 100, { parameter: 'first', most: KEPT_REQUESTS });
    return await this.#figures.requests(this.#id, most);
  }
}

@Resolver()
export class KeyUsageResolver {
  readonly #figures: KeyFigures;

  constructor(services: { readonly keyFigures: KeyFigures }) {
    this.#figures = services.keyFigures;
  }

  @Query(() => ApiKeyUsage, {
    description: 'What an API key of yours, or for an admin of the domain, was used for. Errors: NOT_FOUND.',
  })
  async apiKeyUsage(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the key.' }) id: string,
    @Arg('hours', () => Int, {
      nullable: true,
      description: 'The hours that the figures cover, 1 to 720 (30 days). Default: 24.',
    })
    hours: number | null | undefined,
  ): Promise<ApiKeyUsage> {
    const owner = await this.#figures.ownerOf(requireScope(context), id);
    const back = assertWithin(hours ?? 24, { parameter: 'hours', most: MOST_HOURS });
    const since = new Date((Math.floor(Date.now() / HOUR_MS) - back + 1) * HOUR_MS);
    return new ApiKeyUsage(this.#figures, { id, owner }, since);
  }
}

/** @throws INVALID_VALUE (400) */
function assertWithin(
  sent: number,
  { parameter, most }: { readonly parameter: string; readonly most: number },
): number {
  if (sent >= 1 && sent <= most) return sent;
  const detail = `${parameter} is 1 to ${most}, not ${sent}.`;
  throw invalidAt(detail, { parameter, sent });
}
