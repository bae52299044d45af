/**
 * The five minutes of the README show something on any day: its commands are tried on schools of many days.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { firstOf } from '../full-length.js';
import { readExamples } from './examples.js';
import { Reader } from './reader.js';

const commands = readExamples('README.md').filter(
  ({ language, notRunBecause }) => language === 'sh' && notRunBecause === undefined,
);

/** On some of them little has happened yet. */
const DAYS = [
  ['a Sunday that is the first day of a session', '2029-04-01'],
  ['a Sunday', '2026-11-22'],
  ['a holiday', '2026-10-02'],
  ['the summer vacation', '2026-05-20'],
  ['the first day of a session', '2026-04-01'],
] as const;

it('the README has commands to try', () => {
  expect(commands.length).toBeGreaterThanOrEqual(5);
});

describe.each(firstOf(DAYS, 1))('on %s', (_, today) => {
  const gateway = useDemoGateway({ students: 60, today });
  let reader: Reader;
  beforeAll(async () => {
    const { url, databaseUrl } = gateway;
    reader = await Reader.create({ url, databaseUrl, token: '' });
  });
  afterAll(() => reader[Symbol.asyncDispose]());

  it.each(commands)('line $line shows something', async ({ code }) => {
    const { code: exitCode, output, errors } = await reader.run(code);
    expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: '' });
    expect(output).not.toMatch(/\[\]|"errors":/);
    const setsVariablesAlone = code
      .trim()
      .split('\n')
      .every((line) => /^(?:[A-Z]+=| {2})/.test(line));
    if (!setsVariablesAlone) expect(output.length).toBeGreaterThan(100);
  });
});
