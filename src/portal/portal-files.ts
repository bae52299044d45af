import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** The files of the portal as the bundler left them; each lies beside its `.gz` and `.br`. */
export interface PortalFiles {
  /** The hash of what they were made of. */
  readonly key: string;
  /** Addresses, for the page to load. */
  readonly script: string;
  readonly style: string;
  /** The addresses of what the script imports first, which the page asks for at the same time. */
  readonly preload: readonly string[];
  /** The address of the small script that runs while those come. */
  readonly arrive: string;
  /** The addresses of what each page loads beside them, by its path. */
  readonly pages: readonly { readonly path: string; readonly files: readonly string[] }[];
  /** What `/docs` loads of it. */
  readonly restDocs: { readonly script: string; readonly style: string };
  /** All files by name, workers and later parts included. */
  readonly names: readonly string[];
}

const PORTAL_FILES = z.object({
  key: z.string(),
  script: z.string(),
  style: z.string(),
  preload: z.array(z.string()),
  arrive: z.string(),
  pages: z.array(z.object({ path: z.string(), files: z.array(z.string()) })),
  restDocs: z.object({ script: z.string(), style: z.string() }),
  names: z.array(z.string()),
});

export function portalDirectory(packageDirectory: string): string {
  return path.join(packageDirectory, 'dist', 'portal', 'page');
}

/** @throws Error when the portal has not been built */
export async function readPortalFiles(directory: string): Promise<PortalFiles> {
  return PORTAL_FILES.parse(JSON.parse(await readFile(path.join(directory, 'portal.json'), 'utf8')));
}
