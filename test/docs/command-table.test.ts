/** docs/operate.md tells of every command of `campus`, and of no other. */
import { expect, it } from '@jest/globals';
import { COMMANDS } from '../../src/cli/commands.js';
import { readProjectFile } from './project-files.js';

const section = readProjectFile('docs/operate.md').split('## The command line')[1]?.split('\n## ')[0] ?? '';
/** What stands in the first column, e.g. `domain`. */
const told = [...section.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words.split(' ')[0] ?? ''),
);
const commands = COMMANDS.map(({ usage }) => usage.split(' ')[0] ?? '');

it('is a table with every command', () => {
  expect(commands.filter((name) => !told.includes(name))).toEqual([]);
});

it('begins each row with a command that there is', () => {
  const first = [...section.matchAll(/^\| `([a-z-]+)/gm)].map(([, name = '']) => name);
  expect(first.length).toBeGreaterThan(10);
  expect(first.filter((name) => !commands.includes(name))).toEqual([]);
});
