/** Files made for a test, and what is read of them. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openRowSource } from '../../../../src/services/importing/reading/open-row-source.js';
import type {
  RowSource,
  SourceOptions,
  SourceRow,
} from '../../../../src/services/importing/reading/row-source.js';

export interface ReadFile {
  readonly source: RowSource;
  readonly rows: readonly SourceRow[];
}

/** Writes a file of this content, opens it and reads it to its end. */
export async function readSource(
  content: string | Uint8Array,
  name = 'rows.csv',
  options: SourceOptions = {},
): Promise<ReadFile> {
  return await withFile(content, async (file) => {
    const source = await openRowSource({ path: file, name }, options);
    return { source, rows: await allRows(source) };
  });
}

export async function withFile<Result>(
  content: string | Uint8Array,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'campus-source-'));
  try {
    const file = path.join(folder, 'source');
    await writeFile(file, content);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function allRows(source: RowSource, signal?: AbortSignal): Promise<SourceRow[]> {
  const rows: SourceRow[] = [];
  for await (const batch of source.rows(signal)) rows.push(...batch);
  return rows;
}
