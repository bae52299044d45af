/** What shells complete of `campus`, asked of the shells themselves. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { useCampus } from './use-campus.js';

const campus = useCampus();

jest.setTimeout(120_000);

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'campus-completion-'));
  for (const shell of SHELLS) {
    const { code, output, errors } = await campus(['completion', shell]);
    expect([code, errors]).toEqual([0, '']);
    await writeFile(path.join(folder, shell), output);
  }
});

afterAll(() => rm(folder, { recursive: true }));

/** The words that a shell offers for the last of those typed after `campus`. */
async function completionsOf(shell: Shell, typed: readonly string[]): Promise<string[]> {
  const words = ['campus', ...typed].map((word) => `'${word}'`).join(' ');
  const questions: Record<Shell, string> = {
    bash:
      `source "${folder}/bash"; COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _campus; ` +
      `printf "%s\\n" "\${COMPREPLY[@]}"`,
    // zsh completes within its line editor alone: what the function would describe is printed instead.
    zsh:
      `compdef() {}; compadd() { print -rl -- \${@:#--} }; ` +
      `_describe() { print -rl -- \${described%%:*} }; ` +
      `source "${folder}/zsh"; words=(${words}); CURRENT=${typed.length + 1}; _campus`,
    fish: `source "${folder}/fish"; complete -C "campus ${typed.join(' ')}" | string replace -r "\\t.*" ""`,
  };
  const child = spawn(shell, [...(shell === 'zsh' ? ['-f'] : []), '-c', questions[shell]], {
    // In a folder without files, whose names fish offers, too.
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe('');
  return output.split('\n').filter((word) => word !== '');
}

for (const shell of SHELLS) {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;
  const describeWhere = isThere ? describe : describe.skip;
  describeWhere(`campus in ${shell}${isThere ? '' : ', which is not installed here'}`, () => {
    it('completes commands', async () => {
      expect(await completionsOf(shell, ['mi'])).toContain('migrate');
      expect(await completionsOf(shell, [''])).toEqual(expect.arrayContaining(['start', 'report']));
    });
    it('completes subcommands', async () => {
      expect(await completionsOf(shell, ['key', ''])).toEqual(
        expect.arrayContaining(['create', 'list', 'revoke']),
      );
      expect(await completionsOf(shell, ['report', 'fee-'])).toContain('fee-defaulters');
    });
    it('completes options', async () => {
      expect(await completionsOf(shell, ['user', 'add', '--'])).toEqual(
        expect.arrayContaining(['--role', '--name', '--help']),
      );
    });
    it('completes the words of an argument that has few', async () => {
      expect(await completionsOf(shell, ['maintenance', ''])).toEqual(expect.arrayContaining(['on', 'off']));
    });
    it('completes the values of an option that has few', async () => {
      expect((await completionsOf(shell, ['export', '--format', ''])).sort()).toEqual([
        'csv',
        'ndjson',
        'parquet',
        'xlsx',
      ]);
      expect(await completionsOf(shell, ['message', 'list', '--state', ''])).toContain('kept');
    });
    it('knows where it is, whatever stands between', async () => {
      const offered = await completionsOf(shell, ['key', 'create', '--domain', 'north', '--']);
      expect(offered).toContain('--user');
      expect(offered).not.toContain('create');
    });
  });
}

it('refuses a shell it does not know, and says which it knows', async () => {
  const { code, output, errors } = await campus(['completion', 'tcsh']);
  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors).toContain('bash, zsh, fish');
});
