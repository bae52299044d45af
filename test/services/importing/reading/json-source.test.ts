import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ExactNumber, type JsonValue, printExactJson } from '../../../../src/base/json/json.js';
import { runsOf } from '../../../full-length.js';
import { readSource } from './source-fixture.js';

async function valuesOf(text: string, name = 'rows.json', ...rest: [object?]): Promise<unknown[]> {
  return (await readSource(text, name, ...rest)).rows.map(({ values }) => values);
}

describe('a file of JSON', () => {
  it.each([
    ['a list', '[{"a":1},\n {"a":"]}\\"["}]\n'],
    [
      'a list within an object',
      '{"count": 2, "more": {"data": [1]}, "data" : [{"a":1}, {"a":"]}\\"["}], "x": [[1]]}',
    ],
    ['documents one after the other', '{\n "a":1}\n{"a":\n"]}\\"["}'],
  ])('is %s', async (_, text) => {
    const { source, rows } = await readSource(text, 'rows.json');
    expect(source).toMatchObject({ format: 'json', encoding: 'utf-8', warnings: [] });
    expect(source.columns).toBeUndefined();
    expect(rows).toEqual([
      { number: 1, values: { a: 1 } },
      { number: 2, values: { a: ']}"[' } },
    ]);
  });

  it.each(['[]', ' [ ] ', '{"data": []}'])('may hold no rows: %j', async (text) => {
    expect(await valuesOf(text)).toEqual([]);
  });

  it('keeps the nesting, and numbers exact', async () => {
    expect(await valuesOf('[{"a":{"b":[1,{"c":null}]},"n":12345678901234567890,"d":0.1}]')).toEqual([
      { a: { b: [1, { c: null }] }, n: new ExactNumber('12345678901234567890'), d: 0.1 },
    ]);
  });

  it('is read as it was written, however it is laid out', async () => {
    const documents = fc.array(fc.dictionary(fc.string({ unit: 'grapheme', minLength: 1 }), fc.jsonValue()), {
      minLength: 1,
      maxLength: 6,
    });
    const layouts = fc.constantFrom(
      (rows: object[]) => JSON.stringify(rows),
      (rows: object[]) => JSON.stringify(rows, null, 2),
      (rows: object[]) => JSON.stringify({ n: 1, data: rows }),
      (rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n'),
      (rows: object[]) => rows.map((row) => JSON.stringify(row, null, '\t')).join(''),
    );
    await fc.assert(
      fc.asyncProperty(documents, layouts, async (rows, print) => {
        const text = print(rows);
        const format = text.startsWith('{') && !text.startsWith('{"n":1,"data"') ? 'json' : undefined;
        const { rows: read } = await readSource(text, 'rows.json', format ? { format } : {});
        const values = read.map((row) => row.values) as JsonValue;
        expect(printExactJson(values)).toBe(JSON.stringify(rows));
      }),
      runsOf(300),
    );
  });

  it('is the same wherever a chunk of the file ends', async () => {
    const rows = Array.from({ length: 9_000 }, (_, index) => ({
      n: index,
      text: 'é"\\\n'.repeat(index % 30),
    }));
    expect(await valuesOf(JSON.stringify({ total: 9_000, data: rows }))).toEqual(rows);
    expect(await valuesOf(rows.map((row) => `${JSON.stringify(row)}\r\n`).join(''))).toEqual(rows);
  });

  it('has a fault in the row that is no object, and the others are read', async () => {
    const { rows } = await readSource('[{"a":1}, 5, "x", {"a" 2}, {"a":3}]', 'rows.json');
    expect(rows.map(({ number, fault }) => [number, fault])).toEqual([
      [1, undefined],
      [2, 'a JSON object is expected here, {"field": value, …}'],
      [3, 'a JSON object is expected here, {"field": value, …}'],
      [4, expect.stringMatching(/^this is not JSON \(.*\); a JSON object is expected here$/)],
      [5, undefined],
    ]);
  });

  it('has a fault in a document that gives a member two values', async () => {
    const text = '{"a":1,"amount":100,"amount":1000}\n{"a":12.50}\n';
    const { rows } = await readSource(text, 'rows.ndjson', { format: 'ndjson' });
    expect(rows.map(({ fault }) => fault)).toEqual([
      expect.stringContaining("Duplicate key 'amount'"),
      undefined,
    ]);
    expect(String(rows[1]?.values.a)).toBe('12.50');
  });

  it('has a fault in a document that is nested without end', async () => {
    const { rows } = await readSource(`[{"a":${'['.repeat(600)}${']'.repeat(600)}}]`, 'rows.json');
    expect(rows[0]?.fault).toBe('the document is nested deeper than 500 levels');
  });

  it.each([
    ['', 'The file holds nothing'],
    ['[{"a":1}', 'The file ends within what begins on line 1'],
    ['[{"a":1},\n{"a":', 'The file ends within what begins on line 2'],
    ['[{"a":1}\n{"a":2}]', 'Line 2 has "{" where a comma or the end of the list is expected.'],
    ['[{"a":1},,{"a":2}]', 'Line 1 has "," where a value is expected.'],
    ['[{"a":1}] [2]', 'Line 1 has "[" where nothing more is expected.'],
  ])('that is cut or garbled is refused: %j', async (text, message) => {
    await expect(readSource(text, 'rows.json', { format: 'json' })).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringContaining(message),
    });
  });

  it('is refused over a limit, with the line', async () => {
    const long = '0'.repeat(17 * 1024 ** 2);
    const message = 'What begins on line 2 is longer than 16777216 bytes';
    await expect(valuesOf(`[{"a":1},\n{"a":"${long}"}]`, 'a')).rejects.toThrow(message);
    await expect(valuesOf(`{"a":1}\n{"a":"${long}"}\n`, 'a')).rejects.toThrow(message);
  });
});

describe('a file of NDJSON', () => {
  it('has a document on each line, numbered as the lines are', async () => {
    const { source, rows } = await readSource('{"a":1}\n\n{"a":2}\r\n{"a":3}', 'rows.ndjson');
    expect(source.format).toBe('ndjson');
    expect(rows).toEqual([
      { number: 1, values: { a: 1 } },
      { number: 3, values: { a: 2 } },
      { number: 4, values: { a: 3 } },
    ]);
  });

  it('has a fault in the line that is none, and the others are read', async () => {
    const { rows } = await readSource('{"a":1}\n{"a":\n[1]\n{"a":2}\n', 'rows.ndjson');
    expect(rows.map(({ number, fault }) => [number, fault !== undefined])).toEqual([
      [1, false],
      [2, true],
      [3, true],
      [4, false],
    ]);
  });

  it('may be UTF-16', async () => {
    const bytes = Buffer.from('\ufeff{"a":"आशा"}\n{"a":2}\n', 'utf16le');
    expect((await readSource(bytes)).rows).toMatchObject([{ values: { a: 'आशा' } }, { values: { a: 2 } }]);
  });
});

describe('extended JSON', () => {
  const PLAIN = {
    _id: '507f1f77bcf86cd799439011',
    day: '2026-03-31T04:00:00.000Z',
    long: new ExactNumber('9223372036854775807'),
    int: 5,
    double: 1.5,
    decimal: new ExactNumber('1234567890.12345678901234567890'),
    bytes: 'aGk=',
    uuid: '3b241101-e2bb-4255-8caf-4136c566a962',
    student: { value: '507f1f77bcf86cd799439012' },
    list: [{ at: '2026-03-31T04:00:00.000Z' }],
  };

  it.each([
    [
      'canonical',
      `{"_id":{"$oid":"507f1f77bcf86cd799439011"},"day":{"$date":{"$numberLong":"1774929600000"}},
       "long":{"$numberLong":"9223372036854775807"},"int":{"$numberInt":"5"},"double":{"$numberDouble":"1.5"},
       "decimal":{"$numberDecimal":"1234567890.12345678901234567890"},
       "bytes":{"$binary":{"base64":"aGk=","subType":"00"}},
       "uuid":{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}},
       "student":{"$ref":"students","$id":{"$oid":"507f1f77bcf86cd799439012"}},
       "list":[{"at":{"$date":{"$numberLong":"1774929600000"}}}]}`,
    ],
    [
      'relaxed',
      `{"_id":{"$oid":"507f1f77bcf86cd799439011"},"day":{"$date":"2026-03-31T04:00:00Z"},
       "long":9223372036854775807,"int":5,"double":1.5,
       "decimal":{"$numberDecimal":"1234567890.12345678901234567890"},
       "bytes":{"$binary":{"base64":"aGk=","subType":"00"}},
       "uuid":{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"},
       "student":{"$ref":"students","$id":{"$oid":"507f1f77bcf86cd799439012"}},
       "list":[{"at":{"$date":"2026-03-31T09:30:00+05:30"}}]}`,
    ],
    [
      'of version 1',
      `{"_id":{"$oid":"507f1f77bcf86cd799439011"},"day":{"$date":"2026-03-31T04:00:00.000Z"},
       "long":{"$numberLong":"9223372036854775807"},"int":5,"double":1.5,
       "decimal":{"$numberDecimal":"1234567890.12345678901234567890"},
       "bytes":{"$binary":"aGk=","$type":"00"},"uuid":{"$binary":"OyQRAeK7QlWMr0E2xWapYg==","$type":"04"},
       "student":{"$ref":"students","$id":{"$oid":"507f1f77bcf86cd799439012"}},
       "list":[{"at":{"$date":1774929600000}}]}`,
    ],
  ])('is read: %s, in a list and on lines', async (_, written) => {
    const json = written.replaceAll(/\n\s*/g, '');
    for (const text of [`[${json},\n${json}]`, `${json}\n${json}\n`, written]) {
      const { source, rows } = await readSource(text, 'rows.json');
      expect(source.format).toBe('ejson');
      for (const { values } of rows) expect(values).toEqual(PLAIN);
    }
  });

  it('tells what could not be kept', async () => {
    const text =
      '{"_id":{"$oid":"507f1f77bcf86cd799439011"},"r":{"$regex":"^a","$options":"i"},' +
      '"q":{"$regularExpression":{"pattern":"b","options":""}},"t":{"$timestamp":{"t":5,"i":1}},' +
      '"n":{"$numberDouble":"NaN"},"u":{"$undefined":true},"m":[{"$minKey":1}],"c":{"$code":"f()"},' +
      '"s":{"$symbol":"x"},"p":{"$dbPointer":{"$ref":"a","$id":{"$oid":"507f1f77bcf86cd799439012"}}},' +
      '"o":{"$oid":"zz"}}';
    const { rows } = await readSource(text, 'rows.json');
    expect(rows[0]?.values).toEqual({
      _id: '507f1f77bcf86cd799439011',
      r: '/^a/i',
      q: '/b/',
      t: '5:1',
      m: [null],
      c: 'f()',
      s: 'x',
      p: { value: '507f1f77bcf86cd799439012' },
      o: { _oid: 'zz' },
    });
    expect(rows[0]?.alterations?.map(({ path, was, became }) => `${path}: ${was}: ${became}`)).toEqual([
      'r: a regular expression: its text',
      'q: a regular expression: its text',
      't: a timestamp of the oplog: its text',
      'n: NaN: left out',
      'u: undefined: left out',
      'm[]: MinKey: left out',
      'c: JavaScript: its text',
      's: a symbol: its text',
      'p: a DBRef to a: a reference',
      'o.$oid: a field name that no path can hold: the field _oid',
    ]);
  });
});
