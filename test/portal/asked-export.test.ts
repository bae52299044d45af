import { describe, expect, it } from '@jest/globals';
import {
  type AskedExport,
  exportAddress,
  exportByCommand,
  exportByCurl,
} from '../../src/portal/browser/exporting/asked-export.js';
import { readInParts } from '../../src/portal/browser/gateway/read-in-parts.js';

const ASKED: AskedExport = {
  collections: ['class', 'task'],
  oquery: '',
  where: '',
  since: '',
  format: 'csv',
};
const SINCE = '2026-11-20T00:00:00.000Z';

describe('what is exported', () => {
  it('is a path of REST for each collection', () => {
    expect(exportAddress(ASKED, 'class')).toBe('/o/recs/class?format=csv&bom=true');
    expect(exportAddress({ ...ASKED, oquery: "name=*o'", since: SINCE }, 'class')).toBe(
      '/o/recs/class?format=csv&bom=true&oquery=name%3D*o%27&ci=true&since=2026-11-20T00%3A00%3A00.000Z',
    );
    expect(exportAddress({ ...ASKED, where: '{"class":{"isNull":true}}' }, 'class')).toBe(
      '/o/recs/class?format=csv&bom=true&where=%7B%22class%22%3A%7B%22isNull%22%3Atrue%7D%7D',
    );
  });

  it('is a line of curl for each, which no filter breaks out of', () => {
    expect(
      exportByCurl({ ...ASKED, collections: ['class'], oquery: "a='; rm x" }, 'https://campus.example'),
    ).toBe(
      'curl -fsS -H "Authorization: Bearer $CAMPUS_KEY" \\\n' +
        "  'https://campus.example/o/recs/class?format=csv&bom=true&oquery=a%3D%27%3B+rm+x&ci=true' " +
        '-o class.csv',
    );
  });

  it('is a command where that knows the same', () => {
    expect(exportByCommand(ASKED)).toBe('campus export class task --format csv');
    expect(exportByCommand({ ...ASKED, since: SINCE })).toBe(
      `campus export class task --format csv --since ${SINCE}`,
    );
    expect(exportByCommand({ ...ASKED, oquery: 'a=1' })).toBeUndefined();
    expect(exportByCommand({ ...ASKED, where: '{}' })).toBeUndefined();
    expect(exportByCommand({ ...ASKED, format: 'json' })).toBeUndefined();
  });
});

describe('an answer that is read in parts', () => {
  it('is the same file, and tells how far it is', async () => {
    const chunks = [new Uint8Array(3_000_000).fill(1), new Uint8Array(3_000_000).fill(2), Uint8Array.of(3)];
    const told: number[] = [];
    const headers = { 'content-type': 'text/csv' };
    const file = await readInParts(new Response(new Blob(chunks).stream(), { headers }), (bytes) =>
      told.push(bytes),
    );
    expect([file.size, file.type, told.at(-1)]).toEqual([6_000_001, 'text/csv', 6_000_001]);
    const bytes = new Uint8Array(await file.arrayBuffer());
    expect([bytes[0], bytes[3_000_000], bytes[6_000_000]]).toEqual([1, 2, 3]);
  });

  it('is no file where it breaks off', async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(Uint8Array.of(1));
        controller.error(new TypeError('network error'));
      },
    });
    await expect(readInParts(new Response(broken), () => {})).rejects.toMatchObject({ code: 'BROKEN_OFF' });
  });
});
