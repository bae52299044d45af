/**
 * Builds the explorer's page (`npm run compile`, after the compiler): `src/explore/browser` and GraphiQL,
 * from npm, become the files of `dist/explore/page`. Their names hold a hash of their content, beside each
 * lie its compressed forms, and `page.json` lists them. Nothing is fetched from a network. What was built of
 * the same sources and packages is kept.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';
import { findPackageDirectory } from '../package-directory.js';
import { type PageFiles, pageDirectory, readPageFiles } from './page-files.js';

const packageDirectory = findPackageDirectory();
const sources = path.join(packageDirectory, 'src', 'explore');
const directory = pageDirectory(packageDirectory);

const WORKERS = {
  editor: 'monaco-editor/esm/vs/editor/editor.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
  graphql: 'monaco-graphql/esm/graphql.worker.js',
};

const ENTRY = 'src/explore/browser/main.tsx';

/** Where the page finds its files. */
const PUBLIC_PATH = '/explore/assets';

const COMMON: BuildOptions = {
  absWorkingDir: packageDirectory,
  bundle: true,
  minify: true,
  metafile: true,
  write: false,
  outdir: directory,
  publicPath: PUBLIC_PATH,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  target: 'es2022',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
};

/** The styles of the editor are in those of GraphiQL already, its font too. */
const withoutEditorStyles: Plugin = {
  name: 'without-editor-styles',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/monaco-editor\/.*\.css$/ }, () => ({ contents: '', loader: 'css' }));
  },
};

async function buildPage(): Promise<void> {
  const key = await hashOfSources();
  const present = await readPageFiles(directory).catch(() => undefined);
  if (present?.key === key) return;
  const workers = await build({ ...COMMON, entryPoints: WORKERS, format: 'iife' });
  const workerUrls = Object.fromEntries(
    Object.keys(WORKERS).map((name) => [name, urlOfEntry(workers, WORKERS[name as keyof typeof WORKERS])]),
  );
  const page = await build({
    ...COMMON,
    entryPoints: { explorer: ENTRY },
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    define: { ...COMMON.define, WORKER_URLS: JSON.stringify(workerUrls) },
    plugins: [withoutEditorStyles],
    tsconfigRaw: '{}',
  });
  const names = await writeFiles([...(workers.outputFiles ?? []), ...(page.outputFiles ?? [])]);
  await writeManifest({ key, ...entriesOf(page), names });
  await removeOthers(names);
}

function urlOfEntry({ metafile }: BuildResult, entry: string): string {
  const found = Object.entries(metafile?.outputs ?? {}).find(([, output]) =>
    output.entryPoint?.endsWith(entry),
  );
  if (!found) throw new Error(`The bundler wrote no file for ${entry}`);
  return urlOf(found[0]);
}

/** What the page loads itself; the script loads the rest. */
function entriesOf({ metafile }: BuildResult): Pick<PageFiles, 'script' | 'style'> {
  const [name, output] =
    Object.entries(metafile?.outputs ?? {}).find(([, { entryPoint }]) => entryPoint === ENTRY) ?? [];
  if (!name || !output?.cssBundle) throw new Error(`The bundler wrote no script or no styles for ${ENTRY}`);
  return { script: urlOf(name), style: urlOf(output.cssBundle) };
}

function urlOf(output: string): string {
  return `${PUBLIC_PATH}/${path.basename(output)}`;
}

async function writeFiles(files: readonly { readonly path: string; readonly contents: Uint8Array }[]) {
  await mkdir(directory, { recursive: true });
  return await Promise.all(
    files.map(async ({ path: file, contents }) => {
      const [zipped, brotli] = await Promise.all([promisify(gzip)(contents), compressBrotli(contents)]);
      await Promise.all([
        writeFile(file, contents),
        writeFile(`${file}.gz`, zipped),
        writeFile(`${file}.br`, brotli),
      ]);
      return path.basename(file);
    }),
  );
}

/** Nine of eleven: the last steps take ten times as long for a few per cent. */
async function compressBrotli(contents: Uint8Array): Promise<Buffer> {
  return await promisify(brotliCompress)(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
}

/** Last, and at once: a gateway that starts meanwhile sees the old page or the new one. */
async function writeManifest(files: PageFiles): Promise<void> {
  const file = path.join(directory, 'page.json');
  await writeFile(`${file}.new`, JSON.stringify(files, null, 2));
  await rename(`${file}.new`, file);
}

async function removeOthers(names: readonly string[]): Promise<void> {
  const kept = new Set(['page.json', ...names.flatMap((name) => [name, `${name}.gz`, `${name}.br`])]);
  const left = (await readdir(directory)).filter((name) => !kept.has(name));
  await Promise.all(left.map((name) => rm(path.join(directory, name), { force: true })));
}

/**
 * The hash covers all that the page is made of: our sources, this program, and the packages as they are
 * installed.
 */
async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const names = await readdir(sources, { recursive: true });
  const files = [
    ...names.filter((name) => /\.(tsx?|css|json)$/.test(name)).map((name) => path.join(sources, name)),
    path.join(packageDirectory, 'src', 'tables', 'csv-line.ts'),
    path.join(packageDirectory, 'package-lock.json'),
  ];
  for (const file of files.sort())
    hash.update(file.slice(packageDirectory.length)).update(await readFile(file));
  return hash.digest('hex');
}

await buildPage();
