import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { findMessages, readMessageCatalogs } from '../../src/portal/message-catalogs.js';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** A folder with these files, by their paths. */
async function write(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'campus-catalogs-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  return folder;
}

describe('findMessages', () => {
  it.each([
    ["<h1>{t('Records')}</h1>", ['Records']],
    ["label: phrase('Home')", ['Home']],
    [`t(\n  "It's {count, number}",\n  { count },\n)`, ["It's {count, number}"]],
    ["t('It\\'s gone')", ["It's gone"]],
    ['t(`One line`)', ['One line']],
    ['t(page.label) start("no") await("no")', []],
  ])('%s', (source, messages) => {
    expect(findMessages(source)).toEqual(messages);
  });
});

describe('readMessageCatalogs', () => {
  it('gathers the texts of all folders, ready to be filled in, in English those with parts', async () => {
    const folder = await write({
      'page.tsx': "t('Hello, {name}') + t('Bye')",
      'hi.json': '{ "Hello, {name}": "नमस्ते, {name}" }',
      'below/hi.json': '{ "Bye": "विदा" }',
    });
    expect(await readMessageCatalogs([folder])).toEqual({
      catalogs: {
        en: { 'Hello, {name}': ['Hello, ', ['name']] },
        hi: { 'Hello, {name}': ['नमस्ते, ', ['name']], Bye: ['विदा'] },
      },
      untranslated: [],
    });
  });

  it('repeats and lists what has no translation', async () => {
    const folder = await write({ 'page.tsx': "t('{count} pages')" });
    const { catalogs, untranslated } = await readMessageCatalogs([folder]);
    expect(catalogs.hi).toEqual({ '{count} pages': [['count'], ' pages'] });
    expect(untranslated).toEqual([`${folder}/page.tsx: "{count} pages"`]);
  });

  it('refuses what is translated for nothing', async () => {
    const folder = await write({ 'hi.json': '{ "Unsaid": "अनकहा" }' });
    await expect(readMessageCatalogs([folder])).rejects.toThrow(
      'A hi.json translates an unused text: "Unsaid"',
    );
  });

  it('refuses two translations of one text', async () => {
    const folder = await write({
      'page.tsx': "t('Bye')",
      'hi.json': '{ "Bye": "विदा" }',
      'below/hi.json': '{ "Bye": "अलविदा" }',
    });
    await expect(readMessageCatalogs([folder])).rejects.toThrow('contradicts another hi.json: "Bye"');
  });
});
