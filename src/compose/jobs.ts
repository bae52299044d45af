/**
 * The two lists of what the gateway does beside the requests: what a job can be, and what is due by the
 * clock.
 */
import { z } from 'zod';
import type { Config } from '../config.js';
import { ServiceError } from '../errors.js';
import type { CronItem, JobTask } from '../messaging/job.js';
import { type MessageObservation, SEND_TASK } from '../messaging/message-delivery.js';
import { RECEIPT_TASK } from '../messaging/receipt-intake.js';
import { createScriptTasks, SCHEDULE_TASK } from '../scripting/library/script-tasks.js';
import { IMPORT_TASK } from './open-imports.js';
import type { Services } from './services.js';

const BACKUP_TASK = 'backups.make';
/** Over some six minutes; then the next one by the clock is waited for. */
const BACKUP_ATTEMPTS = 5;
const DAY_MS = 24 * 3_600_000;
/** How long a job that was given up is shown before it goes. */
const KEEP_FAILED_DAYS = 14;

export interface TaskServices {
  readonly services: Services;
  readonly config: Pick<
    Config,
    'keepMessagesDays' | 'keepScriptRunsDays' | 'keepImportsDays' | 'scriptDepth'
  >;
  readonly observe: (event: MessageObservation) => void;
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
  return [
    task(BACKUP_TASK, NOTHING, async (_, { signal }) => {
      await backups.make(signal);
    }),
    task('jobs.purge', NOTHING, async () => {
      await jobs.purge(daysAgo(KEEP_FAILED_DAYS));
    }),
    task(SEND_TASK, z.object({ id: z.uuid() }), async ({ id }, context) => {
      const tried = await messageDelivery.send(id, context);
      if (tried) observe(tried);
    }),
    task(RECEIPT_TASK, RECEIPT, async (receipt, { attempt, maxAttempts }) => {
      const isKnown = await messageDelivery.note(receipt);
      // The receipt may belong to somebody else who has the same account with the provider, if the message is
      // not known by then.
      if (!isKnown && attempt < maxAttempts) throw new Error('a receipt came before the note of its message');
    }),
    task('messages.release', NOTHING, async () => {
      await messageDelivery.release();
    }),
    task('messages.purge', NOTHING, async () => {
      await messageDelivery.purge(daysAgo(config.keepMessagesDays));
    }),
    task('usage.purge', NOTHING, async () => {
      await usageDays.dropOld(new Date());
      await fieldMeter.purge(new Date());
    }),
    task('webhooks.purge', NOTHING, async () => {
      await webhookDeliveries.purge();
    }),
    task('files.purge', NOTHING, async () => {
      await files.purge();
    }),
    createImportTask(services),
    task('imports.purge', NOTHING, async () => {
      await services.imports.purge(daysAgo(config.keepImportsDays));
    }),
    ...createScriptTasks({ ...services, runs: scriptRuns, maxDepth: config.scriptDepth }),
    task('scripts.purge', NOTHING, async () => {
      const before = daysAgo(config.keepScriptRunsDays);
      await scriptRuns.purge(before);
      await scriptLog.purge(database, before);
    }),
  ];
}

/** Imports that this process works on at once: the other workers are for what takes a moment. */
const IMPORTS_AT_ONCE = 2;

/** Goes on with an import; one that others are before is looked at again. */
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

/** What is due by the clock with these settings. */
export function cronItemsOf({ backupSchedule }: Pick<Config, 'backupSchedule'>): readonly CronItem[] {
  if (backupSchedule === undefined) return CRON_ITEMS;
  const backup = { name: 'back up', task: BACKUP_TASK, schedule: backupSchedule, catchUp: 'once' } as const;
  return [...CRON_ITEMS, { ...backup, maxAttempts: BACKUP_ATTEMPTS }];
}

/** All in UTC; 20:00 is half past one at night in India. */
const CRON_ITEMS: readonly CronItem[] = [
  { name: 'start scripts', task: SCHEDULE_TASK, schedule: '* * * * *', catchUp: 'never' },
  { name: 'release messages', task: 'messages.release', schedule: '*/5 * * * *', catchUp: 'never' },
  { name: 'purge files', task: 'files.purge', schedule: '25 * * * *', catchUp: 'once' },
  { name: 'purge imports', task: 'imports.purge', schedule: '45 20 * * *', catchUp: 'once' },
  { name: 'purge jobs', task: 'jobs.purge', schedule: '5 20 * * *', catchUp: 'once' },
  { name: 'purge messages', task: 'messages.purge', schedule: '15 20 * * *', catchUp: 'once' },
  { name: 'purge webhooks', task: 'webhooks.purge', schedule: '35 * * * *', catchUp: 'once' },
  { name: 'purge usage', task: 'usage.purge', schedule: '45 20 * * *', catchUp: 'once' },
  { name: 'purge scripts', task: 'scripts.purge', schedule: '35 20 * * *', catchUp: 'once' },
];

/** A job that the clock starts carries nothing. */
const NOTHING = z.unknown();
const RECEIPT = z.object({
  providerId: z.string(),
  outcome: z.enum(['delivered', 'failed']),
  state: z.string(),
});

/**
 * A job waits in the database, perhaps from an older gateway: what it holds is checked before it is believed.
 */
function task<Payload>(
  name: string,
  payload: z.ZodType<Payload>,
  run: (payload: Payload, context: Parameters<JobTask['run']>[1]) => Promise<void>,
): JobTask {
  return { name, run: (written, context) => run(payload.parse(written), context) };
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * DAY_MS);
}
