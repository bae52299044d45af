import { describe, expect, it } from '@jest/globals';
import { serialize } from 'bson';
import { readSource } from './source-fixture.js';

describe('the format of a file', () => {
  it.each([
    ['csv', 'a,b\n1,2\n'],
    ['csv', '[brackets],b\n1,2\n'],
    ['csv', '{braces},b\n1,2\n'],
    ['json', '[{"a":1}]'],
    ['json', '\ufeff[{"a":1}]'],
    ['json', '[]'],
    ['json', '{\n"a":1\n}'],
    ['json', '{"data":[{"a":1}]}'],
    ['json', '{"a":1}'],
    ['ndjson', '{"a":1}\n{"a":2}\n'],
    ['ejson', '{"_id":{"$oid":"507f1f77bcf86cd799439011"}}\n'],
    ['bson', Buffer.from(serialize({ a: 1 }))],
  ])('is found in its content, whatever it is called: %s', async (format, content) => {
    const { source } = await readSource(content, 'rows.xlsx');
    expect(source.format).toBe(format);
    expect(source.warnings).toContain(`The file is called xlsx, and is read as ${format}, which it holds.`);
    expect((await readSource(content, 'rows')).source.warnings).toEqual([]);
  });

  it('is that of a table parted by tabs where it is called so', async () => {
    expect((await readSource('a\tb\n1\t2\n', 'rows.tsv')).source).toMatchObject({
      format: 'tsv',
      delimiter: '\t',
    });
  });

  it('may be said', async () => {
    expect((await readSource('[a],b\n1,2\n', 'x.json', { format: 'csv' })).source).toMatchObject({
      format: 'csv',
      columns: ['[a]', 'b'],
      warnings: [],
    });
  });

  it.each([
    [
      'an old workbook',
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      'save it as XLSX without',
    ],
    ['a PDF', Buffer.from('%PDF-1.7\n'), 'neither a text nor a workbook'],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), 'neither a text nor a workbook'],
  ])('is none that is read: %s', async (_, bytes, message) => {
    await expect(readSource(bytes)).rejects.toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: expect.stringContaining(message),
    });
  });
});
