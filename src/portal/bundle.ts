/**
 * Builds the portal (`npm run compile`, after the compiler): Vite bundles `src/portal/browser` and its
 * packages into `dist/portal/page`. Each file has a hash of its content in its name and its compressed forms
 * beside it; `portal.json` lists them all. Before bundling, the GraphQL documents are generated as modules and
 * the texts as catalogs. The build needs no network, and does nothing where sources and packages are
 * unchanged.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { build, type InlineConfig, type Plugin, type Rolldown } from 'vite';
import { bundledPackages, findPackageDirectory } from '../base/process/package-directory.js';
import { loadOperationsLibrary } from './explore/operations-library.js';
import { generateOperations } from './generate-operations.js';
import { generateReportForms, generateReportTopics } from './generate-report-forms.js';
import { generateTileOperations } from './generate-tile-operations.js';
import { type MessageCatalogs, readMessageCatalogs } from './message-catalogs.js';
import { readPagePaths } from './page-paths.js';
import { type PortalFiles, portalDirectory, readPortalFiles } from './pages/portal-files.js';
import { type BuiltFile, hashOfSources, writeBuilt, writeManifest } from './pages/write-built.js';

const packages = createRequire(import.meta.url);
const packageDirectory = findPackageDirectory();
const directory = portalDirectory(packageDirectory);
const sources = path.join(packageDirectory, 'src', 'portal', 'browser');
const schema = path.join(packageDirectory, 'schema');
const generated = path.join(packageDirectory, 'src', 'generated', 'portal');

/** The sources of the portal, including these programs and the installed packages. */
const SOURCE_FOLDERS = [
  ...['src/portal', 'src/base', 'src/services/importing/cells', 'src/services/messaging/sms'],
  ...['schema/operations', 'schema/collections'],
];
const SOURCE_FILES = ['schema/schema.graphql', 'schema/platform.d.ts', 'package-lock.json'];

/** The address of the files. */
const PUBLIC_PATH = '/portal/assets/';
const platformTypes = path.join(schema, 'platform.d.ts');
const SIZES = 'sizes.json';
const SHARED = 'shared';
const CATALOG = 'catalog:';
const PLATFORM_TYPES = 'platform:types';

/** The limits of the first load and of each page, compressed by brotli. */
const MOST_BYTES = { first: 250 * 1024, page: 80 * 1024 };

/** Parts without a limit: code editors load after their page is shown. */
const WITHOUT_LIMIT = /^src\/portal\/browser\/(?:explorer|editor)\/|^node_modules\//;

/**
 * The best quality makes a file 7 % smaller and takes twenty times as long. That pays for the files that
 * every visitor waits for, and would add half a minute to the build for all of them.
 */
const BROTLI_QUALITY = { first: 11, others: 9 };

/**
 * Has Chromium compile all functions of a file while it loads, beside the page (explicit compile hints of
 * V8). Otherwise it compiles each at its first call, which holds up the page: a third of what the script of a
 * first page takes. Of larger files, such as the editors, most functions are never called.
 */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad\n';
const MOST_HINTED_BYTES = 256 * 1024;

type Chunk = Rolldown.OutputChunk;
type Written = Chunk | Rolldown.OutputAsset;

async function buildPortal(): Promise<void> {
  const key = await hashOfSources(SOURCE_FOLDERS, SOURCE_FILES);
  const present = await readPortalFiles(directory).catch(() => undefined);
  if (present?.key === key) return;
  const schemaFile = path.join(schema, 'schema.graphql');
  await generateOperations({ sources, schema: schemaFile, target: generated });
  await generateModules(buildSchema(await readFile(schemaFile, 'utf8')));
  const { catalogs, untranslated } = await readMessageCatalogs([sources]);
  for (const text of untranslated) console.warn(`not in a hi.json, and shown in English: ${text}`);
  const plugins = [withoutEditorStyles, accessiblePackages, ownModules(catalogs)];
  const page = await bundle({ portal: 'main.tsx' }, { plugins, codeSplitting: { groups: GROUPS } });
  const languages = Object.keys(catalogs);
  const urls = languages.map((language) => [language, urlOf(chunkOf(page, `\0${CATALOG}${language}`))]);
  const define = { CATALOG_URLS: JSON.stringify(Object.fromEntries(urls)) };
  const [arrive, ...others] = await bundle({ arrive: 'arrive.ts' }, { define, format: 'iife' });
  const docs = await bundle(
    { 'rest-docs': 'rest-docs.ts', 'rest-docs-style': '../pages/rest-docs.css' },
    { plugins: [accessiblePackages] },
  );
  if (arrive === undefined || others.length > 0) throw new Error('The script of the arrival is one file');

  const main = chunkOf(page, path.join(sources, 'main.tsx'));
  // Nearly every page needs the shared file, so it is requested with the first script, not after a page.
  const shared = page.filter((file) => file.type === 'chunk' && file.name === SHARED);
  const first = new Set([main, ...shared].flatMap((file) => filesOf(file, page)));
  const added = (chunk: Chunk) => filesOf(chunk, page).filter((name) => !first.has(name));
  const atOnce = new Set([...first, arrive.fileName]);
  const icon = await readFile(packages.resolve('swagger-ui-dist/favicon-32x32.png'));
  const files = [
    ...[...page, ...docs, arrive].map((file) => builtFile(file, atOnce)),
    { name: 'favicon.png', content: icon },
  ];
  const bytes = await writeBuilt(directory, files);
  const sizeOf = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + (bytes[name] ?? 0), 0);
  const parts = page.flatMap((file): readonly [string, number][] => {
    if (file.type !== 'chunk' || !file.isDynamicEntry || file.facadeModuleId === null) return [];
    return [[path.relative(packageDirectory, file.facadeModuleId.replace('\0', '')), sizeOf(added(file))]];
  });
  const sizes = { first: sizeOf(atOnce), parts: parts.sort(([, a], [, b]) => b - a) };
  const bundled = bundledPackages(
    [...page, ...docs, arrive].flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])),
  );
  await writeFile(path.join(directory, SIZES), JSON.stringify({ ...sizes, bundled }, null, 2));
  assertSizes(sizes);

  const pages = readPagePaths(await readFile(path.join(sources, 'portal-pages.ts'), 'utf8'));
  const manifest: PortalFiles = {
    key,
    script: urlOf(main),
    style: urlOf(styleOf(page, first)),
    preload: scriptsOf(first).filter((url) => url !== urlOf(main)),
    arrive: urlOf(arrive),
    pages: pages.map(({ path: address, module }) => ({
      path: address,
      files: scriptsOf(added(chunkOf(page, path.join(sources, `${module}.tsx`)))),
    })),
    restDocs: {
      script: urlOf(chunkOf(docs, path.join(sources, 'rest-docs.ts'))),
      style: urlOf(styleOf(docs, new Set(docs.map(({ fileName }) => fileName)))),
    },
    names: Object.keys(bytes),
  };
  await writeManifest(path.join(directory, 'portal.json'), manifest);
  await removeOthers(Object.keys(bytes));
}

/** Generates the modules from the schema, the operations library and the collections. */
async function generateModules(graphql: GraphQLSchema): Promise<void> {
  const library = await loadOperationsLibrary(path.join(schema, 'operations'));
  const folder = path.join(schema, 'collections');
  const files = (await readdir(folder)).filter((name) => /(?<!\.schema)\.json$/.test(name));
  const collections = await Promise.all(
    files.map(async (name) => JSON.parse(await readFile(path.join(folder, name), 'utf8'))),
  );
  const tiles = generateTileOperations({ schema: graphql, library, collections });
  await writeModule(
    'report-forms',
    'readonly @reports/askable-report:AskableReport[]',
    generateReportForms(graphql),
  );
  await writeModule('tile-operations', 'readonly @dashboards/tile-operation:TileOperation[]', tiles);
  await writeModule('report-topics', 'Readonly<Record<string, string>>', generateReportTopics(library));
}

/** A module with one constant. In its type, `@file:Name` is a type of a file of the portal. */
async function writeModule(name: string, type: string, value: unknown): Promise<void> {
  const constant = name.replace('-', '_').toUpperCase();
  const inTypes = type.replace(/@([^:@]*):/, "import('../../portal/browser/$1').");
  const text = `export const ${constant}: ${inTypes} = ${JSON.stringify(value, null, 1)};\n`;
  await writeFile(path.join(generated, `${name}.ts`), text);
}

/**
 * Two scripts load first, one of packages and one of ours. The small modules that several pages share are a
 * third: over HTTP/1.1, with six requests at a time, one file per set of sharing pages would take a phone
 * seconds. A browser does not answer touches while it prepares a script, so there are two first scripts.
 */
const GROUPS: Rolldown.CodeSplittingGroup[] = [
  { name: 'base', tags: ['$initial'], test: isOfPackage, priority: 3 },
  { name: 'portal', tags: ['$initial'], priority: 2 },
  {
    name: SHARED,
    test: /src\/(?:portal|generated)\/|node_modules\/@(?:mantine|floating-ui)\//,
    ...{ minShareCount: 7, maxModuleSize: 16 * 1024, priority: 1 },
  },
];

/** Whether a module is of a package or of the bundler itself; all styles stay together. */
function isOfPackage(id: string): boolean {
  return (id.includes('/node_modules/') && !id.endsWith('.css')) || id.startsWith('\0rolldown');
}

async function bundle(
  entries: Readonly<Record<string, string>>,
  { plugins, define, ...output }: Pick<InlineConfig, 'define' | 'plugins'> & Rolldown.OutputOptions = {},
): Promise<readonly Written[]> {
  const input = Object.entries(entries).map(([name, file]) => [name, path.join(sources, file)]);
  const built = await build({
    ...{ configFile: false, root: packageDirectory, base: PUBLIC_PATH, publicDir: false, logLevel: 'warn' },
    ...(define && { define }),
    ...(plugins && { plugins }),
    build: {
      ...{ write: false, target: 'es2022', assetsDir: '', assetsInlineLimit: 0 },
      // Mantine sets the colour scheme in a way that a lowered `light-dark()` does not follow.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      ...{ modulePreload: { polyfill: false }, chunkSizeWarningLimit: 10_000, reportCompressedSize: false },
      rolldownOptions: {
        input: Object.fromEntries(input),
        checks: { moduleLevelDirective: false },
        output: { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js', ...output },
      },
    },
  });
  return [built].flat().flatMap((one) => ('output' in one ? one.output : []));
}

/** Leaves out the styles of the editor, because those of GraphiQL contain them and its font. */
const withoutEditorStyles: Plugin = {
  name: 'without-editor-styles',
  enforce: 'pre',
  load: (id) => (id.includes('/monaco-editor/') && id.endsWith('.css') ? '' : undefined),
};

/** By the file of a package: code that violates WCAG 2.2 AA, and its replacement. */
const MENDED: Readonly<Record<string, readonly (readonly [from: RegExp, to: string])[]>> = {
  // A tab must not contain a button, such as the one that closes it.
  '@graphiql/react/dist/components/tabs/index.js': [
    [/"aria-selected": isActive,/, '"aria-current": isActive,'],
    [/role: "tab",/, ''],
    [/role: "tablist",/, ''],
  ],
  // Comments on the dark background have a contrast of only 4.1:1.
  '@graphiql/react/dist/constants.js': [
    [/(foreground: "#908aff")/, '$1 }, { token: "comment", foreground: "#8fbf73"'],
  ],
  'swagger-ui-dist/swagger-ui-bundle.js': [
    // A button, the one that opens an operation, must not contain a link.
    [/"a",\{className:"nostyle"/, '"span",{className:"nostyle"'],
    [/"main",\{id:"operations"/, '"div",{id:"operations"'],
  ],
};

const accessiblePackages: Plugin = {
  name: 'accessible-packages',
  transform(code, id) {
    const [, mends = []] = Object.entries(MENDED).find(([file]) => id.endsWith(`node_modules/${file}`)) ?? [];
    return mends.reduce((text, [from, to]) => {
      if (!from.test(text)) throw new Error(`${id} has no ${from}`);
      return text.replace(from, to);
    }, code);
  },
};

/** `catalog:hi` exports the compiled texts of a language, `platform:types` the declarations for scripts. */
function ownModules(catalogs: MessageCatalogs): Plugin {
  return {
    name: 'own-modules',
    resolveId: { filter: { id: /^(?:catalog:|platform:types$)/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0(?:catalog:|platform:types$)/ },
      handler: async (id) => {
        const language = id.slice(1 + CATALOG.length) as keyof MessageCatalogs;
        return id.slice(1) === PLATFORM_TYPES
          ? `export const text = ${JSON.stringify(await readFile(platformTypes, 'utf8'))};`
          : `export const messages = ${JSON.stringify(catalogs[language])};`;
      },
    },
  };
}

function chunkOf(files: readonly Written[], module: string): Chunk {
  const found = files.find((file) => file.type === 'chunk' && file.facadeModuleId === module);
  if (found?.type === 'chunk') return found;
  throw new Error(`The bundler wrote no file for ${module}`);
}

/** The names of a file, of all that it imports at once, and of their styles. */
function filesOf(file: Written, files: readonly Written[], found = new Set<string>()): readonly string[] {
  if (file.type !== 'chunk' || found.has(file.fileName)) return [...found];
  found.add(file.fileName);
  for (const style of file.viteMetadata?.importedCss ?? []) found.add(style);
  for (const one of files) if (file.imports.includes(one.fileName)) filesOf(one, files, found);
  return [...found];
}

function styleOf(files: readonly Written[], names: ReadonlySet<string>): Written {
  const [style, ...others] = files.filter(({ fileName }) => names.has(fileName) && fileName.endsWith('.css'));
  if (style === undefined || others.length > 0) throw new Error('A page has one file of styles');
  return style;
}

function scriptsOf(names: Iterable<string>): readonly string[] {
  return [...names].filter((name) => name.endsWith('.js')).map((fileName) => urlOf({ fileName }));
}

function urlOf({ fileName }: { readonly fileName: string }): string {
  return PUBLIC_PATH + fileName;
}

/** `first` are the names of the files that every page loads. */
function builtFile(file: Written, first: ReadonlySet<string>): BuiltFile {
  const text = Buffer.from(file.type === 'chunk' ? file.code : file.source);
  const isHinted = file.type === 'chunk' && text.length <= MOST_HINTED_BYTES;
  return {
    name: file.fileName,
    content: isHinted ? Buffer.concat([Buffer.from(COMPILE_HINT), text]) : text,
    quality: first.has(file.fileName) ? BROTLI_QUALITY.first : BROTLI_QUALITY.others,
  };
}

interface Sizes {
  readonly first: number;
  /** The size of each part that loads later, including its styles, by its source. */
  readonly parts: readonly (readonly [source: string, bytes: number])[];
}

/** @throws Error that names the parts above their limit */
function assertSizes({ first, parts }: Sizes): void {
  const over = parts.filter(([source, size]) => size > MOST_BYTES.page && !WITHOUT_LIMIT.test(source));
  if (first > MOST_BYTES.first) over.push(['the first load', first]);
  if (over.length === 0) return;
  const named = over.map(([source, size]) => `${source} ${inKib(size)}`).join(', ');
  throw new Error(
    `The first load may have ${inKib(MOST_BYTES.first)}, a page ${inKib(MOST_BYTES.page)}: ${named}`,
  );
}

function printSizes({ first, parts }: Sizes): void {
  const lines = parts.map(([source, size]) => `  ${inKib(size).padStart(10)}  ${source}`);
  process.stdout.write(
    `first load  ${inKib(first)} of ${inKib(MOST_BYTES.first)} (brotli)\n${lines.join('\n')}\n`,
  );
}

function inKib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}

async function removeOthers(names: readonly string[]): Promise<void> {
  const kept = new Set([
    'portal.json',
    SIZES,
    ...names.flatMap((name) => [name, `${name}.gz`, `${name}.br`]),
  ]);
  const left = (await readdir(directory)).filter((name) => !kept.has(name));
  await Promise.all(left.map((name) => rm(path.join(directory, name), { force: true })));
}

await buildPortal();
if (process.argv[2] === 'sizes') printSizes(JSON.parse(await readFile(path.join(directory, SIZES), 'utf8')));
