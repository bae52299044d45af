/**
 * The platform counts itself: every function of it is declared, has an example that is right, and is called
 * by a test.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { checkScripts, type Declaration, readDeclarations } from './declarations.js';
import { usePlatform } from './platform.js';

const test = usePlatform();

let declarations: readonly Declaration[] = [];
let names: readonly string[] = [];

beforeAll(async () => {
  declarations = await readDeclarations();
  const found = await test.value(
    'admin',
    `const namesIn = (room, prefix) => Object.entries(room).flatMap(([name, value]) =>
       typeof value === 'function' ? [prefix + name] : namesIn(value, prefix + name + '.'));
     export default namesIn(platform, '');`,
  );
  names = Array.isArray(found) ? found.map(String) : [];
});

describe('schema/platform.d.ts', () => {
  it('declares what a script finds, all of it and nothing else', () => {
    expect(declarations.map(({ name }) => name).sort()).toEqual([...names].sort());
  });

  it('has an example of every function that calls it', () => {
    const without = declarations.filter(
      ({ name, examples }) => !examples.some((code) => code.includes(`platform.${name}(`)),
    );
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('has examples that the compiler and the sandbox can read', async () => {
    const codes = Object.fromEntries(
      declarations.flatMap(({ name, examples }) =>
        examples.map((code, index) => [`${name.replace('.', '-')}-${index}`, code]),
      ),
    );
    expect(await checkScripts(codes)).toBe('');
    for (const [name, code] of Object.entries(codes)) await test.services.scriptRunner.check({ name, code });
  });

  it('refuses scripts that are wrong', async () => {
    const wrong = {
      a: 'platform.request("https://a.example", { methd: "POST" });',
      b: 'platform.missing();',
      c: 'platform.encrypt(1);',
      d: 'const n = platform.domains().size;',
      e: 'process.exit();',
      f: 'setTimeout(() => {}, 1);',
      g: 'platform.print = () => {}; platform.isTopDomain({});',
    };
    const told = await checkScripts(wrong);
    expect(Object.keys(wrong).filter((name) => !told.includes(`${name}.js(`))).toEqual([]);
  });
});

describe('the tests of scripts', () => {
  it('call every function of the platform', async () => {
    const directory = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
    const files = (await readdir(directory, { recursive: true })).filter((file) => file.endsWith('.test.ts'));
    const texts = await Promise.all(files.map((file) => readFile(path.join(directory, file), 'utf8')));
    // Scripts write `db.create(…)` after `const { db } = platform`.
    const callOf = (name: string) => (name.startsWith('db.') ? `${name}(` : `platform.${name}(`);
    expect(names.filter((name) => !texts.some((text) => text.includes(callOf(name))))).toEqual([]);
  });
});
