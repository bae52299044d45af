import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ByteWriter, type ColumnSource, ParquetWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { ServiceError } from '../../../src/errors.js';
import { openParquetSource } from '../../../src/importing/reading/parquet-source.js';
import { SOURCE_LIMITS } from '../../../src/importing/reading/source-limits.js';
import { ExactNumber } from '../../../src/json.js';
import { findPackageDirectory } from '../../../src/package-directory.js';
import { readSource, withFile } from './source-fixture.js';

const FIXTURES = path.join(findPackageDirectory(), 'test/fixtures/parquet');

/** A file as DuckDB writes what is selected. */
async function written(select: string, options = ''): Promise<Buffer> {
  return await withFile('', async (file) => {
    const target = path.join(path.dirname(file), 'written.parquet');
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      await connection.run(
        `set timezone = 'UTC'; copy (${select}) to '${target}' (format parquet${options})`,
      );
      return await readFile(target);
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  });
}

function ownFile(columnData: ColumnSource[], rowGroupSize = 1_000): Buffer {
  return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize }));
}

async function outcomeOf(bytes: Buffer): Promise<number | string> {
  try {
    return (await readSource(bytes, 'x.parquet', { format: 'parquet' })).rows.length;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

const NAMES = Array.from({ length: 1_000 }, (_, index) => (index % 3 === 0 ? null : `name ${index % 7}`));
const COUNTS = NAMES.map((_, index) => index);

describe('a Parquet file', () => {
  it('has each value with its digits, its day, its instant and its nesting', async () => {
    const file = await written(`
      select 9223372036854775807::bigint as large, 5::integer as small, 4294967295::uinteger as "unsigned",
        123456789012345678901234567.1234567890::decimal(38,10) as exact,
        -0.05::decimal(4,2) as little, 1.5 as half,
        true as flag, 'é\u2028x' as text, '' as empty, null::varchar as nothing, 'hi'::blob as bytes,
        date '2026-03-31' as day, timestamptz '2026-03-31 04:05:06.789+00' as at,
        timestamp '2026-03-31 09:30:00' as here, time '08:15:00' as bell, '{"a": [1.0]}'::json as json,
        ['a', null, 'b'] as list, [1.50::decimal(5,2)] as amounts, []::integer[] as none,
        {'city': 'Pune', 'since': date '2020-01-01', 'pins': [411001]} as address,
        map {'k': date '2026-01-01'} as days, [{'n': 1::bigint}] as people,
        '3b241101-e2bb-4255-8caf-4136c566a962'::uuid as "unique"`);
    const { source, rows } = await readSource(file, 'x.parquet');
    expect(source).toMatchObject({ format: 'parquet', header: 'none', warnings: [] });
    expect(source.columns).toContain('address');
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ number: 1 });
    expect(rows[0]?.values).toEqual({
      large: new ExactNumber('9223372036854775807'),
      small: 5,
      unsigned: 4_294_967_295,
      exact: new ExactNumber('123456789012345678901234567.123456789'),
      little: -0.05,
      half: 1.5,
      flag: true,
      text: 'é\u2028x',
      empty: '',
      nothing: null,
      bytes: 'aGk=',
      day: '2026-03-31',
      at: '2026-03-31T04:05:06.789Z',
      here: '2026-03-31T09:30:00.000',
      bell: '08:15:00.000',
      json: { a: [new ExactNumber('1.0')] },
      list: ['a', null, 'b'],
      amounts: [1.5],
      none: [],
      address: { city: 'Pune', since: '2020-01-01', pins: [411_001] },
      days: { k: '2026-01-01' },
      people: [{ n: 1 }],
      unique: '3b241101-e2bb-4255-8caf-4136c566a962',
    });
    // As a CSV of the refused rows has them.
    expect(rows[0]?.source?.slice(-4)).toEqual([
      '{"city":"Pune","since":"2020-01-01","pins":[411001]}',
      '{"k":"2026-01-01"}',
      '[{"n":1}]',
      '3b241101-e2bb-4255-8caf-4136c566a962',
    ]);
  });

  it.each([
    ', compression zstd',
    ', compression gzip',
    ', compression snappy, row_group_size 2048',
    ', compression brotli',
    ', compression lz4_raw',
  ])('is read however it is packed and parted: %s', async (options) => {
    const select = `select i as n, 'text ' || (i % 5) as text, case when i % 3 > 0 then [i, i + 1] end as list
        from range(10000) t(i)`;
    const { rows } = await readSource(await written(select, options), 'x');
    expect(rows).toHaveLength(10_000);
    expect(rows.every(({ values, number }) => values.n === number - 1)).toBe(true);
    expect(rows[9_998]?.values).toEqual({ n: 9_998, text: 'text 3', list: [9_998, 9_999] });
    expect(rows[9_999]?.values).toEqual({ n: 9_999, text: 'text 4', list: null });
  });

  // Arrow wrote them (pyarrow 25, `column_encoding`), which no writer for JavaScript does: texts by what they
  // share with the one before, in pages of the first version packed by LZ4, and of the second not packed.
  it.each(['first', 'second'])(
    'of Arrow has its texts, in pages of the %s version',
    async (version) => {
      const file = await readFile(path.join(FIXTURES, `arrow-${version}-pages.parquet`));
      const { rows } = await readSource(file, 'x');
      const wanted = Array.from({ length: 300 }, (_, row) => ({
        name: row % 7 === 0 ? null : `Student ${String(Math.floor(row / 3)).padStart(5, '0')}`,
        no: `N-${String(row).padStart(6, '0')}`,
        tags: row % 5 === 0 ? null : Array.from({ length: row % 3 }, (_tag, tag) => `tag ${tag}`),
      }));
      expect(rows.map(({ values }) => values)).toEqual(wanted);
      for (let at = 4; at < file.length - 1_200; at += 29) {
        const damaged = Buffer.from(file);
        damaged[at] = 0xff;
        expect([300, 'MALFORMED_REQUEST', 'LIMIT_EXCEEDED']).toContain(await outcomeOf(damaged));
      }
    },
    60_000,
  );

  it('is refused where its texts come to more than may be in memory', async () => {
    const texts = Array.from({ length: 5_000 }, () => 'a'.repeat(20_000));
    const columnData: ColumnSource[] = [
      { name: 'text', data: texts, type: 'STRING', encoding: 'DELTA_BYTE_ARRAY' },
    ];
    const file = Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 5_000, pageSize: 2 ** 30 }));
    expect(file.length).toBeLessThan(1_000_000);
    expect(await outcomeOf(file)).toBe('LIMIT_EXCEEDED');
  });

  it('without a row has its columns all the same', async () => {
    const { source, rows } = await readSource(await written('select 1 as a where false'), 'x.parquet');
    expect([source.columns, rows]).toEqual([['a'], []]);
  });
});

describe('a Parquet file that is not what it says', () => {
  let file: Buffer;
  beforeAll(() => {
    file = ownFile([
      { name: 'name', data: NAMES, type: 'STRING' },
      { name: 'count', data: COUNTS, type: 'INT32' },
    ]);
  });

  /** What comes of it: rows, or what is told to whoever sent it. */

  it('is refused or read, whichever of the bytes that describe it is another one', async () => {
    const footer = file.length - 8 - file.readUInt32LE(file.length - 8);
    const refused = new Set<string>();
    for (let at = footer; at < file.length; at += 1) {
      const damaged = Buffer.from(file);
      damaged[at] = [0, 0x7f, 0xff][at % 3] ?? 0;
      const outcome = await outcomeOf(damaged);
      if (typeof outcome === 'number') expect([at, outcome]).toEqual([at, 1_000]);
      else refused.add(outcome);
    }
    expect([...refused].filter((code) => code !== 'LIMIT_EXCEEDED')).toEqual(['MALFORMED_REQUEST']);
  }, 60_000);

  it('is refused or read wherever a byte of its pages is another one', async () => {
    for (let at = 4; at < 400; at += 3) {
      const damaged = Buffer.from(file);
      damaged[at] = 0xff;
      const outcome = await outcomeOf(damaged);
      expect([1_000, 'MALFORMED_REQUEST', 'LIMIT_EXCEEDED']).toContain(outcome);
    }
  }, 60_000);

  it('is refused where a run is longer than its page', async () => {
    const nulls = ownFile([
      { name: 'name', data: Array.from({ length: 1_000 }, () => null), type: 'STRING' },
      { name: 'count', data: COUNTS, type: 'INT32' },
    ]);
    // A run of 1,000 zeros, which is made one of 8,191.
    const at = nulls.indexOf(Buffer.from([0xd0, 0x0f, 0x00]));
    expect(at).toBeGreaterThan(0);
    nulls[at] = 0xfe;
    nulls[at + 1] = 0x7f;
    await expect(readSource(nulls, 'x.parquet')).rejects.toMatchObject({ code: 'MALFORMED_REQUEST' });
  });

  it.each([
    ['cut', (bytes: Buffer) => bytes.subarray(0, -20), 'its end is missing'],
    ['no more than its mark', (bytes: Buffer) => bytes.subarray(0, 4), 'it is too short'],
    [
      'encrypted',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replaceAll('PAR1', 'PARE'), 'latin1'),
      'is encrypted',
    ],
  ])('is refused when it is %s', async (_, damage, message) => {
    await expect(readSource(damage(file), 'x.parquet')).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringContaining(message),
    });
  });

  it('is refused over a limit, before its rows are read', async () => {
    await expect(readSource(file, 'x.parquet', {}, { maxRows: 999 })).rejects.toThrow(
      'Row 1000 is one of more than 999',
    );
    await expect(readSource(file, 'x.parquet', {}, { maxColumns: 1 })).rejects.toThrow('at most 1 are read');
    await expect(readSource(file, 'x.parquet', {}, { maxCellLength: 5 })).rejects.toThrow(
      'Cell 1 of row 2 has more than 5 characters',
    );
  });

  it('is refused where more is in memory together than may be', async () => {
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({
      writer: bytes,
      schema: [
        { name: 'root', num_children: 1 },
        { name: 'flag', type: 'BOOLEAN', repetition_type: 'REQUIRED' },
      ],
    });
    const data = Array.from({ length: 4_500_000 }, () => true);
    writer.write({ columnData: [{ name: 'flag', data }], rowGroupSize: data.length, pageSize: 2 ** 30 });
    writer.finish();
    await expect(readSource(Buffer.from(bytes.getBuffer()), 'x.parquet')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('smaller groups of rows'),
    });
  });

  it.each([
    ['a plain column', 'i as n, hash(i) as h'],
    ['a list', '[i] as list'],
  ])(
    'is refused when it is opened, where a group of %s is too large',
    async (_, columns) => {
      const select = `select ${columns} from range(4500000) t(i)`;
      const large = await written(select, ', row_group_size 4500480');
      const small = await written(select, ', row_group_size 20480');
      const open = async (bytes: Buffer) =>
        await withFile(bytes, async (path) => await openParquetSource({ path, name: 'x' }, SOURCE_LIMITS));
      await expect(open(large)).rejects.toMatchObject({
        code: 'LIMIT_EXCEEDED',
        message: expect.stringContaining('smaller groups of rows'),
      });
      await expect(open(small)).resolves.toMatchObject({ format: 'parquet' });
    },
    60_000,
  );

  it('is opened where a large group has small pages', async () => {
    const data = Array.from({ length: 4_100_000 }, () => true);
    const large = Buffer.from(
      parquetWriteBuffer({
        columnData: [{ name: 'flag', data, type: 'BOOLEAN' }],
        rowGroupSize: data.length,
        pageSize: 1_024,
      }),
    );
    const opened = await withFile(
      large,
      async (path) => await openParquetSource({ path, name: 'x' }, SOURCE_LIMITS),
    );
    expect(opened.columns).toEqual(['flag']);
  }, 60_000);
});
