/** Background work: the kinds of jobs, and the scheduled tasks. */
import { z } from 'zod';
import { ServiceError } from '../../base/errors.js';
import { systemPrincipal } from '../../base/model/scope.js';
import { purgeAccounts } from '../../services/auth/sessions.js';
import { BACKUP_TASK, VERIFY_TASK } from '../../services/backup/scheduled-backups.js';
import type { CronItem, JobContext, JobTask } from '../../services/jobs/job-queue.js';
import { RECEIPT_TASK, SEND_TASK } from '../../services/messaging/message-delivery.js';
import { purgeMessages } from '../../services/messaging/message-rows.js';
import { createScriptTasks, SCHEDULE_TASK } from '../../services/scripting/library/script-tasks.js';
import { endLongSessions } from '../../services/sql-views/sql-views.js';
import { WEBHOOK_TASK } from '../../services/webhooks/webhook-deliveries.js';
import { databaseTime } from '../../store/database/queryable.js';
import type { Config } from '../config/config.js';
import type { Observe } from '../server/observation/observation.js';
import { IMPORT_TASK } from './opened.js';
import type { Services } from './services.js';

/** Spread over some six minutes; after that, the next scheduled backup is the next attempt. */
const BACKUP_ATTEMPTS = 5;
const DAY_MS = 24 * 3_600_000;
/** How long an abandoned job is still shown before it is deleted. */
const KEEP_FAILED_DAYS = 14;

interface JobServices {
  readonly services: Services;
  readonly config: Config;
  readonly observe: Observe;
}

/** All times are UTC; 20:00 is 01:30 in India. The clock of the database counts. */
export function createJobs({ services, config, observe }: JobServices): {
  readonly tasks: readonly JobTask[];
  readonly cronItems: readonly CronItem[];
} {
  const { backups, database, fieldMeter, files, imports, jobs, messageDelivery } = services;
  const { scriptLog, scriptRuns, keyMeter, webhookDeliveries } = services;
  const daysAgo = async (days: number) => new Date((await databaseTime(database)).getTime() - days * DAY_MS);
  const scheduled: readonly ScheduledTask[] = [
    {
      ...{ name: 'back up', task: BACKUP_TASK, maxAttempts: BACKUP_ATTEMPTS },
      schedule: config.backupSchedule,
      run: (_, { signal }) => backups.make(signal),
    },
    {
      ...{ name: 'end long sessions', task: 'sqlViews.endSessions', schedule: '* * * * *' },
      run: () => endLongSessions(database),
    },
    {
      ...{ name: 'release messages', task: 'messages.release', schedule: '*/5 * * * *' },
      run: () => messageDelivery.release(),
    },
    {
      ...{ name: 'purge records', task: 'records.purge', schedule: '55 * * * *' },
      async run() {
        const domain = services.domains.top();
        if (domain === undefined) return;
        const principal = systemPrincipal('purge', ['admin'], domain.id);
        const scope = { domain, principal, call: { requestId: 'purge' } };
        const removedBefore = await daysAgo(config.keepRemovedDays);
        const purged = await services.store.purge(scope, { removedBefore });
        const isAnythingGone = Object.values(purged).flat().some(Boolean);
        if (isAnythingGone) observe({ kind: 'purged', ...purged });
      },
    },
    { ...{ name: 'purge files', task: 'files.purge', schedule: '25 * * * *' }, run: () => files.purge() },
    {
      ...{ name: 'purge imports', task: 'imports.purge', schedule: '45 20 * * *' },
      run: async () => imports.purge(await daysAgo(config.keepImportsDays)),
    },
    {
      ...{ name: 'purge jobs', task: 'jobs.purge', schedule: '5 20 * * *' },
      run: async () => jobs.purge(await daysAgo(KEEP_FAILED_DAYS)),
    },
    {
      ...{ name: 'purge messages', task: 'messages.purge', schedule: '15 20 * * *' },
      run: async () => purgeMessages(database, await daysAgo(config.keepMessagesDays)),
    },
    {
      ...{ name: 'purge webhooks', task: 'webhooks.purge', schedule: '35 * * * *' },
      run: () => webhookDeliveries.purge(),
    },
    {
      ...{ name: 'purge accounts', task: 'accounts.purge', schedule: '15 * * * *' },
      run: () => purgeAccounts(database),
    },
    {
      ...{ name: 'purge usage', task: 'usage.purge', schedule: '45 20 * * *' },
      async run() {
        const now = await databaseTime(database);
        await keyMeter.purge(now);
        await fieldMeter.purge(now);
      },
    },
    {
      ...{ name: 'purge scripts', task: 'scripts.purge', schedule: '35 20 * * *' },
      async run() {
        const before = await daysAgo(config.keepScriptRunsDays);
        await scriptRuns.purge(before);
        await scriptLog.purge(database, before);
      },
    },
  ];
  return {
    tasks: [
      ...scheduled.map(({ task: name, run }) => ({ name, run })),
      task(VERIFY_TASK, z.object({ name: z.string() }), ({ name }, { signal }) =>
        backups.verify(name, signal),
      ),
      task(SEND_TASK, z.object({ id: z.uuid() }), async ({ id }, context) => {
        const tried = await messageDelivery.send(id, context);
        if (tried) observe(tried);
      }),
      task(RECEIPT_TASK, RECEIPT, async (receipt, { attempt, maxAttempts }) => {
        const isKnown = await messageDelivery.note(receipt);
        // If the message is still unknown by then, the receipt may belong to another customer of the same
        // provider account.
        if (!isKnown && attempt < maxAttempts)
          throw new Error('a receipt came before the note of its message');
      }),
      task(WEBHOOK_TASK, z.object({ id: z.uuid() }), ({ id }, { signal }) =>
        webhookDeliveries.send(id, signal),
      ),
      createImportTask(services),
      ...createScriptTasks({ ...services, runs: scriptRuns, maxDepth: config.scriptDepth }),
    ],
    cronItems: [
      { name: 'start scripts', task: SCHEDULE_TASK, schedule: '* * * * *' },
      ...scheduled.flatMap(({ schedule, ...item }) =>
        schedule === undefined ? [] : [{ ...item, schedule }],
      ),
    ],
  };
}

/** `schedule` is `undefined` if the settings name none. A job that the clock started has no payload. */
interface ScheduledTask extends Omit<CronItem, 'schedule'> {
  readonly schedule: string | undefined;
  run(payload: unknown, context: JobContext): Promise<unknown>;
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

const RECEIPT = z.object({
  providerId: z.string(),
  outcome: z.enum(['delivered', 'failed']),
  state: z.string(),
});

/** Validates the payload: a job waits in the database and may come from an older version of the gateway. */
function task<Payload>(
  name: string,
  payload: z.ZodType<Payload>,
  run: (payload: Payload, context: JobContext) => Promise<void>,
): JobTask {
  return { name, run: (written, context) => run(payload.parse(written), context) };
}
