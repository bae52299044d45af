/**
 * Whoever changes a file of src/ finds its tests: in the folder of that name, or by the table of
 * docs/develop.md.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { listFiles, ROOT, readProjectFile } from './project-files.js';

/** `| messaging/email/ | messaging/email.test.ts, … |`, its paths in backquotes. */
const ROW = /^\| (?<folder>`[a-z/-]+\/`) \| (?<tests>`.+`) \|$/gm;

/** The pages below it are used as a whole, by the tests that their row names. */
const AS_A_WHOLE = 'portal/browser';

const folders = new Set(
  listFiles('src')
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => path.relative('src', path.dirname(file)))
    .filter((folder) => folder !== '' && !folder.startsWith(`${AS_A_WHOLE}/`)),
);
const withTests = new Set(
  listFiles('test')
    .filter((file) => /\.(test|trial)\.ts$/.test(file))
    .map((file) => path.relative('test', path.dirname(file))),
);

const quotedIn = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => quoted);
const rows = [...readProjectFile('docs/develop.md').matchAll(ROW)].map(({ groups }) => ({
  folder: quotedIn(groups?.folder)[0]?.replace(/\/$/, '') ?? '',
  tests: quotedIn(groups?.tests),
}));

it('has a row for each folder of src/ without tests in a folder of its name, and for no other', () => {
  const expected = [...folders].filter((folder) => !withTests.has(folder)).sort();
  expect(rows.map(({ folder }) => folder).sort()).toEqual(expected);
});

it('names tests that are there', () => {
  const named = rows.flatMap(({ tests }) => tests);
  expect(named.filter((test) => !existsSync(path.join(ROOT, 'test', test)))).toEqual([]);
});
