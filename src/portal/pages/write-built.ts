/** Shared by the builds of the portal and of the manual: hashing of sources, and writing of files. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { findPackageDirectory } from '../../base/process/package-directory.js';

const packageDirectory = findPackageDirectory();

export interface BuiltFile {
  readonly name: string;
  readonly content: Uint8Array;
  /** The quality of its brotli form. */
  readonly quality?: number;
}

/** The hash of files of the package, and of all files in folders of it. */
export async function hashOfSources(folders: readonly string[], files: readonly string[]): Promise<string> {
  const below = folders.map(async (folder) => {
    const directory = path.join(packageDirectory, folder);
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name));
  });
  const found = (await Promise.all(below)).flat().map((file) => path.relative(packageDirectory, file));
  const hash = createHash('sha256');
  for (const file of [...new Set([...found, ...files])].sort())
    hash.update(file).update(await readFile(path.join(packageDirectory, file)));
  return hash.digest('hex');
}

/** Writes each file with its compressed forms beside it. @returns the size of each brotli form by its name */
export async function writeBuilt(
  directory: string,
  files: readonly BuiltFile[],
): Promise<Readonly<Record<string, number>>> {
  const written = files.map(async ({ name, content, quality = 9 }) => {
    const target = path.join(directory, name);
    const [zipped, brotli] = await Promise.all([
      promisify(gzip)(content),
      promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
      mkdir(path.dirname(target), { recursive: true }),
    ]);
    await Promise.all([
      ...[writeFile(target, content), writeFile(`${target}.gz`, zipped), writeFile(`${target}.br`, brotli)],
    ]);
    return [name, brotli.length] as const;
  });
  return Object.fromEntries(await Promise.all(written));
}

/**
 * Written last, and atomically, so that a gateway that starts meanwhile serves either the old build or the
 * new one.
 */
export async function writeManifest(file: string, manifest: object): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(manifest, null, 2));
  await rename(`${file}.new`, file);
}
