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
