/**
 * Jest gives every test file a realm of its own and loads all that the file imports into it anew: for a
 * contract test some 1,700 files and two seconds of a processor. This transformer compiles test files as
 * @swc/jest does, and makes of each file of src/ and of node_modules a few lines that hand on what the worker
 * has loaded once, natively, for all test files. Of src/ that is what the compiler made of it in dist/.
 *
 * Nothing is lost by that: no module of src/ has state (docs/style.md), every service is constructed. What
 * a literal of a test makes (`{}`, `[]`, `/x/`) is of the realm of the test all the same, and no
 * `instanceof` in src/ or in a package knows it; see shared-modules-environment.mjs.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import swcJest from '@swc/jest';
import { initSync, parse } from 'es-module-lexer';

/** The global variable of a test by which the files made here reach the modules of the worker. */
export const SHARED_MODULES = 'campusSharedModules';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = path.join(ROOT, 'src', path.sep);
const PACKAGES = path.join(ROOT, 'node_modules', path.sep);
const OWN_TEXT = readFileSync(new URL(import.meta.url));

initSync();

export default {
  createTransformer(swcOptions) {
    const swc = swcJest.createTransformer(swcOptions);
    return {
      canInstrument: false,
      getCacheKey(source, file, options) {
        const shared = sharedFileOf(file);
        if (shared === undefined) return swc.getCacheKey(source, file, options);
        return createHash('sha1')
          .update(OWN_TEXT)
          .update(JSON.stringify([file, options.supportsStaticESM, options.supportsDynamicImport]))
          .update(shared === file ? source : readFileSync(shared))
          .digest('hex');
      },
      process(source, file, options) {
        const shared = sharedFileOf(file);
        if (shared === undefined) return swc.process(source, file, options);
        // Jest transforms by this what its global set-up requires, too, where there is no realm to hand to.
        if (!options.supportsDynamicImport) return { code: source };
        return { code: options.supportsStaticESM ? exportAgain(shared) : requireAgain(shared) };
      },
    };
  },
};

/** The file that the worker loads in place of this one; `undefined`: each test file loads its own. */
function sharedFileOf(file) {
  if (file.startsWith(PACKAGES)) return file;
  if (!file.startsWith(SOURCES)) return undefined;
  const compiled = path.join(ROOT, 'dist', file.slice(SOURCES.length).replace(/\.ts$/, '.js'));
  return existsSync(compiled) ? compiled : undefined;
}

function requireAgain(file) {
  return `module.exports = globalThis.${SHARED_MODULES}.require(${JSON.stringify(file)});\n`;
}

function exportAgain(file) {
  const names = [...exportsOf(file)];
  return [
    `const shared = await globalThis.${SHARED_MODULES}.import(${JSON.stringify(file)});`,
    ...names.map((name, index) => `const export${index} = shared[${JSON.stringify(name)}];`),
    `export { ${names.map((name, index) => `export${index} as ${name}`).join(', ')} };\n`,
  ].join('\n');
}

/** The names that an ES module exports, those of `export * from './other.js'` included. */
function exportsOf(file) {
  const text = readFileSync(file, 'utf8');
  const [imports, exports] = parse(text, file);
  const names = new Set(exports.map(({ n: name }) => name));
  for (const { n: specifier, ss: start, se: end } of imports) {
    if (!specifier?.startsWith('.') || !/^export\s*\*\s*from/.test(text.slice(start, end))) continue;
    for (const name of exportsOf(path.resolve(path.dirname(file), specifier))) {
      if (name !== 'default') names.add(name);
    }
  }
  return names;
}
