/**
 * What scripts are ended for on a machine whose processors are all taken: their own processor time, not their
 * waiting for it.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../database.js';
import { useRunner } from './runner.js';

const test = useTestDatabase();
const runner = useRunner({
  database: { transaction: (work) => test.database.transaction(work) },
  limits: { cpuTimeMs: 150, wallTimeMs: 120_000 },
});
/**
 * Well above scripts: they get a twentieth of a processor, and this test is done in seconds. On Linux alone
 * this is of the thread.
 */
const SPIN = `
  const { getPriority, setPriority } = require('node:os');
  if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + 5));
  for (;;);
`;
let spinning: readonly Worker[] = [];

beforeAll(async () => {
  // A thread that is ready, so that what is measured is the run.
  await runner.value('export default 1;');
  spinning = Array.from({ length: 2 * availableParallelism() }, () => new Worker(SPIN, { eval: true }));
});

afterAll(() => Promise.all(spinning.map((worker) => worker.terminate())));

it('a run that is deaf to us while it waits for a processor is let finish', async () => {
  // One long native operation, in which the interpreter does not ask whether it should stop.
  const result = await runner.run('export default "ab".repeat(100000).split("").reverse().join("").length;');
  expect(result.error).toBeUndefined();
  expect(result.value).toBe(200_000);
  expect(result.durationMs).toBeGreaterThan(result.cpuMs);
});

it('a run that has had its processor time is ended', async () => {
  const result = await runner.run('for (;;);');
  expect(result.error).toMatchObject({ limit: 'cpuTime' });
});
