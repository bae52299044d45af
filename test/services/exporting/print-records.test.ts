import { describe, expect, it } from '@jest/globals';
import {
  assertFitsSheet,
  printRecords,
  readJsonLines,
} from '../../../src/services/exporting/print-records.js';

async function* batches(count: number): AsyncGenerator<readonly string[], void> {
  const batch = Array.from({ length: 1000 }, () => '{}');
  for (let left = count; left > 0; left -= batch.length) yield batch.slice(0, left);
}

async function lengthOf(chunks: AsyncIterable<string | Uint8Array>): Promise<number> {
  let length = 0;
  for await (const chunk of chunks) length += chunk.length;
  return length;
}

describe('a sheet of XLSX', () => {
  it('is refused before it begins for more records than it has room for', () => {
    expect(() => assertFitsSheet(1_048_575)).not.toThrow();
    expect(() => assertFitsSheet(1_048_576)).toThrow(
      expect.objectContaining({
        code: 'LIMIT_EXCEEDED',
        message: expect.stringContaining('1,048,576 records match; a sheet of XLSX holds 1,048,575'),
      }),
    );
  });

  it('fails where more come than were counted, and holds all that there is room for', async () => {
    const print = (count: number) => lengthOf(printRecords({ format: 'xlsx', columns: [] }, batches(count)));
    expect(await print(1_048_575)).toBeGreaterThan(0);
    await expect(print(1_048_576)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});

describe('lines of JSON', () => {
  it('are whole where a chunk ends within a line, or within a letter', async () => {
    const bytes = Buffer.from('{"a":"चि"}\n{"b":1}\n');
    async function* chunks() {
      for (const byte of bytes) yield Uint8Array.of(byte);
    }
    const lines: string[] = [];
    for await (const batch of readJsonLines(chunks())) lines.push(...batch);
    expect(lines).toEqual(['{"a":"चि"}', '{"b":1}']);
  });
});
