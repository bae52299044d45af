import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const RUN = fileURLToPath(new URL('./run.mjs', import.meta.url));

/** How many workers Jest takes when it is started with these words. */
async function workersOf(...words: string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, ...words, '--showConfig']);
  return (JSON.parse(stdout) as { globalConfig: { maxWorkers: number } }).globalConfig.maxWorkers;
}

it('starts as many workers as it is told to', async () => {
  expect(await workersOf('rest', '--maxWorkers=1')).toBe(1);
  expect(await workersOf('rest', '--maxWorkers', '1')).toBe(1);
  expect(await workersOf('rest', '-w', '1')).toBe(1);
  expect(await workersOf('rest', '--runInBand')).toBe(1);
});

it('starts several for each core without being told', async () => {
  expect(await workersOf('rest')).toBeGreaterThan(1);
});
