import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** The files of the explorer's page as the bundler left them; each lies beside its `.gz` and `.br`. */
export interface PageFiles {
  /** The hash of what they were made of. */
  readonly key: string;
  /** Addresses, for the page to load. */
  readonly script: string;
  readonly style: string;
  /** All files by name, workers and later parts included. */
  readonly names: readonly string[];
}

const PAGE_FILES = z.object({
  key: z.string(),
  script: z.string(),
  style: z.string(),
  names: z.array(z.string()),
});

export function pageDirectory(packageDirectory: string): string {
  return path.join(packageDirectory, 'dist', 'explore', 'page');
}

/** @throws Error when the page has not been built */
export async function readPageFiles(directory: string): Promise<PageFiles> {
  return PAGE_FILES.parse(JSON.parse(await readFile(path.join(directory, 'page.json'), 'utf8')));
}
