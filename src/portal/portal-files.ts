import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** The files of the built portal; each has its `.gz` and `.br` beside it. */
export interface PortalFiles {
  /** The hash of their sources. */
  readonly key: string;
  /** The addresses of the script and the styles. */
  readonly script: string;
  readonly style: string;
  /** The addresses of the static imports of the script, which the HTML preloads. */
  readonly preload: readonly string[];
  /** The address of the small script that runs while those load. */
  readonly arrive: string;
  /** The addresses of the files that each page loads in addition, by its path. */
  readonly pages: readonly { readonly path: string; readonly files: readonly string[] }[];
  /** The script and styles of `/docs`. */
  readonly restDocs: { readonly script: string; readonly style: string };
  /** The names of all files, including workers and parts that load later. */
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

/** @throws Error if the portal has not been built */
export async function readPortalFiles(directory: string): Promise<PortalFiles> {
  return PORTAL_FILES.parse(JSON.parse(await readFile(path.join(directory, 'portal.json'), 'utf8')));
}
