import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const RUN = fileURLToPath(new URL('./run.mjs', import.meta.url));

/** What Jest prints when it is started with these words. */
async function printedFor(...words: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [RUN, ...words])).stdout;
}

/** How many workers Jest takes. */
async function workersOf(...words: string[]): Promise<number> {
  const config = JSON.parse(await printedFor(...words, '--showConfig'));
  return (config as { globalConfig: { maxWorkers: number } }).globalConfig.maxWorkers;
}

it('runs the tests of clients and of the browser only by the name of their room', async () => {
  expect(await printedFor('agents', '--listTests')).not.toContain('/clients/');
  expect(await printedFor('-w', '1', '--listTests')).not.toContain('/browser/');
  expect(await printedFor('clients/agents', '--listTests')).toContain('/test/clients/agents.test.ts');
  expect(await printedFor('--within', 'browser', 'sheets', '--listTests')).toContain('/sheets.test.ts');
});

it('starts as many workers as it is told to', async () => {
  expect(await workersOf('rest', '--maxWorkers=1')).toBe(1);
  expect(await workersOf('rest', '--maxWorkers', '1')).toBe(1);
  expect(await workersOf('rest', '-w', '1')).toBe(1);
  expect(await workersOf('rest', '--runInBand')).toBe(1);
});

it('starts several for each core without being told', async () => {
  expect(await workersOf('rest')).toBeGreaterThan(1);
});
