/**
 * Builds the portal (`npm run compile`, after the compiler): bundles `src/portal/browser` and its packages
 * into `dist/portal/page`. Each file has a hash of its content in its name and its compressed forms beside
 * it; `portal.json` lists them all. Before bundling, the GraphQL documents are generated as modules and the
 * texts as catalogs. The build needs no network, and does nothing where sources and packages are unchanged.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';
import { findPackageDirectory } from '../base/process/package-directory.js';
import { assertSizes, type Chunk, chunkFilesOf, measureChunks, printSizes } from './bundle-sizes.js';
import { generateOperations } from './generate-operations.js';
import { generateReportForms } from './generate-report-forms.js';
import { generateReportTopics } from './generate-report-topics.js';
import { generateTileOperations } from './generate-tile-operations.js';
import { type BuiltPage, joinChunks } from './join-chunks.js';
import { type MessageCatalogs, readMessageCatalogs } from './message-catalogs.js';
import { readPagePaths } from './page-paths.js';
import { partsOfMantine } from './parts-of-mantine.js';
import { type PortalFiles, portalDirectory, readPortalFiles } from './portal-files.js';
import { reactAsModule } from './react-as-module.js';
import { componentsOf, stylesOfMantine } from './styles-of-mantine.js';

const packageDirectory = findPackageDirectory();
const directory = portalDirectory(packageDirectory);
const browserSources = path.join(packageDirectory, 'src', 'portal', 'browser');

const WORKERS = {
  editor: 'monaco-editor/esm/vs/editor/editor.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
  graphql: 'monaco-graphql/esm/graphql.worker.js',
};

const ENTRY = 'src/portal/browser/main.tsx';

/** Runs while the entry loads. */
const ARRIVE = 'src/portal/browser/arrive.ts';

const PAGES = 'src/portal/browser/portal-pages.ts';

/** The script of `/docs`, which is not a page of the portal and only shares its session. */
const REST_DOCS = 'src/portal/browser/rest-docs.ts';
const REST_DOCS_STYLE = 'src/portal/rooms/rest-docs.css';

/** A separate entry, so that only the explorer loads it; the bundler would add it to every page. */
const EXPLORER_STYLE = 'src/portal/browser/explorer/page.css';

const PLATFORM_TYPES = path.join(packageDirectory, 'schema', 'platform.d.ts');

/** The address of the files. */
const PUBLIC_PATH = '/portal/assets';

/**
 * The best quality makes a file 7 % smaller and takes twenty times as long. That pays for the files that
 * every visitor waits for, and would add half a minute to the build for all of them.
 */
const BROTLI_QUALITY = { first: 11, others: 9 };

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

/** Leaves out the styles of the editor, because those of GraphiQL contain them and its font. */
const withoutEditorStyles: Plugin = {
  name: 'without-editor-styles',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/monaco-editor\/.*\.css$/ }, () => ({ contents: '', loader: 'css' }));
  },
};

async function buildPortal(): Promise<void> {
  const key = await hashOfSources();
  const present = await readPortalFiles(directory).catch(() => undefined);
  if (present?.key === key) return;
  await generateOperations({
    sources: path.join(packageDirectory, 'src', 'portal', 'browser'),
    schema: path.join(packageDirectory, 'schema', 'schema.graphql'),
    target: path.join(packageDirectory, 'src', 'generated', 'portal'),
  });
  await generateReportForms(
    path.join(packageDirectory, 'schema', 'schema.graphql'),
    path.join(packageDirectory, 'src', 'generated', 'portal', 'report-forms.ts'),
  );
  await generateReportTopics(
    path.join(packageDirectory, 'schema', 'operations'),
    path.join(packageDirectory, 'src', 'generated', 'portal', 'report-topics.ts'),
  );
  await generateTileOperations(
    path.join(packageDirectory, 'schema'),
    path.join(packageDirectory, 'src', 'generated', 'portal', 'tile-operations.ts'),
  );
  const catalogs = await readMessageCatalogs([browserSources]);
  const workers = await build({ ...COMMON, entryPoints: WORKERS, format: 'iife' });
  const workerUrls = Object.fromEntries(
    Object.keys(WORKERS).map((name) => [name, urlOfEntry(workers, WORKERS[name as keyof typeof WORKERS])]),
  );
  const styles = await build({
    ...COMMON,
    entryPoints: { explorer: EXPLORER_STYLE },
    loader: { '.ttf': 'file' },
  });
  const restDocs = await build({
    ...COMMON,
    entryPoints: { 'rest-docs': REST_DOCS, 'rest-docs-style': REST_DOCS_STYLE },
    format: 'esm',
    tsconfigRaw: '{}',
  });
  const pageOptions: BuildOptions = {
    ...COMMON,
    entryPoints: { portal: ENTRY },
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    define: {
      ...COMMON.define,
      WORKER_URLS: JSON.stringify(workerUrls),
      EXPLORER_STYLE: JSON.stringify(urlOfEntry(styles, EXPLORER_STYLE)),
    },
    plugins: [
      withoutEditorStyles,
      catalogModules(catalogs),
      platformTypes,
      reactAsModule(packageDirectory),
      partsOfMantine(packageDirectory),
    ],
    tsconfigRaw: '{}',
  };
  // A first build finds out which components are used.
  const used = componentsOf((await bundle({ ...pageOptions, minify: false })).metafile);
  const inParts = await bundle({
    ...pageOptions,
    plugins: [...(pageOptions.plugins ?? []), stylesOfMantine(packageDirectory, used)],
  });
  const page = await joinChunks(inParts, { entry: ENTRY, options: { ...COMMON, format: 'esm' } });
  const arrive = await build({
    ...COMMON,
    entryPoints: { arrive: ARRIVE },
    format: 'iife',
    define: { ...COMMON.define, CATALOG_URLS: JSON.stringify(urlsOfCatalogs(page, Object.keys(catalogs))) },
    tsconfigRaw: '{}',
  });
  const { script, style, preload } = entriesOf(page);
  const names = await writeFiles(
    [workers, styles, restDocs, arrive, page].flatMap(({ outputFiles }) => outputFiles ?? []),
    new Set([script, style, ...preload].map((url) => path.basename(url))),
  );
  const sizes = await measureChunks(directory, [...chunksOf(page), ...chunksOf(arrive)], [ENTRY, ARRIVE]);
  await writeFile(path.join(directory, 'sizes.json'), JSON.stringify(sizes, null, 2));
  assertSizes(sizes);
  await writeManifest({
    key,
    ...{ script, style, preload },
    arrive: urlOfEntry(arrive, ARRIVE),
    pages: await filesOfPages(page),
    restDocs: {
      script: urlOfEntry(restDocs, REST_DOCS),
      style: urlOfEntry(restDocs, REST_DOCS_STYLE),
    },
    names,
  });
  await removeOthers(names);
}

async function bundle(options: BuildOptions): Promise<BuiltPage> {
  const { metafile, outputFiles } = await build(options);
  if (!metafile || !outputFiles) throw new Error('The bundler did not say what it wrote');
  return { metafile, outputFiles };
}

/** `catalog:hi` is a module that exports the compiled texts of a language. */
function catalogModules(catalogs: MessageCatalogs): Plugin {
  return {
    name: 'catalog-modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^catalog:/ }, ({ path: name }) => ({
        path: name.slice('catalog:'.length),
        namespace: 'catalog',
      }));
      onLoad({ filter: /.*/, namespace: 'catalog' }, ({ path: language }) => ({
        contents: `export const messages = ${JSON.stringify(catalogs[language as keyof MessageCatalogs])};`,
        loader: 'js',
      }));
    },
  };
}

/** `platform:types` is a module that exports the type declarations for scripts, as a text. */
const platformTypes: Plugin = {
  name: 'platform-types',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^platform:types$/ }, () => ({ path: PLATFORM_TYPES, namespace: 'platform-types' }));
    onLoad({ filter: /.*/, namespace: 'platform-types' }, async ({ path: file }) => ({
      contents: `export const text = ${JSON.stringify(await readFile(file, 'utf8'))};`,
      loader: 'js',
    }));
  },
};

function urlOfEntry({ metafile }: Pick<BuildResult, 'metafile'>, entry: string): string {
  const found = Object.entries(metafile?.outputs ?? {}).find(([, output]) =>
    output.entryPoint?.endsWith(entry),
  );
  if (!found) throw new Error(`The bundler wrote no file for ${entry}`);
  return urlOf(found[0]);
}

/** The files that the HTML names; the script loads the others. */
function entriesOf({ metafile }: BuiltPage): Pick<PortalFiles, 'script' | 'style' | 'preload'> {
  const [name, output] =
    Object.entries(metafile?.outputs ?? {}).find(([, { entryPoint }]) => entryPoint === ENTRY) ?? [];
  if (!name || !output?.cssBundle) throw new Error(`The bundler wrote no script or no styles for ${ENTRY}`);
  const imported = output.imports.filter(({ kind }) => kind === 'import-statement');
  return {
    script: urlOf(name),
    style: urlOf(output.cssBundle),
    preload: imported.map(({ path: file }) => urlOf(file)),
  };
}

function urlsOfCatalogs(page: BuiltPage, languages: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(languages.map((language) => [language, urlOfEntry(page, `catalog:${language}`)]));
}

/** The paths of the pages, and the files each loads in addition, which the HTML preloads. */
async function filesOfPages(page: BuiltPage): Promise<PortalFiles['pages']> {
  const chunks = new Map(chunksOf(page).map((chunk) => [chunk.name, chunk]));
  const { script, preload } = entriesOf(page);
  const source = await readFile(path.join(packageDirectory, PAGES), 'utf8');
  return readPagePaths(source).map(({ path: address, module }) => {
    const entry = path.join(path.dirname(PAGES), `${module}.tsx`);
    const files = [...chunkFilesOf(path.basename(urlOfEntry(page, entry)), chunks)].map(urlOf);
    const isOfFirst = (file: string) => file === script || preload.includes(file);
    return { path: address, files: files.filter((file) => file.endsWith('.js') && !isOfFirst(file)) };
  });
}

function chunksOf({ metafile }: Pick<BuildResult, 'metafile'>): readonly Chunk[] {
  return Object.entries(metafile?.outputs ?? {}).map(([file, output]) => ({
    name: path.basename(file),
    entryPoint: output.entryPoint,
    style: output.cssBundle === undefined ? undefined : path.basename(output.cssBundle),
    imports: output.imports
      .filter(({ kind }) => kind === 'import-statement')
      .map(({ path: imported }) => path.basename(imported)),
  }));
}

function urlOf(output: string): string {
  return `${PUBLIC_PATH}/${path.basename(output)}`;
}

/** `first`: the names of the files that every page loads. */
async function writeFiles(
  files: readonly { readonly path: string; readonly contents: Uint8Array }[],
  first: ReadonlySet<string>,
) {
  await mkdir(directory, { recursive: true });
  return await Promise.all(
    files.map(async ({ path: file, contents }) => {
      const quality = first.has(path.basename(file)) ? BROTLI_QUALITY.first : BROTLI_QUALITY.others;
      const [zipped, brotli] = await Promise.all([
        promisify(gzip)(contents),
        promisify(brotliCompress)(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
      ]);
      await Promise.all([
        writeFile(file, contents),
        writeFile(`${file}.gz`, zipped),
        writeFile(`${file}.br`, brotli),
      ]);
      return path.basename(file);
    }),
  );
}

/**
 * Written last, and atomically, so that a gateway that starts meanwhile serves either the old build or the
 * new one.
 */
async function writeManifest(files: PortalFiles): Promise<void> {
  const file = path.join(directory, 'portal.json');
  await writeFile(`${file}.new`, JSON.stringify(files, null, 2));
  await rename(`${file}.new`, file);
}

async function removeOthers(names: readonly string[]): Promise<void> {
  const kept = new Set([
    'portal.json',
    'sizes.json',
    ...names.flatMap((name) => [name, `${name}.gz`, `${name}.br`]),
  ]);
  const left = (await readdir(directory)).filter((name) => !kept.has(name));
  await Promise.all(left.map((name) => rm(path.join(directory, name), { force: true })));
}

/**
 * The hash covers everything the portal is built from: the sources, these programs, the schema and the
 * installed packages.
 */
async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const rooms = ['portal'].map((room) => path.join(packageDirectory, 'src', room));
  const sources = await Promise.all(
    rooms.map(async (room) =>
      (await readdir(room, { recursive: true }))
        .filter((name) => /\.(tsx?|css|json|graphql)$/.test(name))
        .map((name) => path.join(room, name)),
    ),
  );
  const libraryFiles = (
    await Promise.all(
      ['operations', 'collections'].map(async (folder) => {
        const directory = path.join(packageDirectory, 'schema', folder);
        return (await readdir(directory)).map((name) => path.join(directory, name));
      }),
    )
  ).flat();
  const files = [
    ...sources.flat(),
    ...libraryFiles,
    path.join(packageDirectory, 'src', 'base', 'languages', 'graphql-names.ts'),
    path.join(packageDirectory, 'src', 'base', 'tables', 'csv-line.ts'),
    path.join(packageDirectory, 'src', 'services', 'importing', 'cells', 'day-formats.ts'),
    path.join(packageDirectory, 'src', 'services', 'importing', 'cells', 'part-of-cell.ts'),
    path.join(packageDirectory, 'schema', 'schema.graphql'),
    PLATFORM_TYPES,
    path.join(packageDirectory, 'package-lock.json'),
  ];
  for (const file of files.sort())
    hash.update(file.slice(packageDirectory.length)).update(await readFile(file));
  return hash.digest('hex');
}

await buildPortal();
printSizes(JSON.parse(await readFile(path.join(directory, 'sizes.json'), 'utf8')), process.argv[2]);
