/** How scripts share the processors with the gateway, and with each other. */
import { readdir, readFile } from 'node:fs/promises';
import os from 'node:os';
import { expect, it } from '@jest/globals';
import { useTestDatabase } from '../../database.js';
import { useRunner } from './runner.js';

const test = useTestDatabase();
const runner = useRunner({
  database: { transaction: (work) => test.database.transaction(work) },
  limits: { warmThreads: 1 },
});

/**
 * How far below this process its threads run, each difference once; nothing is told of single threads on
 * other systems.
 */
async function nicenessOfThreads(): Promise<readonly number[]> {
  if (process.platform !== 'linux') return [];
  const threads = await readdir('/proc/self/task');
  const stats = await Promise.all(
    // One that ends meanwhile has nothing to tell.
    threads.map((id) => readFile(`/proc/self/task/${id}/stat`, 'utf8').catch(() => undefined)),
  );
  const values = stats.flatMap((stat) => {
    // The name, in brackets, may hold blanks. The niceness is the 17th field after it.
    const field = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[16];
    return field === undefined ? [] : [Number(field) - os.getPriority()];
  });
  return [...new Set(values)].filter((value) => value > 0).sort((one, other) => one - other);
}

it('a run gets what the gateway leaves, and one that a write waits for gets more', async () => {
  const isTold = process.platform === 'linux';
  const below = 19 - os.getPriority();
  expect(await runner.value('export default 1;')).toBe(1);
  const ordinary = await nicenessOfThreads();
  expect(ordinary).toEqual(isTold ? [Math.min(15, below)] : []);
  await test.database.transaction(async (within) => {
    expect(await runner.run('export default 2;', { within })).toMatchObject({ value: 2 });
  });
  expect(await nicenessOfThreads()).toEqual(isTold ? [Math.min(5, below), ...ordinary] : []);
});
