/** The two lists of what the gateway does beside the requests: what a job can be, and what is due by the clock. */
import type { CronItem, JobTask } from './messaging/job.js';
import type { Services } from './services.js';

const DAY_MS = 24 * 3_600_000;
/** How long a job that was given up is shown before it goes. */
const KEEP_FAILED_DAYS = 14;

export function createTasks(services: Services): readonly JobTask[] {
  return [
    {
      name: 'jobs.purge',
      run: async () => {
        await services.jobs.purge(new Date(Date.now() - KEEP_FAILED_DAYS * DAY_MS));
      },
    },
  ];
}

/** All in UTC; 20:00 is half past one at night in India. */
export const CRON_ITEMS: readonly CronItem[] = [
  { name: 'purge jobs', task: 'jobs.purge', schedule: '5 20 * * *', catchUp: 'once' },
];
