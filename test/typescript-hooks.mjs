/**
 * Lets Node import our TypeScript sources outside of Jest's own module system, where Jest runs its global
 * setup.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
// As Jest compiles them: said once, in package.json.
const [[, options]] = Object.values(manifest.jest.transform);

export async function resolve(specifier, context, nextResolve) {
  if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return nextResolve(specifier, context);
}

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  const text = await readFile(filename, 'utf8');
  const { code } = await transform(text, {
    ...options,
    filename,
    swcrc: false,
    configFile: false,
    sourceMaps: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
