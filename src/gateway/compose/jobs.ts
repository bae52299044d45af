/** The two lists of background work: the kinds of jobs, and what is scheduled by the clock. */
import { z } from 'zod';
import { ServiceError } from '../../base/errors.js';
import type { CronItem, JobTask } from '../../services/jobs/job.js';
import { SEND_TASK } from '../../services/messaging/message-delivery.js';
import { RECEIPT_TASK } from '../../services/messaging/receipt-intake.js';
import { createScriptTasks, SCHEDULE_TASK } from '../../services/scripting/library/script-tasks.js';
import { endLongSessions } from '../../services/sql-views/sql-views.js';
import { WEBHOOK_TASK } from '../../services/webhooks/webhook-deliveries.js';
import { databaseTime } from '../../store/database/database-time.js';
import type { Config } from '../config/config.js';
import type { Observe } from '../server/observation.js';
import { purgeRecords } from '../server/purge-records.js';
import { IMPORT_TASK } from './open-imports.js';
import type { Services } from './services.js';

const BACKUP_TASK = 'backups.make';
/** Spread over some six minutes; after that, the next scheduled backup is the next attempt. */
const BACKUP_ATTEMPTS = 5;
const DAY_MS = 24 * 3_600_000;
/** How long an abandoned job is still shown before it is deleted. */
const KEEP_FAILED_DAYS = 14;

export interface TaskServices {
  readonly services: Services;
  readonly config: Pick<
    Config,
    'keepRemovedDays' | 'keepMessagesDays' | 'keepScriptRunsDays' | 'keepImportsDays' | 'scriptDepth'
  >;
  readonly observe: Observe;
}

export function createJobTasks({ services, config, observe }: TaskServices): readonly JobTask[] {
  const {
    usageDays,
    fieldMeter,
    webhookDeliveries,
    backups,
    database,
    jobs,
    messageDelivery,
    files,
    scriptRuns,
    scriptLog,
  } = services;
  const daysAgo = async (days: number) => new Date((await databaseTime(database)).getTime() - days * DAY_MS);
  return [
    task(BACKUP_TASK, NOTHING, async (_, { signal }) => {
      await backups.make(signal);
    }),
    task('jobs.purge', NOTHING, async () => {
      await jobs.purge(await daysAgo(KEEP_FAILED_DAYS));
    }),
    task(SEND_TASK, z.object({ id: z.uuid() }), async ({ id }, context) => {
      const tried = await messageDelivery.send(id, context);
      if (tried) observe(tried);
    }),
    task(RECEIPT_TASK, RECEIPT, async (receipt, { attempt, maxAttempts }) => {
      const isKnown = await messageDelivery.note(receipt);
      // If the message is still unknown by then, the receipt may belong to another customer of the same
      // provider account.
      if (!isKnown && attempt < maxAttempts) throw new Error('a receipt came before the note of its message');
    }),
    task('sqlViews.endSessions', NOTHING, async () => {
      await endLongSessions(database);
    }),
    task('records.purge', NOTHING, async () => {
      const removedBefore = await daysAgo(config.keepRemovedDays);
      const purged = await purgeRecords({ ...services, removedBefore });
      if (purged !== undefined) observe({ kind: 'purged', ...purged });
    }),
    task('messages.release', NOTHING, async () => {
      await messageDelivery.release();
    }),
    task('messages.purge', NOTHING, async () => {
      await messageDelivery.purge(await daysAgo(config.keepMessagesDays));
    }),
    task('usage.purge', NOTHING, async () => {
      const now = await databaseTime(database);
      await usageDays.dropOld(now);
      await fieldMeter.purge(now);
    }),
    task(WEBHOOK_TASK, z.object({ id: z.uuid() }), async ({ id }, { signal }) => {
      await webhookDeliveries.send(id, signal);
    }),
    task('webhooks.purge', NOTHING, async () => {
      await webhookDeliveries.purge();
    }),
    task('files.purge', NOTHING, async () => {
      await files.purge();
    }),
    createImportTask(services),
    task('imports.purge', NOTHING, async () => {
      await services.imports.purge(await daysAgo(config.keepImportsDays));
    }),
    ...createScriptTasks({ ...services, runs: scriptRuns, maxDepth: config.scriptDepth }),
    task('scripts.purge', NOTHING, async () => {
      const before = await daysAgo(config.keepScriptRunsDays);
      await scriptRuns.purge(before);
      await scriptLog.purge(database, before);
    }),
  ];
}

/** Imports this process works on at once; the other workers are reserved for short jobs. */
const IMPORTS_AT_ONCE = 2;

/** Continues an import. An import that waits behind others is checked again later. */
function createImportTask({ importRunner, scheduleImport }: Services): JobTask {
  let running = 0;
  return task(IMPORT_TASK, z.object({ id: z.uuid() }), async ({ id }, { signal, attempt, maxAttempts }) => {
    if (running === IMPORTS_AT_ONCE) return await scheduleImport(id, 'later');
    running += 1;
    try {
      const outcome = await importRunner.run(id, signal);
      if (outcome.kind === 'busy') await scheduleImport(id, 'later');
    } catch (fault) {
      if (attempt === maxAttempts && !signal.aborted) {
        const reason =
          fault instanceof ServiceError ? fault : new ServiceError('INTERNAL', 'a fault of the service');
        await importRunner.end(id, 'failed', reason);
      }
      throw fault;
    } finally {
      running -= 1;
    }
  });
}

/** The cron items for these settings. */
export function cronItemsOf({ backupSchedule }: Pick<Config, 'backupSchedule'>): readonly CronItem[] {
  if (backupSchedule === undefined) return CRON_ITEMS;
  const backup = { name: 'back up', task: BACKUP_TASK, schedule: backupSchedule } as const;
  return [...CRON_ITEMS, { ...backup, maxAttempts: BACKUP_ATTEMPTS }];
}

/** All times are UTC; 20:00 is 01:30 in India. The clock of the database counts. */
const CRON_ITEMS: readonly CronItem[] = [
  { name: 'start scripts', task: SCHEDULE_TASK, schedule: '* * * * *' },
  { name: 'end long sessions', task: 'sqlViews.endSessions', schedule: '* * * * *' },
  { name: 'release messages', task: 'messages.release', schedule: '*/5 * * * *' },
  { name: 'purge records', task: 'records.purge', schedule: '55 * * * *' },
  { name: 'purge files', task: 'files.purge', schedule: '25 * * * *' },
  { name: 'purge imports', task: 'imports.purge', schedule: '45 20 * * *' },
  { name: 'purge jobs', task: 'jobs.purge', schedule: '5 20 * * *' },
  { name: 'purge messages', task: 'messages.purge', schedule: '15 20 * * *' },
  { name: 'purge webhooks', task: 'webhooks.purge', schedule: '35 * * * *' },
  { name: 'purge usage', task: 'usage.purge', schedule: '45 20 * * *' },
  { name: 'purge scripts', task: 'scripts.purge', schedule: '35 20 * * *' },
];

/** A job started by the clock has no payload. */
const NOTHING = z.unknown();
const RECEIPT = z.object({
  providerId: z.string(),
  outcome: z.enum(['delivered', 'failed']),
  state: z.string(),
});

/** Validates the payload: a job waits in the database and may come from an older version of the gateway. */
function task<Payload>(
  name: string,
  payload: z.ZodType<Payload>,
  run: (payload: Payload, context: Parameters<JobTask['run']>[1]) => Promise<void>,
): JobTask {
  return { name, run: (written, context) => run(payload.parse(written), context) };
}
