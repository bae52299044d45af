import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** The built files of the manual; each lies beside its `.gz` and `.br`. */
export interface ManualFiles {
  /** The hash of what they were made of. */
  readonly key: string;
  /** The name of the file in the folder by its address, `/manual` and all below it. */
  readonly names: Readonly<Record<string, string>>;
}

const MANUAL_FILES = z.object({ key: z.string(), names: z.record(z.string(), z.string()) });

export function manualDirectory(packageDirectory: string): string {
  return path.join(packageDirectory, 'dist', 'portal', 'manual', 'site');
}

/** @throws Error when the manual has not been built */
export async function readManualFiles(directory: string): Promise<ManualFiles> {
  return MANUAL_FILES.parse(JSON.parse(await readFile(path.join(directory, 'manual.json'), 'utf8')));
}
