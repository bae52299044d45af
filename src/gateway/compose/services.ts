/**
 * Opens the services that the gateway and the command line share, in order: the database, then the modules
 * above it.
 */
import path from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { type Closer, closeInTurn } from '../../base/process/close-in-turn.js';
import { findPackageDirectory } from '../../base/process/package-directory.js';
import { unlessAborted } from '../../base/process/unless-aborted.js';
import { reports } from '../../school/reports/registry.js';
import { AccessTokens } from '../../services/auth/access-tokens.js';
import { AccountEvents, type AccountObservation } from '../../services/auth/account-events.js';
import { AccountLinks } from '../../services/auth/account-links.js';
import { AccountMails, type OnAccountChange, type UserMailer } from '../../services/auth/account-mails.js';
import { ApiKeys } from '../../services/auth/api-keys.js';
import { Authenticator } from '../../services/auth/authenticator.js';
import { FirstRun } from '../../services/auth/first-run.js';
import { KeyMeter } from '../../services/auth/key-meter.js';
import { LoginLockout } from '../../services/auth/login-lockout.js';
import { type PasswordCost, Passwords } from '../../services/auth/passwords.js';
import { Principals } from '../../services/auth/principals.js';
import { SecondFactors } from '../../services/auth/second-factors.js';
import { loadTokenKeys } from '../../services/auth/service-secret.js';
import { Sessions } from '../../services/auth/sessions.js';
import { loadEncryptionKeys, TextEncryption } from '../../services/auth/text-encryption.js';
import { Users } from '../../services/auth/users.js';
import { findUnfinishedRestore } from '../../services/backup/restore.js';
import { ScheduledBackups } from '../../services/backup/scheduled-backups.js';
import { findInImportFile } from '../../services/importing/import-source.js';
import { JobQueue, migrateJobQueue } from '../../services/jobs/job-queue.js';
import { Topics } from '../../services/messaging/topics.js';
import { Persons } from '../../services/persons/persons.js';
import { createScriptTriggers } from '../../services/scripting/library/script-triggers.js';
import { Catalog } from '../../store/catalog/catalog.js';
import { Domains } from '../../store/catalog/domains.js';
import { FieldMeter } from '../../store/catalog/field-uses.js';
import { ChangeOutbox } from '../../store/changes/change-outbox.js';
import { ChangeFeed } from '../../store/changes/commit-follower.js';
import { watchLockWaits } from '../../store/database/advisory-lock.js';
import { type Database, openDatabase } from '../../store/database/database.js';
import { translateDatabaseError } from '../../store/database/database-errors.js';
import { type EmbeddedServer, startEmbeddedServer } from '../../store/database/embedded/embedded-server.js';
import { applyMigrations } from '../../store/database/migrations.js';
import { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';
import { RateLimits } from '../server/admission/rate-limits.js';
import { finishRestore } from './finish-restore.js';
import {
  openBucket,
  openFiles,
  openImports,
  openMessaging,
  openScripting,
  openWebhooks,
  type Scripting,
} from './opened.js';

/** A folder of declarations, next to `src/` and `dist/`. */
export function schemaFolder(name: 'collections' | 'sheets' | 'acts' | 'prints' | 'prompts'): string {
  return path.join(findPackageDirectory(), 'schema', name);
}

/** The folder of the declared collections. */
export const DECLARATIONS = schemaFolder('collections');

/** All services, each constructed once by `loadServices`. */
export interface Services extends Awaited<ReturnType<typeof loadServices>> {
  /** Closes everything in reverse order, an embedded database that was started here last. */
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly config: Config;
  /** Receives the faults of background work, which have no request to be reported to. */
  readonly onFault: (task: string, error: unknown) => void;
  /** Receives one line at a time on the progress, for the operator. */
  readonly onAccountEvent?: (event: AccountObservation) => void;
  readonly onProgress?: ((line: string) => void) | undefined;
  /**
   * Receives the reason why an unfinished restore cannot be finished, e.g. a script of a person to be erased.
   * Default: it is thrown. For commands that do not serve callers and may remove that reason.
   */
  readonly onUnfinishedRestore?: (reason: ServiceError) => void;
  /** Tests use a cheaper cost. */
  readonly passwordCost?: PasswordCost;
  /** Ends the opening, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens only the connection to the database server, for commands that need no service. Close it after use.
 */
export async function openDatabaseServer(
  config: Pick<Config, 'databaseUrl' | 'dataDirectory' | 'poolSize' | 'workers'>,
  { onProgress, signal }: Pick<ServicesOptions, 'onProgress' | 'signal'> = {},
): Promise<EmbeddedServer> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl, stop: async () => {} };
  return await startEmbeddedServer({
    dataDirectory: config.dataDirectory,
    settings: { max_connections: String(connectionsFor(config)) },
    signal,
    ...(onProgress && { onLog: onProgress }),
  });
}

const USUAL_CONNECTIONS = 100;

/** The connections of a process that are not for requests: jobs, regular work, notifications, cancelling. */
const CONNECTIONS_BESIDE_POOLS = 11;

/** The connections that all processes may open, plus some for the command line. */
function connectionsFor({ poolSize, workers }: Pick<Config, 'poolSize' | 'workers'>): number {
  return Math.max(USUAL_CONNECTIONS, (workers + 1) * (2 * poolSize + CONNECTIONS_BESIDE_POOLS));
}

/** Otherwise requests would be refused only under load, when the connections are used. */
async function warnOfFewConnections(
  { pool }: Database,
  { poolSize, workers }: Config,
  warn: (line: string) => void,
) {
  const { rows } = await pool.query<{ most: number }>(`
    select least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
        nullif(rolconnlimit, -1),
        nullif(datconnlimit, -1)
      ) as most
      from pg_roles, pg_database
     where rolname = current_user and datname = current_database()`);
  const needed = workers * (2 * poolSize + CONNECTIONS_BESIDE_POOLS);
  const most = rows[0]?.most ?? needed;
  if (most >= needed) return;
  warn(
    `POOL_SIZE=${poolSize} with WORKERS=${workers} may open ${needed} connections, and the database allows ` +
      `${most}; lower POOL_SIZE, or raise max_connections`,
  );
}

/**
 * Starts or joins the database, applies pending migrations, declares the collections and constructs the
 * services.
 *
 * @throws ServiceError or Error whose message is one line for the operator; whatever was opened is closed
 *   again
 */
export async function openServices(options: ServicesOptions): Promise<Services> {
  const { config, onFault, signal } = options;
  const onProgress = options.onProgress ?? (() => {});
  const closers: Closer[] = [];
  const close = () => closeInTurn(closers);
  try {
    const server = await openDatabaseServer(config, options);
    closers.push(() => server.stop());
    // Before the migrations, because it explains in one line why a database cannot be used.
    const database = await openDatabase({
      url: server.url,
      poolSize: config.poolSize,
      statementTimeoutMs: config.statementTimeoutMs,
      replicaUrls: config.databaseReplicaUrls,
      replicaMaxLagMs: config.replicaMaxLagMs,
      signal,
    });
    closers.push(() => database.close());
    const reportWait = options.onProgress ?? ((line: string) => onFault('start', line));
    const endWatch = watchLockWaits(database.url, reportWait);
    const abandon = () => database.abandon();
    signal?.addEventListener('abort', abandon);
    try {
      const applied = await applyMigrations({ url: database.url, onNotice: onProgress, signal });
      if (applied.length > 0) onProgress(`applied ${applied.length} migrations`);
      const loading = migrateJobQueue(database.url)
        .then(() => database.pinInstance())
        .then(() => loadServices(options, database, closers));
      const services = await unlessAborted(loading, signal);
      if (options.onProgress) await unlessAborted(warnOfFewConnections(database, config, onProgress), signal);
      return { ...services, close };
    } finally {
      signal?.removeEventListener('abort', abandon);
      await endWatch();
    }
  } catch (fault) {
    await close().catch((error: unknown) => onFault('closing', error));
    throw translateDatabaseError(fault);
  }
}

async function loadServices(options: ServicesOptions, database: Database, closers: Closer[]) {
  const { config, onFault, onProgress, passwordCost, signal } = options;
  const restore = await findUnfinishedRestore(database.pool);
  if (restore !== undefined) {
    onProgress?.(
      `the restore of the backup of ${restore.createdAt} is not finished; continuing with its indexes`,
    );
  }
  signal?.throwIfAborted();
  const faults = (task: string) => ({ onFault: (error: unknown) => onFault(task, error) });
  const closing = <Service extends { close(): Promise<unknown> }>(service: Service): Service => {
    closers.push(() => service.close());
    return service;
  };
  const domains = closing(await Domains.load(database, config.smsCountryCode));
  const loading = { database, onProgress, signal, directory: DECLARATIONS, domains: () => domains.list() };
  const catalog = closing(await Catalog.load(loading));
  const principals = closing(await Principals.open({ database, collections: catalog }));
  const keyMeter = closing(new KeyMeter({ database, ...faults('usage of keys') }));
  const fieldMeter = closing(new FieldMeter({ database, ...faults('uses of fields') }));
  const rateLimits = closing(
    new RateLimits({
      database,
      limitPerMinute: config.rateLimitPerMinute,
      loginLimitPerMinute: config.loginLimitPerMinute,
      ...faults('rate limits'),
    }),
  );
  // Scripts need the store and the topics, which in turn call scripts; the variable is set before the first
  // request.
  let scripting: Scripting | undefined;
  const triggers = createScriptTriggers({
    scripting: () => scripting,
    beforeTimeoutMs: config.scriptBeforeTimeoutMs,
  });
  const outbox = database.announcesByOutbox
    ? closing(new ChangeOutbox({ database, triggers, ...faults('change outbox') }))
    : undefined;
  await outbox?.listen();
  const pollMs = config.changePollMs;
  const changes = closing(new ChangeFeed({ outbox, database, pollMs, ...faults('change feed') }));
  const topics = closing(
    new Topics({
      ...{ database, triggers, pollMs, maxMessageBytes: config.topicMessageBytes },
      property: (domainId, name) => domains.property(domainId, name),
      ...faults('topics'),
    }),
  );
  let accountMails: AccountMails | undefined;
  const store = new RecordStore({
    ...{ database, catalog, triggers, maxRecordsPerWrite: config.maxRecordsPerWrite },
    topDomain: () => domains.top(),
    onRightsChange: (domainId, userId) => {
      principals.forget(domainId, userId);
      if (userId !== undefined) accountMails?.send({ domainId, userId }, 'email');
    },
    onCommit: () => changes.wake(),
    onFollowed: () => outbox?.wake(),
    onFieldsNamed: (scope, fields) => fieldMeter.note(scope, scope.call.operation ?? '', fields),
    onScan: ({ principal }, rows) => rateLimits.spendOnScan(principal, rows),
  });
  await store.measure();
  const files = closing(await openFiles({ database, store, config }));
  const jobs = new JobQueue({ database });
  const opened = { database, domains, catalog, store, files, jobs, principals, config };
  const importing = closing(await openImports({ ...opened, ...faults('news of imports') }));
  const messaging = closing(openMessaging({ ...opened, ...faults('messages') }));
  const mailer: UserMailer = {
    canSend: (domainId) => messaging.channels.has('email', domainId),
    send: (scope, mail, within) => messaging.messages.sendEmail(scope, mail, within),
  };
  const mails = closing(new AccountMails({ database, domains, mailer, ...faults('mails') }));
  accountMails = mails;
  const names = {
    isCollection: (name: string) => catalog.find(name) !== undefined,
    isReport: (name: string) => reports.some((report) => report.name === name),
  };
  const accounts = {
    ...opened,
    ...{ collections: catalog, records: store, names, keyMeter, mailer, throttle: rateLimits },
    onChange: ((user, change) => mails.send(user, change)) as OnAccountChange,
    publicUrl: config.publicUrl,
    passwords: new Passwords({ cost: passwordCost, shortest: config.passwordMinLength }),
    accessTokens: new AccessTokens({ keys: await loadTokenKeys(database, config) }),
    encryption: new TextEncryption(await loadEncryptionKeys(database, config)),
    lockout: new LoginLockout({ database, afterFailures: config.loginLockoutFailures }),
  };
  const { passwords, encryption } = accounts;
  const { defaultPageSize, maxPageSize } = config;
  const reportServices = { database, store, domains, now: () => new Date(), defaultPageSize, maxPageSize };
  const { messages } = messaging;
  scripting = closing(await openScripting({ ...accounts, topics, messages, reportServices, onFault }));
  const apiKeys = new ApiKeys({
    ...accounts,
    roles: config.apiKeyRoles,
    mostPerUser: config.apiKeysPerUser,
  });
  const users = new Users(accounts);
  const webhooks = closing(openWebhooks({ ...accounts, outbox, ...faults('webhooks') }));
  const secondFactors = new SecondFactors({ ...accounts, roles: config.secondFactorRoles });
  const { refreshTokenTtlSeconds, sessionMaxDays: maxDays } = config;
  const sessions = new Sessions({ ...opened, refreshTokenTtlSeconds, maxDays });
  const persons = new Persons({
    ...opened,
    findInImportFile: (place) => findInImportFile({ database, files }, place),
  });
  await finishRestore({ database, persons, domains }, options).catch((fault: unknown) => {
    const isConflict = fault instanceof ServiceError && fault.code === 'CONFLICT';
    if (options.onUnfinishedRestore === undefined || !isConflict) throw fault;
    options.onUnfinishedRestore(fault);
  });
  return {
    ...opened,
    ...{ passwords, users, secondFactors, apiKeys, encryption, persons },
    ...{ keyMeter, fieldMeter, changes, topics, rateLimits, reportServices },
    firstRun: new FirstRun({ database, domains, users }),
    sessions,
    accountLinks: new AccountLinks({ ...accounts, users }),
    authenticator: new Authenticator({
      ...{ ...accounts, secondFactors, sessions },
      accessTokenTtlSeconds: config.accessTokenTtlSeconds,
      events: new AccountEvents({ database, observe: options.onAccountEvent ?? (() => {}) }),
    }),
    backups: new ScheduledBackups({
      ...{ database, jobs },
      openBucket: () => openBucket(config),
      settings: config,
      now: () => new Date(),
    }),
    ...messaging,
    ...importing,
    ...webhooks,
    ...scripting,
  };
}
