import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Finds the folder of the package (with `prisma/` and `schema/`): the same from `dist/` and from the sources
 * a test runs.
 */
export function findPackageDirectory(): string {
  let directory = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(directory, 'package.json'))) {
    const parent = path.dirname(directory);
    if (parent === directory) throw new Error('The package directory of the gateway was not found');
    directory = parent;
  }
  return directory;
}

/** The folders of the packages that these files are of, from the folder of our package; each once, sorted. */
export function bundledPackages(files: readonly string[]): readonly string[] {
  const root = findPackageDirectory();
  // Bundlers put a NUL before the names of files that they have rewritten.
  const paths = files.map((file) => file.replace('\0', ''));
  const folders = paths.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/?]+/.exec(file) ?? []);
  return [...new Set(folders.map((folder) => path.relative(root, path.resolve(root, folder))))].sort();
}
