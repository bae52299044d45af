/** A process that takes a job of the task `endless` and never ends it, until it is killed. */
import { JobWorkers } from '../../../src/services/jobs/job-workers.js';
import { openDatabase } from '../../../src/store/database/database.js';

const workers = new JobWorkers({
  database: await openDatabase({ url: process.argv[2] ?? '', poolSize: 1, statementTimeoutMs: 5000 }),
  tasks: [
    {
      name: 'endless',
      run: () => {
        process.stdout.write('taken\n');
        return new Promise(() => setInterval(() => {}, 1000));
      },
    },
  ],
  cronItems: [],
  concurrency: 1,
  shutdownGraceMs: 1000,
  observe: () => {},
});
await workers.start();
