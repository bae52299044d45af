import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import {
  Binary,
  Code,
  DBRef,
  Decimal128,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
  UUID,
} from 'bson';
import fc from 'fast-check';
import { ExactNumber } from '../../../../src/base/json/json.js';
import { isRecordId } from '../../../../src/base/model/record-id.js';
import { rowOfBsonDocument } from '../../../../src/services/importing/reading/bson-source.js';
import { idText } from '../../../../src/services/importing/reading/plain-document.js';
import { runsOf } from '../../../full-length.js';
import { readSource } from './source-fixture.js';

const ID = '507f1f77bcf86cd799439011';

function bsonOf(...documents: readonly object[]): Buffer {
  return Buffer.concat(documents.map((document) => serialize(document, { ignoreUndefined: false })));
}

/** The first document, as it is read. */
async function read(document: object) {
  const { rows } = await readSource(bsonOf(document), 'x.bson');
  return rows[0];
}

describe('a file of BSON', () => {
  it('is read, gzipped or not, with the number of each document', async () => {
    const bytes = bsonOf({ _id: new ObjectId(ID), a: 1 }, { _id: 2, a: { b: ['x'] } });
    for (const content of [bytes, gzipSync(bytes)]) {
      const { source, rows } = await readSource(content, 'students.bson');
      expect(source).toMatchObject({ format: 'bson', warnings: [] });
      expect(rows).toEqual([
        { number: 1, values: { _id: ID, a: 1 } },
        { number: 2, values: { _id: '2', a: { b: ['x'] } } },
      ]);
    }
  });

  it('has each value as a record may hold it', async () => {
    const row = await read({
      _id: new UUID('3b241101-e2bb-4255-8caf-4136c566a962'),
      at: new Date('2026-03-31T04:00:00Z'),
      long: Long.fromString('-9223372036854775808'),
      small: Long.fromNumber(5),
      decimal: Decimal128.fromString('120000.50'),
      large: Decimal128.fromString('1.5E+30'),
      bytes: new Binary(Buffer.from('hi')),
      student: { value: new ObjectId(ID), label: 'Asha' },
      plain: { value: 5, label: 5 },
      nothing: null,
    });
    expect(row).toEqual({
      number: 1,
      values: {
        _id: '3b241101-e2bb-4255-8caf-4136c566a962',
        at: '2026-03-31T04:00:00.000Z',
        long: new ExactNumber('-9223372036854775808'),
        small: 5,
        decimal: 120000.5,
        large: expect.anything(),
        bytes: 'aGk=',
        student: { value: ID, label: 'Asha' },
        plain: { value: 5, label: 5 },
        nothing: null,
      },
    });
    expect(Number(row?.values.large)).toBe(1.5e30);
  });

  it('tells what could not be kept', async () => {
    const row = await read({
      _id: 1,
      teacher: new DBRef('teachers', new ObjectId(ID), 'school'),
      pattern: /^a/i,
      stamp: new Timestamp({ t: 5, i: 1 }),
      code: new Code('f()'),
      least: new MinKey(),
      most: [new MaxKey(), 1],
      nan: Number.NaN,
      endless: Decimal128.fromString('Infinity'),
      late: new Date(253_402_300_800_000),
      nul: 'a\0b',
      gone: undefined,
    });
    expect(row?.values).toEqual({
      _id: '1',
      teacher: { value: ID },
      pattern: '/^a/i',
      stamp: '5:1',
      code: 'f()',
      most: [null, 1],
      late: '+010000-01-01T00:00:00.000Z',
      nul: 'a\ufffdb',
      // The writer of BSON knows no undefined.
      gone: null,
    });
    expect(row?.alterations?.map(({ path, was, became }) => `${path}: ${was}: ${became}`)).toEqual([
      'teacher: a DBRef to school.teachers: a reference',
      'pattern: a regular expression: its text',
      'stamp: a timestamp of the oplog: its text',
      'code: JavaScript: its text',
      'least: MinKey: left out',
      'most[]: MaxKey: left out',
      'nan: NaN: left out',
      'endless: Infinity: left out',
      'late: a date outside the years 0 to 9999: its text',
      'nul: a text with NUL or half a character: U+FFFD there',
    ]);
  });

  it('has another name for a field that no path can hold, and tells it', async () => {
    const row = await read({ _id: 1, 'a.b': 1, a_b: 2, $c: 3, in: { 'd.e': 4 }, '': 5 });
    expect(row?.values).toEqual({ _id: '1', a_b_2: 1, a_b: 2, _c: 3, in: { d_e: 4 }, _: 5 });
    expect(row?.alterations?.map(({ path, became }) => `${path}: ${became}`)).toEqual([
      'a.b: the field a_b_2',
      '$c: the field _c',
      'in.d.e: the field d_e',
      ': the field _',
    ]);
  });

  it('has a fault in a document that is damaged inside, and the others are read', async () => {
    const bytes = bsonOf({ _id: 1 }, { _id: 2, text: 'abc' }, { _id: 3 });
    // The length of the text in the second document.
    const at = bytes.indexOf('text') + 5;
    bytes.writeInt32LE(1_000, at);
    const { rows } = await readSource(bytes, 'x.bson');
    expect(rows.map(({ number, fault }) => [number, fault])).toEqual([
      [1, undefined],
      [2, expect.stringMatching(/^document 2 is not BSON \(.*\); dump it again$/)],
      [3, undefined],
    ]);
  });

  it.each([
    [
      'cut',
      bsonOf({ _id: 1 }, { _id: 2 }).subarray(0, -3),
      'The file ends within document 2; it is incomplete',
    ],
    [
      'garbled',
      Buffer.concat([bsonOf({ _id: 1 }), Buffer.from([1, 0, 0, 0, 0])]),
      'Document 2 has a length of 1 bytes',
    ],
  ])('that is %s is refused, with the document', async (_, bytes, message) => {
    await expect(readSource(bytes, 'x.bson')).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringContaining(message),
    });
  });

  it('that is damaged gzip is refused', async () => {
    const bytes = gzipSync(bsonOf({ _id: 1, text: 'x'.repeat(1_000) })).subarray(0, -12);
    await expect(readSource(bytes, 'x.bson.gz')).rejects.toThrow();
  });

  it('is refused over a limit', async () => {
    const large = bsonOf({ _id: 1, text: 'x'.repeat(16.5 * 1024 ** 2) });
    await expect(readSource(large, 'x.bson')).rejects.toThrow('at most 16777216 are read');
  });

  it('is read whole wherever a chunk of the file ends', async () => {
    const documents = Array.from({ length: 5_000 }, (_, _id) => ({ _id, text: 'x'.repeat(_id % 300) }));
    const { rows } = await readSource(
      bsonOf(...documents, { _id: 5_000, text: 'y'.repeat(2 ** 20) }),
      'x.bson',
    );
    expect(rows).toHaveLength(5_001);
    expect(rows.at(4_999)?.values).toEqual({ _id: '4999', text: 'x'.repeat(4_999 % 300) });
    expect(rows.at(5_000)?.values.text).toHaveLength(2 ** 20);
  });
});

describe('the id made of an _id', () => {
  it.each<[unknown, string]>([
    ['A-12', 'A-12'],
    [12, '12'],
    [1.5, '1.5'],
    [Long.fromString('9223372036854775807'), '9223372036854775807'],
    [Decimal128.fromString('12.50'), '12.50'],
    [new Date('2026-03-31T04:00:00Z'), '2026-03-31T04:00:00.000Z'],
    [true, 'true'],
    [{ student: 7, month: '2026-03' }, 'student:7.month:2026-03'],
  ])('%j is %s', (value, id) => {
    expect(idText(value)).toBe(id);
  });

  it('is one that a record may have, the same each time, another one for another text', () => {
    const texts = fc.string({
      unit: fc.constantFrom('a', 'A', ' ', '/', '.', 'é', '-', '_'),
      minLength: 1,
      maxLength: 80,
    });
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        expect(isRecordId(idText(one))).toBe(true);
        expect(idText(one) === idText(other)).toBe(one === other);
      }),
      runsOf(1_000),
    );
  });

  it('is told of in the row where it is another text', async () => {
    expect((await read({ _id: 'A 12/b' }))?.alterations).toEqual([
      { path: '_id', was: 'an _id with characters no id may have', became: 'an id made of it' },
    ]);
    expect((await read({ _id: { a: 1 } }))?.alterations).toEqual([
      { path: '_id', was: 'an _id of several values', became: 'an id made of it' },
    ]);
    expect((await read({ _id: [1] }))?.alterations).toEqual([
      { path: '_id', was: 'an _id of an unknown type', became: 'left out' },
    ]);
  });
});

describe('a document that comes in as it is', () => {
  const PLAIN = {
    _id: new ObjectId(ID),
    name: 'आशा Sharma',
    class: '',
    joined: new Date('0000-01-01T00:00:00.000Z'),
    left: new Date('9999-12-31T23:59:59.999Z'),
    fee: Decimal128.fromString('-1.5E+300'),
    least: Long.fromString('-9223372036854775808'),
    share: -0.5,
    largest: Number.MAX_VALUE,
    count: -7,
    isActive: false,
    nothing: null,
    marks: [1, 'x', [null, { value: 'a', label: 'b' }]],
    address: { city: 'Pune', pin: { of: '411001' } },
    photo: new Binary(Buffer.from([0, 0xff])),
    uuid: new UUID('3b241101-e2bb-4255-8caf-4136c566a962'),
  };

  it('is kept as it is', () => {
    expect(rowOfBsonDocument(1, bsonOf(PLAIN)).alterations).toBeUndefined();
    for (const _id of ['A-12', '..a', 7, Long.fromNumber(7)]) {
      expect(rowOfBsonDocument(1, bsonOf({ _id })).alterations).toBeUndefined();
    }
  });

  it.each<[string, object]>([
    ['a name that no path can hold', { 'a.b': 1 }],
    ['the name of an operator, within', { a: [{ $b: 1 }] }],
    ['an empty name', { '': 1 }],
    ['NUL in a text', { a: { b: 'x\0y' } }],
    ['no number', { a: [Number.NaN] }],
    ['an endless number', { a: Number.NEGATIVE_INFINITY }],
    ['a decimal that is no number', { a: Decimal128.fromString('NaN') }],
    ['an endless decimal', { a: Decimal128.fromString('-Infinity') }],
    ['an instant before the year 0', { a: new Date(Date.parse('0000-01-01T00:00:00.000Z') - 1) }],
    ['an instant after the year 9999', { a: new Date(Date.parse('9999-12-31T23:59:59.999Z') + 1) }],
    ['a reference to a collection', { a: new DBRef('students', new ObjectId(ID)) }],
    ['a regular expression', { a: /x/ }],
    ['a timestamp', { a: new Timestamp({ t: 1, i: 2 }) }],
    ['JavaScript', { a: new Code('f()') }],
    ['MinKey', { a: new MinKey() }],
    ['an _id that no record may have', { _id: 'A 12' }],
    ['an _id that addresses resolve away', { _id: '..' }],
    ['an _id of several values', { _id: { a: 1 } }],
    ['an _id that is null', { _id: null }],
  ])('is altered with %s', (_, document) => {
    expect(rowOfBsonDocument(1, bsonOf(document)).alterations).toHaveLength(1);
  });
});
