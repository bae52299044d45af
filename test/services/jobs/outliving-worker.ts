/**
 * A process that does jobs of two tasks, each of which takes two seconds: `fails` fails at its first attempt,
 * `ends` does not. It says what it is at, a line each, until it is killed, or stopped by SIGTERM.
 */
import { JobWorkers } from '../../../src/services/jobs/job-workers.js';
import { openDatabase } from '../../../src/store/database/database.js';

const JOB_MS = 2_000;

function task(name: string, outcome: (attempt: number) => void) {
  return {
    name,
    run: async (_payload: unknown, { attempt }: { readonly attempt: number }) => {
      process.stdout.write(`${name} begun\n`);
      await new Promise((resolve) => setTimeout(resolve, JOB_MS));
      outcome(attempt);
      process.stdout.write(`${name} ended\n`);
    },
  };
}

const workers = new JobWorkers({
  database: await openDatabase({ url: process.argv[2] ?? '', poolSize: 2, statementTimeoutMs: 5_000 }),
  tasks: [
    task('ends', () => {}),
    task('fails', (attempt) => {
      if (attempt === 1) throw new Error('the first attempt fails');
    }),
  ],
  cronItems: [],
  concurrency: 2,
  shutdownGraceMs: 1_000,
  sweepMs: 500,
  observe: () => {},
});
process.once('SIGTERM', () => {
  void workers.stop().then(() => process.exit(0));
});
await workers.start();
process.stdout.write('ready\n');
