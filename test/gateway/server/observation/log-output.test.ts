import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogOutput } from '../../../../src/gateway/server/observation/log-output.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'campus-log-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Writes to a device, and gives what it did and what it told. */
async function writing(device: string, lines: readonly string[]) {
  const told: string[] = [];
  const handle = await open(device, 'a');
  const output = new LogOutput({ fd: handle.fd, onTrouble: (sentence) => told.push(sentence) });
  for (const line of lines) {
    output.write(`${line}\n`);
    await sleep(5);
  }
  await output.close(2000);
  await handle.close();
  return { told, dropped: output.dropped };
}

describe('the output of the log', () => {
  it('writes every line, in order', async () => {
    const file = path.join(directory, 'log');
    const lines = Array.from({ length: 30 }, (_, index) => `${index} ${'é'.repeat(300)}`);
    expect(await writing(file, lines)).toEqual({ told: [], dropped: 0 });
    expect(await readFile(file, 'utf8')).toBe(`${lines.join('\n')}\n`);
  });

  it('drops what a full device does not take, counts it, and says so once', async () => {
    const lines = Array.from({ length: 10 }, () => 'x'.repeat(5000));
    const { told, dropped } = await writing('/dev/full', lines);
    expect(dropped).toBe(10);
    expect(told).toEqual([
      expect.stringMatching(/^the log cannot be written \(ENOSPC.* dropped and counted$/),
    ]);
  });

  it('holds no more than it may, and says in the log how many lines are missing', async () => {
    const file = path.join(directory, 'log');
    const handle = await open(file, 'a');
    const told: string[] = [];
    const output = new LogOutput({ fd: handle.fd, onTrouble: (one) => told.push(one), maxHeldBytes: 25 });
    for (const line of ['first', 'second', 'third', 'too many', 'even more']) output.write(`${line}\n`);
    await output.close(2000);
    await handle.close();
    expect(output.dropped).toBe(2);
    expect(told).toHaveLength(1);
    const [missing = '', ...others] = (await readFile(file, 'utf8')).split('\n');
    expect(JSON.parse(missing)).toMatchObject({ level: 'warn', event: 'logDropped', lines: 2 });
    expect(others).toEqual(['first', 'second', 'third', '']);
  });
});
