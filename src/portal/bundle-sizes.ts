/**
 * Measures what a browser loads (brotli) before the portal can be used, and with each page. A build that
 * exceeds a limit fails.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';

/** A file of the bundle, and its static imports. */
export interface Chunk {
  readonly name: string;
  readonly entryPoint: string | undefined;
  readonly style: string | undefined;
  readonly imports: readonly string[];
}

export interface BundleSizes {
  /** The scripts of the page with their static imports, and the styles. */
  readonly firstLoadBytes: number;
  /** What each page adds, including its styles, by its source. */
  readonly pages: Readonly<Record<string, number>>;
}

const MOST_FIRST_BYTES = 250 * 1024;
const MOST_PAGE_BYTES = 80 * 1024;

/** Parts without a limit: code editors load after their page is shown. */
const WITHOUT_BOUND = /^src\/portal\/browser\/(?:explorer|editor)\/|^node_modules\//;

export async function measureChunks(
  directory: string,
  chunks: readonly Chunk[],
  entries: readonly string[],
): Promise<BundleSizes> {
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const isEntry = ({ entryPoint }: Chunk) => entryPoint !== undefined && entries.includes(entryPoint);
  const first = new Set(chunks.filter(isEntry).flatMap(({ name }) => [...chunkFilesOf(name, byName)]));
  const sizeOf = async (names: Iterable<string>) => {
    const sizes = await Promise.all(
      [...names].map(async (name) => (await stat(path.join(directory, `${name}.br`))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  const pages = chunks.filter((chunk) => chunk.entryPoint && !isEntry(chunk) && chunk.name.endsWith('.js'));
  const sized = await Promise.all(
    pages.map(async ({ name, entryPoint = '' }) => {
      const added = [...chunkFilesOf(name, byName)].filter((file) => !first.has(file));
      return [entryPoint, await sizeOf(added)] as const;
    }),
  );
  return {
    firstLoadBytes: await sizeOf(first),
    pages: Object.fromEntries(sized.sort(([, a], [, b]) => b - a)),
  };
}

/** A file with its static imports and their styles. */
export function chunkFilesOf(
  name: string,
  byName: ReadonlyMap<string, Chunk>,
  found = new Set<string>(),
): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const chunk = byName.get(name);
  if (chunk?.style !== undefined) found.add(chunk.style);
  for (const imported of chunk?.imports ?? []) chunkFilesOf(imported, byName, found);
  return found;
}

/** @throws Error that names the parts above their limit */
export function assertSizes({ firstLoadBytes, pages }: BundleSizes): void {
  const over = Object.entries(pages).filter(
    ([name, size]) => size > MOST_PAGE_BYTES && !WITHOUT_BOUND.test(name),
  );
  if (firstLoadBytes > MOST_FIRST_BYTES) {
    throw new Error(
      `The first load of the portal is ${inKib(firstLoadBytes)}, ${inKib(MOST_FIRST_BYTES)} at most`,
    );
  }
  if (over.length === 0) return;
  const named = over.map(([name, size]) => `${name} ${inKib(size)}`).join(', ');
  throw new Error(`Pages of the portal over ${inKib(MOST_PAGE_BYTES)}: ${named}`);
}

/** Prints the sizes if `sizes` is the argument of the build. */
export function printSizes({ firstLoadBytes, pages }: BundleSizes, argument: string | undefined): void {
  if (argument !== 'sizes') return;
  const lines = [
    `first load  ${inKib(firstLoadBytes)} of ${inKib(MOST_FIRST_BYTES)} (brotli)`,
    ...Object.entries(pages).map(([name, size]) => `  ${inKib(size).padStart(10)}  ${name}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function inKib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
