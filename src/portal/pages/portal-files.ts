import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** The addresses of the built files of the portal; each has its `.gz` and `.br` beside it. */
const PORTAL_FILES = z.object({
  /** The hash of their sources. */
  key: z.string(),
  script: z.string(),
  style: z.string(),
  /** The static imports of the script, which the HTML preloads. */
  preload: z.array(z.string()),
  /** The small script that runs while those load. */
  arrive: z.string(),
  /** The files that each page loads in addition, by its path. */
  pages: z.array(z.object({ path: z.string(), files: z.array(z.string()).readonly() })),
  /** The script and styles of `/docs`. */
  restDocs: z.object({ script: z.string(), style: z.string() }),
  /** The names of all files, including workers and parts that load later. */
  names: z.array(z.string()),
});

export type PortalFiles = Readonly<z.infer<typeof PORTAL_FILES>>;

export function portalDirectory(packageDirectory: string): string {
  return path.join(packageDirectory, 'dist', 'portal', 'page');
}

/** @throws Error if the portal has not been built */
export async function readPortalFiles(directory: string): Promise<PortalFiles> {
  return PORTAL_FILES.parse(JSON.parse(await readFile(path.join(directory, 'portal.json'), 'utf8')));
}

const MANUAL_FILES = z.object({
  /** The hash of their sources. */
  key: z.string(),
  /** The name of the file in the folder by its address, `/manual` and all below it. */
  names: z.record(z.string(), z.string()),
});

export type ManualFiles = Readonly<z.infer<typeof MANUAL_FILES>>;

export function manualDirectory(packageDirectory: string): string {
  return path.join(packageDirectory, 'dist', 'portal', 'manual', 'site');
}

/** @throws Error if the manual has not been built */
export async function readManualFiles(directory: string): Promise<ManualFiles> {
  return MANUAL_FILES.parse(JSON.parse(await readFile(path.join(directory, 'manual.json'), 'utf8')));
}
