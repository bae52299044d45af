/** Constructs the parts that need more than one object. The caller closes what has a `close`. */
import { closeInTurn } from '../../base/process/close-in-turn.js';
import { findReport } from '../../school/reports/engine/report.js';
import type { ReportServices } from '../../school/reports/engine/report-context.js';
import { reports } from '../../school/reports/registry.js';
import type { AccessTokens } from '../../services/auth/access-tokens.js';
import type { ScopeNames } from '../../services/auth/key-scopes.js';
import type { Principals } from '../../services/auth/principals.js';
import type { TextEncryption } from '../../services/auth/text-encryption.js';
import { UserTokens } from '../../services/auth/user-tokens.js';
import { DatabaseBlobs } from '../../services/files/database-blobs.js';
import { Files } from '../../services/files/files.js';
import { S3Blobs } from '../../services/files/s3-blobs.js';
import { ImportNews } from '../../services/importing/import-news.js';
import { ImportRights, scopeOfImport } from '../../services/importing/import-rights.js';
import { ImportRunner } from '../../services/importing/import-runner.js';
import { removeAbandonedFolders } from '../../services/importing/import-source.js';
import { Imports } from '../../services/importing/imports.js';
import type { StoredImport } from '../../services/importing/stored-import.js';
import type { JobQueue } from '../../services/jobs/job-queue.js';
import { Channels } from '../../services/messaging/channels.js';
import { MessageDelivery, ReceiptIntake } from '../../services/messaging/message-delivery.js';
import { Messages } from '../../services/messaging/messages.js';
import type { Topics } from '../../services/messaging/topics.js';
import { ScriptRuns } from '../../services/scripting/library/script-runs.js';
import { Scripts } from '../../services/scripting/library/scripts.js';
import { createBindings } from '../../services/scripting/platform/bindings.js';
import { PlatformDb } from '../../services/scripting/platform/db/platform-db.js';
import { OutboundClient } from '../../services/scripting/requests/outbound-client.js';
import { createWriteQueue } from '../../services/scripting/run-queues.js';
import { ScriptLog } from '../../services/scripting/script-log.js';
import { ScriptRunner } from '../../services/scripting/script-runner.js';
import { scriptLimitsOf } from '../../services/scripting/script-settings.js';
import { WebhookDeliveries } from '../../services/webhooks/webhook-deliveries.js';
import { Webhooks } from '../../services/webhooks/webhooks.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { ChangeOutbox } from '../../store/changes/change-outbox.js';
import type { Database } from '../../store/database/database.js';
import { Pipelines } from '../../store/mongo/pipelines.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';
import { namesIn } from '../resolvers/script-fields.js';

/** The services that are open before these are constructed. */
export interface Opened {
  readonly database: Database;
  readonly domains: Domains;
  readonly catalog: Catalog;
  readonly store: RecordStore;
  readonly files: Files;
  readonly jobs: JobQueue;
  readonly principals: Principals;
  readonly config: Config;
  readonly onFault: (error: unknown) => void;
}

/**
 * Opens the files in the storage that the settings name. The caller closes them.
 *
 * @throws UNAVAILABLE if the bucket cannot be used
 */
export async function openFiles({ database, store, config }: Pick<Opened, 'database' | 'store' | 'config'>) {
  const inDatabase = new DatabaseBlobs(database);
  const inBucket = await openBucket(config);
  return new Files({ database, store, config, blobs: inBucket ? [inBucket, inDatabase] : [inDatabase] });
}

/** The bucket of the settings; `undefined` if there is none. The caller closes it. @throws UNAVAILABLE */
export async function openBucket(config: Config): Promise<S3Blobs | undefined> {
  if (config.filesS3Url === undefined) return undefined;
  return await S3Blobs.open({
    url: config.filesS3Url,
    region: config.filesS3Region,
    accessKeyId: config.filesS3AccessKeyId,
    secretAccessKey: config.filesS3SecretAccessKey,
  });
}

export const IMPORT_TASK = 'imports.run';
/** Spread over some hours, so that an import survives an outage of the database. */
const ATTEMPTS = 15;
/** How soon a waiting import checks whether the one before it has ended. */
const WAIT_MS = 1_000;

export async function openImports(services: Opened) {
  const { jobs, config } = services;
  await removeAbandonedFolders();
  /** Queues a job that continues an import, now or once earlier imports are done. */
  const scheduleImport = async (id: string, when: 'now' | 'later') => {
    const delayMs = when === 'now' ? 0 : WAIT_MS;
    await jobs.add(IMPORT_TASK, { id }, { key: `import:${id}`, maxAttempts: ATTEMPTS, delayMs });
  };
  const rights = new ImportRights({ ...services, roles: config.importRoles });
  const imports = new Imports({
    ...services,
    rights,
    maxBytes: config.importMaxBytes,
    schedule: (id) => scheduleImport(id, 'now'),
  });
  const scopeOf = (one: StoredImport) => scopeOfImport(one, { ...services, rights });
  const importRunner = new ImportRunner({
    ...services,
    scopeOf,
    maxRecordsPerWrite: config.maxRecordsPerWrite,
  });
  const importNews = await ImportNews.open(services);
  return { imports, importNews, importRunner, scheduleImport, close: () => importNews.close() };
}

/**
 * Email and text messages, configured by the settings. It connects with the first message. The caller closes
 * it.
 */
export function openMessaging(services: Opened) {
  const { domains, jobs, config, onFault } = services;
  const receipts = new ReceiptIntake({ jobs, onFault });
  const channels = new Channels({ config, domains, onReceipt: (receipt) => receipts.take(receipt) });
  return {
    messages: new Messages({ ...services, channels }),
    channels,
    /** Sends messages; called by the jobs. */
    messageDelivery: new MessageDelivery({ ...services, channels }),
    close: () => closeInTurn([() => receipts.close(), () => channels.close()]),
  };
}

/** Only a part of an answer is kept, for the delivery log. */
const MOST_ANSWER_BYTES = 64 * 1024;

/** Follows no changes before `webhookDeliveries.start`. The caller closes it. */
export function openWebhooks(
  services: Omit<Opened, 'files' | 'catalog'> & {
    readonly outbox: ChangeOutbox | undefined;
    readonly encryption: TextEncryption;
  },
) {
  const { config } = services;
  const outbound = createOutbound(config, MOST_ANSWER_BYTES);
  const { webhookTimeoutMs: timeoutMs, webhookRoles: roles } = config;
  const webhookDeliveries = new WebhookDeliveries({ ...services, outbound, timeoutMs, roles });
  return {
    webhooks: new Webhooks({ ...services, outbound, deliveries: webhookDeliveries, roles }),
    webhookDeliveries,
    close: () => closeInTurn([() => outbound.close(), () => webhookDeliveries.close()]),
  };
}

/** Webhooks reach what scripts may reach. */
function createOutbound(config: Config, maxResponseBytes: number): OutboundClient {
  const { scriptRequestPorts: ports, scriptRequestPrivateHosts: privateHosts } = config;
  return new OutboundClient({ maxResponseBytes, ports, privateHosts });
}

export type Scripting = Awaited<ReturnType<typeof openScripting>>;

/** Starts no thread before the first run or `scriptRunner.warmUp`. The caller closes it. */
export async function openScripting(
  services: Omit<Opened, 'jobs' | 'principals' | 'onFault'> & {
    readonly topics: Topics;
    readonly messages: Messages;
    readonly accessTokens: AccessTokens;
    readonly names: ScopeNames;
    readonly encryption: TextEncryption;
    readonly reportServices: ReportServices;
    readonly onFault: (task: string, error: unknown) => void;
  },
) {
  const { database, catalog, store, accessTokens, names, config, onFault } = services;
  const scriptLog = new ScriptLog(database);
  const outbound = createOutbound(config, config.scriptRequestMaxResponseBytes);
  const streams = Math.max(1, Math.min(config.scriptStreams, Math.floor(config.poolSize / 2)));
  const limits = { ...scriptLimitsOf(config), streams };
  const pipelines = new Pipelines({ database, catalog, store });
  const bindings = createBindings({
    ...services,
    scriptLog,
    outbound,
    db: new PlatformDb({ catalog, store, pipelines, maxResultRecords: config.maxResultRecords }),
    limits,
    userTokens: new UserTokens({ database, accessTokens, names }),
    report: async (scope, { name, parameters, format }) => {
      const run = await findReport(reports, name).run(services.reportServices, scope, parameters);
      return run.answer({ format, byteOrderMark: 'with', timeZone: scope.domain.timeZone });
    },
    runNested: ({ scope, run, within }, name, args) =>
      scriptRuns.call(scope, name, {
        arguments: args,
        cause: 'script',
        depth: run.depth + 1,
        queueKey: 'held',
        within,
      }),
  });
  const scriptRunner = new ScriptRunner({ store, bindings, limits, onFault });
  const writeQueue = createWriteQueue(limits, config.poolSize);
  const scripts = await Scripts.load({
    database,
    maxCodeBytes: config.scriptCodeBytes,
    checkCode: (source) => scriptRunner.check(source),
    schemaNames: async () =>
      namesIn((await import('../graphql/print-schema.js')).buildIdleSchema(catalog.list())),
  });
  const scriptRuns = new ScriptRuns({ database, scripts, store, runner: scriptRunner });
  return {
    scriptRunner,
    scripts,
    scriptRuns,
    scriptLog,
    /** The queue of writes for their `before` scripts. */
    writeQueue,
    close: () =>
      closeInTurn([
        () => outbound.close(),
        () => scriptRunner.close(),
        () => scripts.close(),
        async () => writeQueue.close(),
      ]),
  };
}
