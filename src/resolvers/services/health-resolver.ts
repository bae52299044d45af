/** The door to how the service is: for admins of the top domain, who look after all domains. */
import { Ctx, Field, Float, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Domain } from '../../model/scope.js';
import { DateTime } from '../../scalars/date-time.js';
import { isTopDomainAdmin } from '../../store/access/top-domain-admin.js';
import type { Database } from '../../store/database/database.js';
import type { NotedSlowStatement, RecentSlowStatements } from '../../store/reading/recent-slow-statements.js';
import { type RequestContext, requireScope } from '../request-context.js';

@ObjectType('Queue', { description: 'Something that waits for its turn.', simpleResolvers: true })
class QueueResult {
  @Field(() => String, { description: '`jobs`, `messages` or `webhooks`.' })
  readonly name!: string;

  @Field(() => Int, { description: 'How many wait, those being done included.' })
  readonly waiting!: number;

  @Field(() => Int, { description: 'How many were given up, and are still kept.' })
  readonly failed!: number;
}

@ObjectType('SlowStatement', {
  description: 'A statement of the database that took longer than SLOW_STATEMENT_MS.',
  simpleResolvers: true,
})
class SlowStatementResult {
  @Field(() => DateTime, { description: 'When it ended.' })
  readonly at!: Date;

  @Field(() => String, { nullable: true, description: 'The operation or route it ran for; null: a task.' })
  readonly operation!: string | undefined;

  @Field(() => [String], { description: 'The collections it read.' })
  readonly collections!: readonly string[];

  @Field(() => Float, { description: 'How long it took. Unit: milliseconds.' })
  readonly durationMs!: number;

  @Field(() => Int, { description: 'How many rows it gave.' })
  readonly rows!: number;

  @Field(() => String, { description: 'The statement, with $1, $2, … for its values.' })
  readonly statement!: string;

  @Field(() => [String], { description: 'What to say in a declaration for an index that would help.' })
  readonly suggestions!: readonly string[];
}

export interface HealthServices {
  readonly version: string;
  readonly database: Pick<Database, 'query' | 'isReadOnly'>;
  readonly domains: { top(): Domain | undefined };
  readonly jobs: { counts(): Promise<{ queued: number; running: number; failed: number }> };
  readonly backups: { ageSeconds(): Promise<number | undefined> };
  readonly slowStatements: Pick<RecentSlowStatements, 'list'>;
}

/** What is not asked for is not looked at. */
@ObjectType({ description: 'How the service is.' })
class Health {
  readonly #services: HealthServices;

  constructor(services: HealthServices) {
    this.#services = services;
  }

  @Field(() => String, { description: 'The version of the gateway.' })
  get version(): string {
    return this.#services.version;
  }

  @Field(() => String, { description: 'The version of PostgreSQL.' })
  async databaseVersion(): Promise<string> {
    const [row] = await this.#services.database.query<{ version: string }>(
      Prisma.sql`select current_setting('server_version') as version`,
    );
    return row?.version ?? '';
  }

  @Field(() => Boolean, { description: 'The database takes no writes at the moment.' })
  get isReadOnly(): boolean {
    return this.#services.database.isReadOnly;
  }

  @Field(() => [String], { description: 'The migrations that were applied, in order.' })
  async migrations(): Promise<readonly string[]> {
    const rows = await this.#services.database.query<{ name: string }>(Prisma.sql`
      select migration_name as name
      from _prisma_migrations
      where finished_at is not null and rolled_back_at is null
      order by migration_name`);
    return rows.map(({ name }) => name);
  }

  @Field(() => [QueueResult], { description: 'What waits: jobs, messages, deliveries of webhooks.' })
  async queues(): Promise<readonly QueueResult[]> {
    const { queued, running, failed } = await this.#services.jobs.counts();
    const others = await this.#services.database.query<QueueResult>(Prisma.sql`
      select 'messages' as name,
        count(*) filter (where state in ('queued', 'sending'))::int as waiting,
        count(*) filter (where state = 'failed')::int as failed
      from messages
      union all
      select 'webhooks',
        count(*) filter (where state = 'waiting')::int,
        count(*) filter (where state = 'failed')::int
      from webhook_deliveries`);
    return [{ name: 'jobs', waiting: queued + running, failed }, ...others];
  }

  @Field(() => Float, {
    nullable: true,
    description: 'How long ago the last backup by the clock was begun; null: there was none. Unit: seconds.',
  })
  async backupAgeSeconds(): Promise<number | undefined> {
    return await this.#services.backups.ageSeconds();
  }

  @Field(() => [SlowStatementResult], {
    description: 'The last 50 of this process since its start, the newest first; the log has all of them.',
  })
  get slowStatements(): readonly SlowStatementResult[] {
    return this.#services.slowStatements.list().map(toResult);
  }
}

@Resolver()
export class HealthResolver {
  readonly #services: HealthServices;

  constructor(services: HealthServices) {
    this.#services = services;
  }

  @Query(() => Health, { description: 'How the service is. For admins of the top domain.' })
  health(@Ctx() context: RequestContext): Health {
    const scope = requireScope(context);
    if (isTopDomainAdmin(scope, this.#services.domains.top())) return new Health(this.#services);
    throw new ServiceError('FORBIDDEN', 'Only an admin of the top domain sees how the service is.');
  }
}

function toResult({ suggestions, requestId: _id, plan: _plan, ...statement }: NotedSlowStatement) {
  return {
    ...statement,
    collections: [...statement.collections],
    suggestions: suggestions.map(({ collection, declaration }) => `${collection}: ${declaration}`),
  };
}
