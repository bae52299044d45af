import { truncate } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { printCsvLine } from '../../../../src/base/tables/csv-line.js';
import { openRowSource } from '../../../../src/services/importing/reading/open-row-source.js';
import { inBatches } from '../../../../src/services/importing/reading/row-source.js';
import { runsOf } from '../../../full-length.js';
import { allRows, readSource, withFile } from './source-fixture.js';

/** The cells of all rows, header left out. */
async function cellsOf(content: string | Uint8Array, ...rest: [string?, object?]): Promise<unknown[][]> {
  const { rows } = await readSource(content, ...rest);
  return rows.map(({ values }) => Object.values(values));
}

describe('a file of CSV', () => {
  it('is read by column name, each row with the line it begins on', async () => {
    const { source, rows } = await readSource('name,class\r\nAsha,5\r\n"Ravi\r\nKumar",6\r\nMeera,7\r\n');
    expect(source).toMatchObject({
      format: 'csv',
      encoding: 'utf-8',
      delimiter: ',',
      header: 1,
      warnings: [],
    });
    expect(source.columns).toEqual(['name', 'class']);
    expect(rows).toEqual([
      { number: 2, values: { name: 'Asha', class: '5' }, source: ['Asha', '5'] },
      { number: 3, values: { name: 'Ravi\r\nKumar', class: '6' }, source: ['Ravi\r\nKumar', '6'] },
      { number: 5, values: { name: 'Meera', class: '7' }, source: ['Meera', '7'] },
    ]);
  });

  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('may end its lines by %s, the last one by nothing', async (_, end) => {
    const { rows } = await readSource(['a,b', '1,2', '', '3,4'].join(end));
    expect(rows.map(({ number, values }) => [number, values])).toEqual([
      [2, { a: '1', b: '2' }],
      [4, { a: '3', b: '4' }],
    ]);
  });

  it('may mix line ends, and have blank lines and rows of blank cells', async () => {
    const { rows } = await readSource('a,b\r\n1,2\n\n , \r3,4\n\r\n5,6');
    expect(rows.map(({ number, values }) => [number, values.a])).toEqual([
      [2, '1'],
      [5, '3'],
      [7, '5'],
    ]);
  });

  it('has no value in an empty cell, in quotes or not', async () => {
    expect(await cellsOf('a,b,c\n1,,""\n"x""y",,\n')).toEqual([
      ['1', null, null],
      ['x"y', null, null],
    ]);
  });

  it('takes a quote within a cell for a character', async () => {
    expect(await cellsOf('a,b\n5" pipe,1\n')).toEqual([['5" pipe', '1']]);
  });

  it.each([
    ['behind a name', '"Ravi "Lala" Singh",5,A', 'line 2 has text behind a closing quote'],
    [
      'over rows',
      '"Asha,5,A\nBina,5,A\n"Dina,5,A',
      'line 4 has text behind a closing quote, so lines 2 to 4',
    ],
    [
      'up to an inch',
      'Asha,"5,A\nBina,5" ruler,A',
      'line 3 has text behind a closing quote, so lines 2 to 3',
    ],
    ['up to a quote that closes', '"Asha,5,A\nBina,5,A\nDina",5,A', 'a quote on line 2 is closed on line 4'],
    ['a cell over lines', '"12, Main Road\nPune, Maharashtra",5,A', undefined],
    ['quotes in a cell over lines', '"He said ""no""\nand left",5,A', undefined],
  ])('refuses a row whose quotes swallow others: %s', async (_, text, fault) => {
    const { rows } = await readSource(`name,class,section\n${text}\nLast,6,B\n`);
    expect(rows[0]?.fault).toEqual(fault && expect.stringContaining(fault));
    expect(rows.at(-1)).toMatchObject({ values: { name: 'Last', class: '6', section: 'B' } });
  });

  it('gives back any table that was written', async () => {
    const cell = fc.oneof(
      fc.constant(null),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', 'a', ' ', ';', '\t'), maxLength: 6 }),
    );
    const tables = fc
      .integer({ min: 1, max: 4 })
      .chain((columns) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 8 }),
      );
    await fc.assert(
      fc.asyncProperty(tables, async (table) => {
        // A row that says nothing is left out.
        const kept = table
          .filter((cells) => cells.some((one) => one !== null && one.trim() !== ''))
          .map((cells) => cells.map((cell) => cell || null));
        const header = (kept[0] ?? ['x']).map((_, index) => `c${index}`);
        const text = [header, ...kept].map((cells) => printCsvLine(cells)).join('');
        expect(await cellsOf(text, 'rows.csv', { delimiter: ',' })).toEqual(kept);
      }),
      runsOf(500),
    );
  });
});

describe('the delimiter of CSV', () => {
  it.each([
    [',', 'a,b,c\n1,"2;3",4\n'],
    [';', 'a;b;c\n1;2,5;3\n1,0;2,5;3,7\n'],
    ['\t', 'a\tb\n1,2\t3\n'],
    ['|', 'a|b\n1|2\n'],
    [',', 'only\none\ncolumn\n'],
  ])('is found: %j', async (delimiter, text) => {
    expect((await readSource(text)).source.delimiter).toBe(delimiter);
  });

  it('is read of the line that Excel writes', async () => {
    const { source, rows } = await readSource('sep=;\r\na;b\r\n1;2\r\n');
    expect(source).toMatchObject({ delimiter: ';', columns: ['a', 'b'], header: 2 });
    expect(rows).toMatchObject([{ number: 3, values: { a: '1', b: '2' } }]);
  });

  it('may be said', async () => {
    expect(await cellsOf('a^b\n1^2\n', 'rows.csv', { delimiter: '^' })).toEqual([['1', '2']]);
    await expect(readSource('a\n', 'rows.csv', { delimiter: 'ab' })).rejects.toThrow(
      'A delimiter is one character, not "ab".',
    );
  });
});

describe('the encoding of CSV', () => {
  const TEXT = 'नाम,ville\r\nआशा,Orléans\r\n';

  it.each([
    ['UTF-8', 'utf-8', Buffer.from(TEXT)],
    ['UTF-8 with a mark', 'utf-8', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16LE with a mark', 'utf-16le', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['UTF-16BE with a mark', 'utf-16be', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16()],
  ])('is found: %s', async (_, encoding, bytes) => {
    const { source, rows } = await readSource(bytes);
    expect(source.encoding).toBe(encoding);
    expect(rows.map(({ values }) => values)).toEqual([{ नाम: 'आशा', ville: 'Orléans' }]);
  });

  it.each([
    ['utf-16le', Buffer.from('name,class\r\nAsha,5\r\n', 'utf16le')],
    ['utf-16be', Buffer.from('name,class\r\nAsha,5\r\n', 'utf16le').swap16()],
  ])('is found without a mark: %s', async (encoding, bytes) => {
    const { source, rows } = await readSource(bytes);
    expect(source.encoding).toBe(encoding);
    expect(rows).toMatchObject([{ number: 2, values: { name: 'Asha', class: '5' } }]);
  });

  it('is Windows-1252 where a byte is not UTF-8, and a warning says on which line', async () => {
    const { source, rows } = await readSource(
      Buffer.from('name,fee\nZoé,5€\n'.replace('€', '\x80'), 'latin1'),
    );
    expect(source.encoding).toBe('windows-1252');
    expect(source.warnings).toEqual([expect.stringContaining('not UTF-8 (line 2)')]);
    expect(rows).toMatchObject([{ values: { name: 'Zoé', fee: '5€' } }]);
  });

  it('is refused where a file mixes two, with the line', async () => {
    const bytes = Buffer.concat([Buffer.from('name\nZoé\nAsha\n'), Buffer.from('Ren\xe9\n', 'latin1')]);
    await expect(readSource(bytes)).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringMatching(/^Line 4 is not UTF-8, though lines before it are/),
    });
  });

  it('may be said, and a file that is not as it is said is refused with the line', async () => {
    const bytes = Buffer.from('name\nAsha\nRen\xe9\n', 'latin1');
    expect((await readSource(bytes, 'rows.csv', { encoding: 'latin1' })).rows).toMatchObject([
      { values: { name: 'Asha' } },
      { values: { name: 'René' } },
    ]);
    await expect(readSource(bytes, 'rows.csv', { encoding: 'utf-8' })).rejects.toThrow(
      'Line 3 is not UTF-8, the encoding you gave.',
    );
    await expect(readSource(Buffer.from('a\nb\n!'), 'rows.csv', { encoding: 'utf-16le' })).rejects.toThrow(
      'is not utf-16le, the encoding you gave',
    );
    await expect(readSource(bytes, 'rows.csv', { encoding: 'klingon' })).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
  });

  it('is not mistaken where a character lies across two reads of the file', async () => {
    const filler = 'x'.repeat(256 * 1024 - 3);
    const { source, rows } = await readSource(`a\n${filler}आशा\n`);
    expect(source.encoding).toBe('utf-8');
    expect(rows).toMatchObject([{ values: { a: `${filler}आशा` } }]);
  });
});

describe('the header of CSV', () => {
  it('is found below a title, which a warning tells', async () => {
    const { source, rows } = await readSource('Green Valley School\n\nNo,Name,Class\n1,Asha,5\n');
    expect(source).toMatchObject({ header: 3, columns: ['No', 'Name', 'Class'] });
    expect(source.warnings).toEqual(['The header is row 3; rows above it are left out.']);
    expect(rows).toMatchObject([{ number: 4, values: { No: '1', Name: 'Asha', Class: '5' } }]);
  });

  it('may be said', async () => {
    const text = 'a,b\n1,2\nc,d\n3,4\n';
    expect((await readSource(text, 'rows.csv', { header: 3 })).rows).toMatchObject([
      { values: { c: '3', d: '4' } },
    ]);
    const none = await readSource('1,2\n3,4\n', 'rows.csv', { header: 'none' });
    expect(none.rows).toMatchObject([
      { number: 1, values: { 'column 1': '1', 'column 2': '2' } },
      { number: 2, values: { 'column 1': '3', 'column 2': '4' } },
    ]);
    await expect(readSource(text, 'rows.csv', { header: 9 })).rejects.toThrow('Row 9 holds no header');
  });

  it('has each name once; those that come again or are missing are told', async () => {
    const { source } = await readSource('name,name (2),name,,__proto__,constructor,\n1,2,3,4,5,6,\n');
    expect(source.columns).toEqual(['name', 'name (2)', 'name (3)', 'column 4', '__proto__', 'constructor']);
    expect(source.warnings).toEqual([
      'The header has "name" more than once; column 3 is "name (3)".',
      'Column 4 has no name in the header.',
    ]);
  });

  it('may leave a column without a name in which something stands', async () => {
    const { source } = await readSource('a,b,,\n1,2,3,\n');
    expect(source.columns).toEqual(['a', 'b', 'column 3']);
  });

  it('may name a column as all objects name a member', async () => {
    const { rows } = await readSource('__proto__,constructor\n1,2\n');
    expect(Object.entries(rows[0]?.values ?? {})).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
  });

  it('that looks like data is told', async () => {
    const { source } = await readSource('1,Asha,31/03/2026\n2,Ravi,01/04/2026\n');
    expect(source.warnings).toEqual([expect.stringContaining('give header=none')]);
  });

  it.each(['', '\n\n', ' , \n'])('is missing in an empty file: %j', async (text) => {
    await expect(readSource(text)).rejects.toThrow('The file has no rows');
  });
});

describe('a row of CSV', () => {
  it('that has more or fewer cells than the header says so, and the others are read', async () => {
    const { rows } = await readSource('a,b,c\n1,2\n1,2,3,,\n1,2,3,4\n1,2,3\n');
    expect(rows.map(({ fault }) => fault)).toEqual([
      'line 2 has 2 cells, the header 3; a delimiter is missing, or a quote that was opened is not closed',
      undefined,
      'line 4 has 4 cells, the header 3; a text that holds the delimiter must stand in quotes',
      undefined,
    ]);
    expect(rows[2]).toMatchObject({ values: { a: '1', b: '2', c: '3' }, source: ['1', '2', '3', '4'] });
  });

  it('that opens a quote and does not close it ends the reading, with its line', async () => {
    await expect(readSource('a,b\n1,2\n"3,4\n5,6\n')).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringMatching(/^A quote is opened in what begins on line 3, and not closed/),
    });
  });
});

describe('a limit of CSV', () => {
  it.each([
    ['columns of the header', 'a,'.repeat(2_001), 'Row 1 has 2002 columns; at most 2000 are read.'],
    ['columns of a row', `a,b\n${'1,2\n'.repeat(30)}${','.repeat(2_000)}1\n`, 'Row 32 has 2001 columns'],
    [
      'cell',
      `a,b\n1,"${'x'.repeat(1024 ** 2 + 1)}"\n`,
      'Cell 2 of line 2 has 1048577 characters; at most 1048576 are read.',
    ],
    [
      'line that a quote makes long',
      `a\n1\n"${`${'2'.repeat(100_000)}\n`.repeat(170)}`,
      'What begins on line 3 is longer than 16777216',
    ],
  ])('names itself, the line and what would be right: %s', async (_, text, message) => {
    await expect(readSource(text, 'rows.csv')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining(message),
    });
  });

  it('refuses more bytes and rows than are read', async () => {
    await withFile('', async (path) => {
      await truncate(path, 2 * 1024 ** 3 + 1);
      await expect(openRowSource({ path })).rejects.toThrow(
        'The file has 2147483649 bytes; at most 2147483648',
      );
    });
    const read = async () => {
      const chunk = Array.from({ length: 1_000 }, () => ({ number: 4, values: {} }));
      const chunks = async function* () {
        for (let count = 0; count <= 5_000; count += 1) yield chunk;
      };
      for await (const _ of inBatches(chunks(), (row) => row, undefined));
    };
    await expect(read()).rejects.toThrow('Row 4 is one of more than 5000000, the most that are read.');
  });

  it('refuses a million columns and a cell of 100 MB', async () => {
    await expect(readSource(`${'a,'.repeat(1_000_000)}b\n`)).rejects.toThrow(
      'has 1000001 columns; at most 2000',
    );
    await expect(readSource(`a\n${'x'.repeat(100 * 1024 ** 2)}\n`)).rejects.toThrow(
      'is longer than 16777216',
    );
  });
});

describe('a pass over CSV', () => {
  it('begins anew each time, in batches of a thousand', async () => {
    await withFile(`a\n${Array.from({ length: 2_500 }, (_, row) => `${row}\n`).join('')}`, async (path) => {
      const source = await openRowSource({ path });
      for (const _ of [1, 2]) {
        const batches: number[] = [];
        for await (const rows of source.rows()) batches.push(rows.length);
        expect(batches).toEqual([1_000, 1_000, 500]);
      }
    });
  });

  it('ends by its signal', async () => {
    await withFile('a\n1\n2\n', async (path) => {
      const source = await openRowSource({ path });
      await expect(allRows(source, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    });
  });

  it('fails where the file is gone', async () => {
    const source = await withFile('a\n1\n', (path) => openRowSource({ path }));
    await expect(allRows(source)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
