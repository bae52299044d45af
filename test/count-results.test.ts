import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'campus-counts-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

function told(...files: readonly (readonly FileResult[])[]) {
  const names = files.map((testResults, index) => {
    const name = path.join(folder, `${index}.json`);
    writeFileSync(name, JSON.stringify({ testResults }));
    return name;
  });
  const { stdout, status } = spawnSync(process.execPath, ['test/count-results.mjs', ...names]);
  return { text: String(stdout), status };
}

const result = (name: string, ...outcomes: readonly string[]): FileResult => ({
  name,
  status: outcomes.includes('failed') || outcomes.length === 0 ? 'failed' : 'passed',
  assertionResults: outcomes.map((status) => ({ status })),
});

it('counts the tests of all files, those of a file that was run again once', () => {
  expect(
    told(
      [result('a', 'passed', 'pending'), result('b', 'failed', 'passed')],
      [result('b', 'passed', 'passed')],
    ).text,
  ).toBe('Tests: 3 passed, 0 failed, 1 skipped, of 2 files.\n');
});

it('counts a file that could not be run as a failure', () => {
  expect(told([result('a', 'passed'), result('b')]).text).toBe(
    'Tests: 1 passed, 1 failed, 0 skipped, of 2 files.\n',
  );
});

it('fails without files', () => {
  expect(told().status).toBe(1);
});
