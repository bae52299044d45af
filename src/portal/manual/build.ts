/**
 * Builds the manual (`npm run compile`, after the compiler): the documents of the package become the pages of
 * `dist/portal/manual/site`. Beside each file lie its compressed forms, and `manual.json` lists them by their
 * addresses. Nothing is fetched from a network. What was built of the same documents and packages is kept.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'esbuild';
import { findPackageDirectory } from '../../base/process/package-directory.js';
import { printSearchIndex } from '../rooms/search-index.js';
import { type ManualFiles, manualDirectory, readManualFiles } from './manual-files.js';
import { addressOf, PAGES } from './pages.js';
import { type PageAssets, printPage } from './print-page.js';
import { type RenderedDocument, renderDocument } from './render-document.js';

const packageDirectory = findPackageDirectory();
const directory = manualDirectory(packageDirectory);

/** Texts of the package that the manual links to, and so has; other files are named in it, not shown. */
const SHOWN = /^(LICENSE|\.env\.example|docs\/images\/[\w-]+\.png|schema\/[\w./-]+\.(graphql|json|js|ts))$/;

interface SiteFile {
  readonly address: string;
  readonly name: string;
  readonly content: Uint8Array;
}

async function buildManual(): Promise<void> {
  const key = await hashOfSources();
  const present = await readManualFiles(directory).catch(() => undefined);
  if (present?.key === key) return;
  const linked = new Set<string>();
  const documents = await Promise.all(
    PAGES.map(async (page) => {
      const markdown = await readFile(path.join(packageDirectory, page.source), 'utf8');
      const findAddress = (target: string) => findInManual(target, linked);
      return { page, document: renderDocument(markdown, { source: page.source, findAddress }) };
    }),
  );
  const assets = await buildAssets(documents.flatMap(({ page, document }) => sectionsOf(page, document)));
  const pages = documents.map(({ page, document }) =>
    siteFile(addressOf(page), '.html', printPage(page, { document, assets: assets.addresses })),
  );
  const files = [...pages, ...assets.files, ...(await readLinked(linked))];
  await rm(directory, { recursive: true, force: true });
  await writeFiles(files);
  await writeManifest({ key, names: Object.fromEntries(files.map(({ address, name }) => [address, name])) });
}

function findInManual(target: string, linked: Set<string>): string | undefined {
  const page = PAGES.find(({ source }) => source === target);
  if (page) return addressOf(page);
  if (!SHOWN.test(target)) return undefined;
  linked.add(target);
  return `/manual/files/${target}`;
}

function sectionsOf(page: (typeof PAGES)[number], { sections }: RenderedDocument) {
  const title = sections[0]?.title ?? page.label;
  return sections.map((section) => ({
    id: `${addressOf(page)}#${section.anchor}`,
    page: title,
    title: section.title,
    text: section.text,
  }));
}

/**
 * The script, the styles and the search index, named after their content: who has one need not ask for it
 * again.
 */
async function buildAssets(
  sections: Parameters<typeof printSearchIndex>[0],
): Promise<{ readonly files: readonly SiteFile[]; readonly addresses: PageAssets }> {
  const { outputFiles } = await build({
    absWorkingDir: packageDirectory,
    entryPoints: ['src/portal/manual/browser/manual.ts', 'src/portal/manual/browser/manual.css'],
    bundle: true,
    minify: true,
    write: false,
    outdir: directory,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
    tsconfigRaw: '{}',
  });
  const contentOf = (extension: string) => {
    const file = outputFiles.find(({ path: name }) => name.endsWith(extension));
    if (!file) throw new Error(`The bundler wrote no ${extension} of the manual`);
    return file.contents;
  };
  const script = hashedAsset('manual', '.js', contentOf('.js'));
  const style = hashedAsset('manual', '.css', contentOf('.css'));
  const index = hashedAsset('search', '.json', Buffer.from(printSearchIndex(sections)));
  return {
    files: [script, style, index],
    addresses: { script: script.address, style: style.address, index: index.address },
  };
}

function hashedAsset(name: string, extension: string, content: Uint8Array): SiteFile {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 10);
  return siteFile(`/manual/assets/${name}-${hash}${extension}`, '', content);
}

async function readLinked(linked: ReadonlySet<string>): Promise<SiteFile[]> {
  return await Promise.all(
    [...linked].map(async (target) =>
      siteFile(`/manual/files/${target}`, '', await readFile(path.join(packageDirectory, target))),
    ),
  );
}

function siteFile(address: string, extension: string, content: string | Uint8Array): SiteFile {
  const name = address === '/manual' ? 'index' : address.slice('/manual/'.length);
  return { address, name: name + extension, content: Buffer.from(content) };
}

async function writeFiles(files: readonly SiteFile[]): Promise<void> {
  await Promise.all(
    files.map(async ({ name, content }) => {
      const file = path.join(directory, name);
      await mkdir(path.dirname(file), { recursive: true });
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
      await Promise.all([
        writeFile(file, content),
        promisify(gzip)(content).then((zipped) => writeFile(`${file}.gz`, zipped)),
        promisify(brotliCompress)(content, quality).then((zipped) => writeFile(`${file}.br`, zipped)),
      ]);
    }),
  );
}

/** Last, and at once: a gateway that starts meanwhile sees a whole manual or none. */
async function writeManifest(files: ManualFiles): Promise<void> {
  const file = path.join(directory, 'manual.json');
  await writeFile(`${file}.new`, JSON.stringify(files, null, 2));
  await rename(`${file}.new`, file);
}

/**
 * The hash covers all that the manual is made of: the documents, what they may show, this program, the
 * packages.
 */
async function hashOfSources(): Promise<string> {
  const ofPortal = ['rooms', 'browser/session', 'browser/gateway'].map((folder) => `src/portal/${folder}`);
  const folders = ['docs', 'schema', 'src/portal/manual', ...ofPortal];
  const below = await Promise.all(folders.map(listFolder));
  const top = [...PAGES.map(({ source }) => source), 'LICENSE', '.env.example', 'package-lock.json'];
  const hash = createHash('sha256');
  for (const file of [...new Set([...below.flat(), ...top])].sort()) {
    hash.update(file).update(await readFile(path.join(packageDirectory, file)));
  }
  return hash.digest('hex');
}

async function listFolder(folder: string): Promise<string[]> {
  const names = await readdir(path.join(packageDirectory, folder), { recursive: true });
  const files = names.map((name) => path.join(folder, name));
  const isFile = await Promise.all(
    files.map(async (file) => (await stat(path.join(packageDirectory, file))).isFile()),
  );
  return files.filter((_, index) => isFile[index]);
}

await buildManual();
