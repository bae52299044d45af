/** The files of the project that its documentation speaks of. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** Every file below these folders, as a path from the root; what is generated or installed is left out. */
export function listFiles(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
      .filter((file) => !file.startsWith(path.join('src', 'generated')) && !file.includes('node_modules')),
  );
}

export function readProjectFile(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** README, the manual, the contract, the tutorials and the decision records. */
export function listDocuments(): string[] {
  return ['README.md', ...listFiles('docs').filter((file) => file.endsWith('.md'))];
}
