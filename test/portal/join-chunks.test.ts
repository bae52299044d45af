/** What a page loads first becomes two files, what pages share another, and they mean the same: it is run. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type BuildOptions, build } from 'esbuild';
import { joinChunks } from '../../src/portal/join-chunks.js';

/** Each page shares something else with the entry, so that the bundler cuts it into several files. */
const SOURCES = {
  'main.js': `
    import { log } from './log.js';
    import { one } from './one.js';
    import { two } from './two.js';
    log('main ' + one() + two.value);
    export const open = async (page) => {
      const pages = {
        a: () => import('./a.js'), b: () => import('./b.js'),
        c: () => import('./c.js'), d: () => import('./d.js'),
      };
      return (await pages[page]()).said;
    };`,
  'log.js': `export const lines = []; export function log(line) { lines.push(line); }`,
  'one.js': `import { log } from './log.js'; log('one'); export function one() { return 1; }`,
  'two.js': `import { log } from './log.js'; log('two'); export let two = { value: 2 };`,
  'a.js': `import { one } from './one.js'; import { lines } from './log.js';
    import { shared } from './shared.js'; import { often } from './often.js';
    export const said = ['a', one(), shared, often, ...lines];`,
  'b.js': `import { two as second } from './two.js'; import { shared } from './shared.js';
    import { often } from './often.js';
    export const said = ['b', second.value, shared, often];`,
  'c.js': `import { often } from './often.js'; export const said = ['c', often];`,
  'd.js': `import { often } from './often.js'; export const said = ['d', often];`,
  'shared.js': `export const shared = 'of both';`,
  'often.js': `import { one } from './one.js'; export const often = 'by four, ' + one();`,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'campus-join-'));
  for (const [name, text] of Object.entries(SOURCES)) await writeFile(path.join(folder, name), text);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function join(main: string) {
  await writeFile(path.join(folder, 'main.js'), main);
  const options: BuildOptions = {
    absWorkingDir: folder,
    ...{ bundle: true, minify: true, metafile: true, write: false, format: 'esm' },
    ...{ outdir: path.join(folder, 'out'), entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]' },
  };
  const parts = await build({ ...options, entryPoints: ['main.js'], splitting: true });
  const { outputFiles = [], metafile } = parts;
  if (!metafile) throw new Error('esbuild gives no metafile');
  return {
    parts: outputFiles.map((file) => path.basename(file.path)),
    page: await joinChunks({ outputFiles, metafile }, { entry: 'main.js', options }),
  };
}

it('is three files, which the pages import from', async () => {
  const { parts, page } = await join(SOURCES['main.js']);
  const names = page.outputFiles.map((file) => path.basename(file.path));
  expect(parts.length).toBeGreaterThan(names.length);
  const first = Object.entries(page.metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'main.js');
  const shared = names.filter((name) => name.startsWith('shared-'));
  expect(shared).toHaveLength(1);
  const base = names.filter((name) => name.startsWith('base-'));
  expect(base).toHaveLength(1);
  expect(first?.[1].imports.map((imported) => path.basename(imported.path))).toEqual([...base, ...shared]);
  expect(
    Object.keys(page.metafile.outputs)
      .map((file) => path.basename(file))
      .sort(),
  ).toEqual(names.sort());
  for (const file of page.outputFiles)
    await writeFile(path.join(folder, path.basename(file.path)), file.contents);
  // The place of its file stands before what a file exports.
  const { f0_open: open } = await import(path.join(folder, path.basename(first?.[0] ?? '')));
  expect(await open('a')).toEqual(['a', 1, 'of both', 'by four, 1', 'one', 'two', 'main 12']);
  expect(await open('b')).toEqual(['b', 2, 'of both', 'by four, 1']);
  // What is loaded first is halved so that what both need is in the half that needs nothing of the other.
  const textOf = async (name = '') => await readFile(path.join(folder, name), 'utf8');
  expect(await textOf(base[0])).not.toContain('portal-');
  expect(await textOf(path.basename(first?.[0] ?? ''))).toContain(`"./${base[0]}"`);
  // Two pages share it: the others do not load it.
  expect(await textOf(shared[0])).not.toContain('of both');
});

it('gives every file another name when something of it has changed', async () => {
  const namesOf = async (main: string) =>
    (await join(main)).page.outputFiles.map((file) => path.basename(file.path));
  const before = await namesOf(SOURCES['main.js']);
  const after = await namesOf(SOURCES['main.js'].replace("'main '", "'changed '"));
  expect(before.filter((name) => after.includes(name))).toEqual([]);
});

it('has the browser compile each file as a whole, unless most of it is never called', async () => {
  await writeFile(path.join(folder, 'd.js'), `export const said = ${JSON.stringify('d'.repeat(300_000))};`);
  const { page } = await join(SOURCES['main.js']);
  await writeFile(path.join(folder, 'd.js'), SOURCES['d.js']);
  const unhinted = page.outputFiles
    .filter(({ contents }) => !Buffer.from(contents).toString().startsWith('//# allFunctionsCalledOnLoad\n'))
    .map((file) => path.basename(file.path));
  expect(unhinted).toEqual([expect.stringMatching(/^d-/)]);
});
