/** The resolvers of health, for admins of the top domain, who are responsible for all domains. */

import { ServiceError } from '../../../base/errors.js';
import type { Domain, Scope } from '../../../base/model/scope.js';
import { member, nullable, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import { countSecretsWithoutKey, type TextEncryption } from '../../../services/auth/text-encryption.js';
import type { ScheduledBackups } from '../../../services/backup/scheduled-backups.js';
import { isTopDomainAdmin } from '../../../store/access/access.js';
import { APPLICATION_NAME, type Database } from '../../../store/database/database.js';
import { listenerName } from '../../../store/database/listener.js';
import { PRIMARY } from '../../../store/database/replicas/replicated-reads.js';
import type { NotedSlowStatement, RecentSlowStatements } from '../../../store/reading/slow-statements.js';
import { sql } from '../../../store/sql.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

const QueueResult = objectType('Queue', 'A queue of the service.', {
  name: member.text('`jobs`, `messages` or `webhooks`.'),
  waiting: member.whole('The number of waiting entries, including those in progress.'),
  failed: member.whole('The number of entries that failed for good and are still stored.'),
});
type QueueResult = ValueOf<typeof QueueResult>;

const SlowStatementResult = objectType(
  'SlowStatement',
  'A statement of the database that took longer than SLOW_STATEMENT_MS.',
  {
    at: member.instant('When it ended.'),
    operation: nullable.text('The operation or route that ran it; null for a task.'),
    requestId: nullable.id('The id of its request; null for a task.'),
    collections: member.texts('The collections it read.'),
    durationMs: member.number('Its duration. Unit: milliseconds.'),
    rows: member.whole('The number of rows it returned.'),
    statement: member.text('The statement, with $1, $2, … for its values.'),
    suggestions: member.texts('The declaration of an index that would help.'),
  },
);

const RunningGatewayResult = objectType(
  'RunningGateway',
  'A process of the gateway that is connected to the database.',
  {
    address: nullable.text('Its address, as the database sees it; null if it connects by a local socket.'),
    connectedSince: member.instant('When it connected.'),
  },
);
type RunningGatewayResult = ValueOf<typeof RunningGatewayResult>;

const ReplicaResult = objectType('Replica', 'A server besides the primary that this gateway reads from.', {
  name: member.text('Its host and port.'),
  lagMs: nullable.number(
    'Its replication lag, at most; null while it is unreachable or not a replica of this ' +
      'database. Unit: milliseconds.',
  ),
  reads: member.whole('The number of reads it has answered since this process started.'),
});

const BackupResult = objectType('Backup', 'A backup of all domains that is kept.', {
  name: member.text('Its name. `GET /backups/<name>` downloads it.'),
  at: member.instant('When it began.'),
  bytes: member.number('Its size. Unit: bytes.'),
  verifiedAt: nullable.instant('When all of it was last read and compared; null if never.'),
  fault: nullable.text('The fault found then; null if there was none.'),
});

export interface HealthServices {
  readonly version: string;
  readonly database: Pick<Database, 'query' | 'isReadOnly' | 'isDiskFull' | 'replicas'>;
  readonly domains: { top(): Domain | undefined };
  readonly encryption: TextEncryption;
  readonly jobs: { counts(): Promise<{ queued: number; running: number; failed: number }> };
  readonly backups: Pick<
    ScheduledBackups,
    'ageSeconds' | 'list' | 'isBusy' | 'failure' | 'request' | 'requestVerification' | 'read'
  >;
  /** The space left on the disk of an embedded database. Unit: bytes. */
  readonly diskFreeBytes: () => Promise<number | undefined>;
  /** The clock of this process against that of the database. */
  readonly clock: { readonly clockOffsetSeconds: number | undefined };
  readonly slowStatements: Pick<RecentSlowStatements, 'list'>;
}

const HealthResult = objectType('Health', 'How the service is.', {
  version: member.text('The version of the gateway.'),
  databaseVersion: member.text('The version of PostgreSQL.'),
  isReadOnly: member.flag('Whether the database currently rejects writes.'),
  isDiskFull: member.flag('Whether the disk of the database is full: it rejects writes.'),
  migrations: member.texts('The migrations that were applied, in order.'),
  queues: member.list(QueueResult, 'The queues: jobs, messages and deliveries of webhooks.'),
  secretsWithoutKey: member.whole(
    'The number of stored secrets (of webhooks and second factors) that no key of ENCRYPTION_SECRET ' +
      'decrypts. Deliveries of such webhooks wait for the key.',
  ),
  backupAgeSeconds: nullable.number(
    'The age of the last scheduled backup; null if there was none. Unit: seconds.',
  ),
  backups: member.list(
    BackupResult,
    'The backups that are kept, made on a schedule (BACKUP_SCHEDULE) or by `makeBackup`, the newest first.',
  ),
  backupFailedAt: nullable.instant('When a backup failed, if none has been made since; else null.'),
  backupFault: nullable.text('Why that backup failed; else null.'),
  isBackingUp: member.flag('Whether a backup is being made or verified, or waits for that.'),
  databaseBytes: member.number('The size of the database. Unit: bytes.'),
  diskFreeBytes: nullable.number(
    'The space left on the disk of the embedded database; null for a database elsewhere. Unit: bytes.',
  ),
  clockOffsetSeconds: nullable.number(
    'How far the clock of this process is ahead of that of the database, negative if it is behind; null ' +
      'before the first comparison. Unit: seconds.',
  ),
  gateways: member.list(
    RunningGatewayResult,
    'The processes of the gateway that run on this database, the oldest connection first.',
  ),
  replicas: member.list(ReplicaResult, 'The replicas of DATABASE_REPLICA_URLS, as this process sees them.'),
  slowStatements: member.list(
    SlowStatementResult,
    'The last 50 of this process since its start, the newest first; the log has all of them.',
  ),
});

/** @throws FORBIDDEN */
function assertTopAdmin({ domains }: HealthServices, scope: Scope): void {
  if (isTopDomainAdmin(scope, domains.top())) return;
  throw new ServiceError('FORBIDDEN', 'Only an admin of the top domain sees how the service is.');
}

/** The bytes of a backup, for REST. @throws FORBIDDEN, NOT_FOUND */
async function readBackup(services: HealthServices, context: RequestContext, name: string) {
  assertTopAdmin(services, requireScope(context));
  return await services.backups.read(name);
}

export const HealthResolver = serviceResolver(({ query, done }: FieldRows<HealthServices>) => ({
  readBackup,
  health: query(
    member.of(HealthResult, 'The health of the service. For admins of the top domain.'),
    {},
    (services, scope) => {
      assertTopAdmin(services, scope);
      return healthOf(services);
    },
  ),
  makeBackup: done(
    'Has a backup of all domains made soon; `health.backups` lists it when it is whole. For admins of the ' +
      'top domain. Errors: FORBIDDEN, UNAVAILABLE without a place for backups.',
    {},
    async (services, scope) => {
      assertTopAdmin(services, scope);
      await services.backups.request();
    },
  ),
  verifyBackup: done(
    'Starts to read and verify a whole backup; `health.backups` has the result. For admins of the ' +
      'top domain. Errors: FORBIDDEN, NOT_FOUND.',
    { name: member.text('The name of the backup.') },
    async (services, scope, { name }) => {
      assertTopAdmin(services, scope);
      await services.backups.requestVerification(name);
    },
  ),
}));

/** Each part is checked only if selected. */
function healthOf({ version, database, ...services }: HealthServices) {
  let failure: ReturnType<ScheduledBackups['failure']> | undefined;
  const backupFailure = () => (failure ??= services.backups.failure());
  return {
    version,
    databaseVersion: async () => {
      const [row] = await database.query<{ version: string }>(
        sql`select current_setting('server_version') as version`,
      );
      return row?.version ?? '';
    },
    isReadOnly: database.isReadOnly,
    isDiskFull: database.isDiskFull,
    migrations: async () => {
      const rows = await database.query<{ name: string }>(sql`
        select migration_name as name
        from _prisma_migrations
        where finished_at is not null and rolled_back_at is null
        order by migration_name`);
      return rows.map(({ name }) => name);
    },
    queues: async () => {
      const { queued, running, failed } = await services.jobs.counts();
      const others = await database.query<QueueResult>(sql`
        select 'messages' as name,
          count(*) filter (where state in ('queued', 'sending'))::int as waiting,
          count(*) filter (where state = 'failed')::int as failed
        from messages
        union all
        select 'webhooks',
          count(*) filter (where state in ('waiting', 'sending'))::int,
          count(*) filter (where state = 'failed')::int
        from webhook_deliveries`);
      return [{ name: 'jobs', waiting: queued + running, failed }, ...others];
    },
    secretsWithoutKey: () => countSecretsWithoutKey(database, services.encryption),
    backupAgeSeconds: () => services.backups.ageSeconds(),
    backups: async () =>
      (await services.backups.list()).map(({ at, verifiedAt, ...others }) => ({
        ...others,
        at: new Date(at),
        verifiedAt: verifiedAt === undefined ? undefined : new Date(verifiedAt),
      })),
    backupFailedAt: async () => (await backupFailure())?.at,
    backupFault: async () => (await backupFailure())?.error,
    isBackingUp: () => services.backups.isBusy(),
    databaseBytes: async () => {
      const [row] = await database.query<{ bytes: string }>(
        sql`select pg_database_size(current_database()) as bytes`,
      );
      return Number(row?.bytes);
    },
    diskFreeBytes: services.diskFreeBytes,
    clockOffsetSeconds: services.clock.clockOffsetSeconds,
    gateways: () =>
      database.query<RunningGatewayResult>(sql`
        select host(client_addr) as address, backend_start as "connectedSince"
        from pg_stat_activity
        where datname = current_database() and application_name = ${listenerName(APPLICATION_NAME)}
        order by backend_start
        limit 100`),
    replicas: (database.replicas?.figures() ?? []).flatMap(({ server, ...others }) =>
      server === PRIMARY ? [] : [{ name: server, ...others }],
    ),
    slowStatements: services.slowStatements.list().map(toResult),
  };
}

function toResult({ suggestions, plan: _plan, ...statement }: NotedSlowStatement) {
  return {
    ...statement,
    collections: [...statement.collections],
    suggestions: suggestions.map(({ collection, declaration }) => `${collection}: ${declaration}`),
  };
}
