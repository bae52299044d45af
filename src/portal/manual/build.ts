/**
 * Builds the manual (`npm run compile`, after the compiler): the documents of the package become the pages of
 * `dist/portal/manual/site`. Each file has its compressed forms beside it, and `manual.json` lists them by
 * address. The build needs no network, and does nothing if documents and packages are unchanged.
 */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { findPackageDirectory } from '../../base/process/package-directory.js';
import { type ManualFiles, manualDirectory, readManualFiles } from '../pages/portal-files.js';
import { printSearchIndex } from '../pages/search-index.js';
import { type BuiltFile, hashOfSources, writeBuilt, writeManifest } from '../pages/write-built.js';
import { addressOf, PAGES } from './pages.js';
import { type PageAssets, printPage } from './print-page.js';
import { type RenderedDocument, renderDocument } from './render-document.js';

const packageDirectory = findPackageDirectory();
const directory = manualDirectory(packageDirectory);

/** The sources of the manual: the documents, the files that they may show, the programs and the packages. */
const SOURCE_FOLDERS = [
  ...['docs', 'schema', 'src/portal/manual', 'src/portal/pages'],
  ...['src/portal/browser/session', 'src/portal/browser/gateway'],
];
const SOURCE_FILES = [
  ...PAGES.map(({ source }) => source),
  ...['LICENSE', '.env.example', 'package-lock.json'],
];

/** Files of the package that the manual contains because it links to them; other files are only named. */
const SHOWN = /^(LICENSE|\.env\.example|docs\/images\/[\w-]+\.png|schema\/[\w./-]+\.(graphql|json|js|ts))$/;

interface SiteFile extends BuiltFile {
  readonly address: string;
}

async function buildManual(): Promise<void> {
  const key = await hashOfSources(SOURCE_FOLDERS, SOURCE_FILES);
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
  const words = JSON.parse(await readFile(path.join(packageDirectory, 'docs', 'search-words.json'), 'utf8'));
  const assets = await buildAssets(
    documents.flatMap(({ page, document }) => sectionsOf(page, document, words)),
  );
  const pages = documents.map(({ page, document }) =>
    siteFile(addressOf(page), '.html', printPage(page, { document, assets: assets.addresses })),
  );
  const files = [...pages, ...assets.files, ...(await readLinked(linked))];
  await rm(directory, { recursive: true, force: true });
  await writeBuilt(directory, files);
  const names = Object.fromEntries(files.map(({ address, name }) => [address, name]));
  await writeManifest(path.join(directory, 'manual.json'), { key, names } satisfies ManualFiles);
}

function findInManual(target: string, linked: Set<string>): string | undefined {
  const page = PAGES.find(({ source }) => source === target);
  if (page) return addressOf(page);
  if (!SHOWN.test(target)) return undefined;
  linked.add(target);
  return `/manual/files/${target}`;
}

function sectionsOf(
  page: (typeof PAGES)[number],
  { sections }: RenderedDocument,
  words: Readonly<Record<string, string>>,
) {
  const title = sections[0]?.title ?? page.label;
  return sections.map((section) => ({
    id: `${addressOf(page)}#${section.anchor}`,
    page: title,
    title: section.title,
    text: section.text,
    words: words[`${page.path}#${section.anchor}`] ?? '',
    weight: page.weight ?? 1,
  }));
}

/** The script, the styles and the search index, named after their content so that browsers can cache them. */
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

await buildManual();
