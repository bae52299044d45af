import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { assertSizes, type Chunk, measureChunks } from '../../src/portal/bundle-sizes.js';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function measure(chunks: readonly Chunk[], sizes: Readonly<Record<string, number>>) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'campus-sizes-'));
  folders.push(folder);
  for (const [name, bytes] of Object.entries(sizes))
    await writeFile(path.join(folder, `${name}.br`), 'x'.repeat(bytes));
  return await measureChunks(folder, chunks, ['main.tsx', 'arrive.ts']);
}

const chunk = (name: string, rest: Partial<Chunk> = {}): Chunk => ({
  name,
  entryPoint: undefined,
  style: undefined,
  imports: [],
  ...rest,
});

describe('the sizes of the bundle', () => {
  it('count what is loaded first, and of a page what it adds to that', async () => {
    const sizes = await measure(
      [
        chunk('main.js', { entryPoint: 'main.tsx', style: 'main.css', imports: ['shared.js'] }),
        chunk('shared.js'),
        chunk('page.js', { entryPoint: 'page.tsx', imports: ['shared.js', 'table.js'] }),
        chunk('table.js'),
      ],
      { 'main.js': 1000, 'main.css': 100, 'shared.js': 10, 'page.js': 5, 'table.js': 7 },
    );
    expect(sizes).toEqual({ firstLoadBytes: 1110, pages: { 'page.tsx': 12 } });
  });

  it.each([
    [{ firstLoadBytes: 250 * 1024, pages: { 'src/portal/a.tsx': 80 * 1024 } }, undefined],
    [
      { firstLoadBytes: 250 * 1024 + 200, pages: {} },
      'The first load of the portal is 250.2 KiB, 250.0 KiB at most',
    ],
    [
      { firstLoadBytes: 1, pages: { 'src/portal/a.tsx': 81 * 1024 } },
      'Pages of the portal over 80.0 KiB: src/portal/a.tsx 81.0 KiB',
    ],
    [{ firstLoadBytes: 1, pages: { 'src/portal/browser/explorer/explorer.tsx': 900 * 1024 } }, undefined],
  ])('%j: %s', (sizes, complaint) => {
    if (complaint === undefined) expect(() => assertSizes(sizes)).not.toThrow();
    else expect(() => assertSizes(sizes)).toThrow(complaint);
  });
});
