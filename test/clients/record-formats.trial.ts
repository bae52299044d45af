/** Records as CSV, XLSX, NDJSON and Parquet over HTTP, read back and compared with the JSON. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Decimal } from 'decimal.js';
import { strFromU8, unzipSync } from 'fflate';
import pg from 'pg';
import { isExactNumber, isJsonObject, type JsonValue, parseExactJson } from '../../src/base/json/json.js';
import type { Collection } from '../../src/base/model/collection.js';
import { columnsOfRecords } from '../../src/services/exporting/record-columns.js';
import { parseCollection } from '../../src/store/catalog/parse-collection.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import type { Role } from '../contract/gateway.js';
import { readCsv } from '../services/exporting/read-csv.js';
import { readParquet, recordsOfCsv, recordsOfParquet } from './read-back.js';

const gateway = useDemoGateway({ students: 30 });
const ALL_KINDS = {
  name: 'all_kinds',
  fields: [
    { name: 'name', type: 'text' },
    { name: 'amount', type: 'number', decimal: true },
    { name: 'count', type: 'number' },
    { name: 'isOpen', type: 'boolean' },
    { name: 'at', type: 'datetime' },
    { name: 'day', type: 'datetime', format: 'date' },
    { name: 'month', type: 'text', format: 'month' },
    { name: 'tags', type: 'text', list: true },
    { name: 'marks', type: 'number', list: true, decimal: true },
    { name: 'days', type: 'datetime', format: 'date', list: true },
    { name: 'teacher', type: 'reference', target: 'pltf_user' },
    { name: 'teachers', type: 'reference', target: 'pltf_user', list: true },
    {
      name: 'address',
      type: 'object',
      fields: [
        { name: 'city', type: 'text' },
        { name: 'geo', type: 'object', fields: [{ name: 'lat', type: 'number', decimal: true }] },
      ],
    },
    { name: 'parts', type: 'object', list: true, fields: [{ name: 'n', type: 'number' }] },
    { name: 'extra', type: 'object' },
  ],
};

/** What a column can hold, what none can, and what programs trip over. */
const HOSTILE: readonly string[] = [
  '{"name": "plain", "amount": 12.50, "count": 3, "isOpen": false, "at": "2026-07-01T03:05:00.123Z",' +
    '"day": "2026-02-28", "month": "2026-02", "tags": ["a", "b,c"], "marks": [1.10, 2],' +
    '"days": ["2026-01-31"],' +
    '"teacher": {"value": "u1", "label": "चित्रा देवी"}, "teachers": [{"value": "u1"}],' +
    '"address": {"city": "Pune", "geo": {"lat": 18.5204303}}, "parts": [{"n": 1}], "extra": {"a": [null]}}',
  '{}',
  '{"name": null, "amount": null, "tags": null, "teacher": null, "address": null, "extra": null}',
  '{"name": "", "tags": [], "parts": [], "address": {}, "extra": {}, "teacher": {}}',
  '{"name": 5, "amount": "12", "count": true, "isOpen": "true", "at": "2026-07-01", "day": "2026-02-30",' +
    '"month": 7, "tags": "a", "marks": ["x"], "teacher": "u1", "address": [1], "parts": {"n": 1}}',
  '{"amount": 12345678901234567890123456789012345678901234, "count": 9007199254740993}',
  '{"amount": 0.00000000000000000001, "count": 0.1234567890123456789}',
  '{"amount": -0.0000000001, "count": -1e-7, "marks": [-5.5, null]}',
  '{"name": "=1+1", "address": {"city": "@SUM(A1)", "pin": 411001, "geo": {"lat": 1, "lon": 2}}}',
  `{"name": "'=1+1", "address": {"city": "''+x"}}`,
  `{"name": "\\tx", "address": {"city": "'"}}`,
  '{"name": "+91 98765", "address": {"city": "\\"quoted\\", and\\r\\nmore"}}',
  '{"name": "\\u200b=x", "…": {"…": 1}, "a.b": 1, "__proto__": {"constructor": 2}, "count": 10.0,' +
    '"amount": 0.10}',
  '{"name": "x\\ny", "undeclared": ["\\u0001", {"deep": 1.50}], "at": "2026-07-01T03:05:00Z"}',
  '{"at": "1899-12-31T00:00:00.000Z", "day": "0001-01-01", "created_on": "2026-01-01T00:00:00.000Z"}',
];

const FORMATS = ['csv', 'xlsx', 'parquet'] as const;
const TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  parquet: 'application/vnd.apache.parquet',
};
let folder: string;
let collections: readonly Collection[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'formats-'));
  const answer = await gateway.fetch('/graphql', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'mutation($d: JSON!) { registerCollection(definition: $d) { name } }',
      variables: { d: ALL_KINDS },
    }),
  });
  expect(await answer.json()).toEqual({ data: { registerCollection: { name: 'all_kinds' } } });
  const sql = new pg.Client({ connectionString: gateway.databaseUrl });
  await sql.connect();
  for (const [index, data] of HOSTILE.entries()) {
    await sql.query(
      `insert into records (domain, collection, id, data) select id, 'all_kinds', $1, $2::jsonb from domains
       where parent_id is null`,
      [`h${String(index).padStart(2, '0')}`, data],
    );
  }
  await sql.end();
  const names = (await readdir('schema/collections')).filter((name) => name !== 'collection.schema.json');
  const declared = names.map(async (name) =>
    JSON.parse(await readFile(`schema/collections/${name}`, 'utf8')),
  );
  collections = [...(await Promise.all(declared)), ALL_KINDS].map((definition) =>
    parseCollection(definition, { source: 'test', isDeclared: true, version: 1 }),
  );
});

afterAll(async () => rm(folder, { recursive: true, force: true }));

async function ask(address: string, as: Role = 'admin', headers: Record<string, string> = {}) {
  const response = await gateway.fetch(address, { as, headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function readRecords(address: string, as: Role = 'admin'): Promise<readonly JsonValue[]> {
  const { bytes } = await ask(address, as, { accept: 'application/x-ndjson' });
  return bytes.toString().split('\n').slice(0, -1).map(parseExactJson);
}

async function askParquet(address: string, as: Role = 'admin') {
  const { bytes, response } = await ask(address, as, { accept: TYPES.parquet });
  expect(response.status).toBe(200);
  const file = path.join(folder, 'records.parquet');
  await writeFile(file, bytes);
  return await readParquet(file);
}

/** JSON with the names in order and numbers by `print`: as they are written, or by their value. */
function canonical(value: JsonValue, print: (digits: string) => string): unknown {
  if (isExactNumber(value)) return `#${print(value.value)}`;
  if (Array.isArray(value)) return value.map((element: JsonValue) => canonical(element, print));
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, canonical(value[name] ?? null, print)]);
}

const asWritten = (digits: string) => digits;
const byValue = (digits: string) => new Decimal(digits).toFixed();

function cellsOf(workbook: Buffer): string[][] {
  const sheet = strFromU8(unzipSync(workbook)['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
  return [...sheet.matchAll(/<row>(.*?)<\/row>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<c(?: [^>]*)?(?:\/>|>(.*?)<\/c>)/gs)].map(([, cell = '']) =>
      cell.replace(/<[^>]*>/g, ''),
    ),
  );
}

describe('every collection of the demo school and a hostile one', () => {
  it('comes back from CSV as it is, to the last digit', async () => {
    for (const collection of collections) {
      const { bytes } = await ask(`/o/recs/${collection.name}?format=csv`);
      const found = recordsOfCsv(bytes.toString(), columnsOfRecords(collection, undefined, new Set()));
      const expected = await readRecords(`/o/recs/${collection.name}`);
      expect(found.map((one) => canonical(one, asWritten))).toEqual(
        expected.map((one) => canonical(one, asWritten)),
      );
    }
  });

  it('comes back from Parquet with the same values', async () => {
    for (const collection of collections) {
      const file = await askParquet(`/o/recs/${collection.name}`);
      const found = recordsOfParquet(file, columnsOfRecords(collection, undefined, new Set()));
      const expected = await readRecords(`/o/recs/${collection.name}`);
      expect(found.map((one) => canonical(one, byValue))).toEqual(
        expected.map((one) => canonical(one, byValue)),
      );
    }
  });

  it('has a line a record in XLSX', async () => {
    for (const { name } of collections) {
      const { bytes } = await ask(`/o/recs/${name}?format=xlsx`);
      const [headings, ...rows] = cellsOf(bytes);
      const expected = await readRecords(`/o/recs/${name}`);
      expect(headings?.slice(0, 1).concat(headings.slice(-1))).toEqual(['_id', 'other fields']);
      expect(rows.map(([id]) => id)).toEqual(expected.map((one) => isJsonObject(one) && one._id));
    }
  });
});

describe('a table of records', () => {
  it('has a column a declared field in Parquet, of its type', async () => {
    const { types } = await askParquet('/o/recs/all_kinds');
    expect(types).toEqual({
      _id: 'VARCHAR',
      name: 'VARCHAR',
      amount: 'DECIMAL(38,10)',
      count: 'DOUBLE',
      isOpen: 'BOOLEAN',
      at: 'TIMESTAMP WITH TIME ZONE',
      day: 'DATE',
      month: 'VARCHAR',
      tags: 'VARCHAR[]',
      marks: 'DECIMAL(38,10)[]',
      days: 'DATE[]',
      'teacher.value': 'VARCHAR',
      'teacher.label': 'VARCHAR',
      teachers: 'STRUCT("value" VARCHAR, "label" VARCHAR)[]',
      'address.city': 'VARCHAR',
      'address.geo.lat': 'DECIMAL(38,10)',
      parts: 'STRUCT(n DOUBLE)[]',
      extra: 'VARCHAR',
      created_on: 'TIMESTAMP WITH TIME ZONE',
      'other fields': 'VARCHAR',
    });
  });

  it('says in CSV what is missing, empty, a formula, and what has no column', async () => {
    const { bytes } = await ask(
      '/o/recs/all_kinds?format=csv&project=name,amount,address.city,undeclared&sort=_id',
    );
    const lines = bytes.toString().split('\r\n');
    expect(lines[0]).toBe('_id,name,amount,address.city,undeclared,other fields');
    expect(lines[1]).toBe('h00,plain,12.50,Pune,,');
    expect(lines[2]).toBe('h01,,,,,');
    expect(lines[3]).toBe('h02,,,,,"{""name"":null,""amount"":null}"');
    expect(lines[4]).toBe('h03,"",,,,"{""address"":{}}"');
    expect(lines[5]).toBe('h04,,,,,"{""name"":5,""amount"":""12"",""address"":[]}"');
    expect(lines[9]).toBe("h08,'=1+1,,'@SUM(A1),,");
  });

  it('shows in XLSX numbers as numbers and days as days', async () => {
    const { bytes } = await ask('/o/recs/all_kinds?format=xlsx&project=name,amount,day&limit=1');
    expect(cellsOf(bytes)).toEqual([
      ['_id', 'name', 'amount', 'day', 'other fields'],
      ['h00', 'plain', '12.50', '46081', ''],
    ]);
  });

  it('begins with a byte order mark where asked', async () => {
    const { bytes } = await ask('/o/recs/class?format=csv&bom=true');
    expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  });
});

describe('the format', () => {
  it.each(FORMATS)('%s is had by Accept and by format, with a name to keep it by', async (format) => {
    for (const [address, accept] of [
      ['/o/recs/class', TYPES[format]],
      [`/o/recs/class?format=${format}`, '*/*'],
      [`/o/recs/class?format=${format}&limit=3`, '*/*'],
      [`/o/recs/class?format=${format}&stream=true&limit=3`, '*/*'],
    ] as const) {
      const { response } = await ask(address, 'admin', { accept });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, TYPES[format]]);
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename="class.${format}"`);
    }
  });

  it.each([...FORMATS, 'json', 'ndjson'])('%s by name is had whatever Accept says', async (format) => {
    for (const address of ['/o/recs/class', '/?report=strength', '/o/recs/class?stream=true']) {
      const named = `${address}${address.includes('?') ? '&' : '?'}format=${format}`;
      for (const accept of ['text/html', 'application/vnd.ms-excel', 'image/*']) {
        const { response } = await ask(named, 'admin', { accept });
        expect([named, accept, response.status]).toEqual([named, accept, 200]);
      }
    }
    const posted = await gateway.fetch('/o/recs/class', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json', accept: 'text/html' },
      body: JSON.stringify({ format }),
    });
    expect(posted.status).toBe(200);
    const { response } = await ask('/o/recs/class', 'admin', { accept: 'text/html' });
    expect(response.status).toBe(406);
    // There it is the name of a field, and the answer is JSON alone.
    const written = await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json', accept: 'text/html' },
      body: JSON.stringify({ name: 'N', format }),
    });
    expect(written.status).toBe(406);
  });

  it('takes filters, orders, pages and the parameters of a path as JSON does', async () => {
    const query = 'oquery=class=5&sort=-name&project=name&limit=2&ci=true';
    const json = await ask(`/o/recs/registration?${query}`);
    const csv = await ask(`/o/recs/registration?${query}&format=csv`);
    const names = (JSON.parse(json.bytes.toString()) as { name: string }[]).map(({ name }) => name);
    expect(
      readCsv(csv.bytes.toString())
        .slice(1)
        .map(([, name]) => name),
    ).toEqual(names);
    expect(csv.response.headers.get('x-next-cursor')).toBe(json.response.headers.get('x-next-cursor'));
    expect(csv.response.headers.get('link')).toContain('format=csv');
    const [, address = ''] = csv.response.headers.get('link')?.match(/<(.*?)>/) ?? [];
    const next = await ask(address.slice(gateway.url.length));
    expect(next.response.status).toBe(200);
    const posted = await gateway.fetch('/o/recs/registration', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ oquery: 'class=5', sort: '-name', project: 'name', limit: 2, format: 'csv' }),
    });
    expect(await posted.text()).toBe(csv.bytes.toString());
  });

  it('of a page is the same file each time', async () => {
    for (const format of FORMATS) {
      const address = `/o/recs/registration?format=${format}&limit=5`;
      expect((await ask(address)).bytes.equals((await ask(address)).bytes)).toBe(true);
    }
  });

  it('is told by HEAD, without a body', async () => {
    for (const format of FORMATS) {
      const response = await gateway.fetch(`/o/recs/class?format=${format}`, { method: 'HEAD', as: 'admin' });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, TYPES[format]]);
      expect(await response.text()).toBe('');
    }
  });

  it('that is none is refused, and so is one of a single record', async () => {
    const wrong = await ask('/o/recs/class?format=ods');
    expect([wrong.response.status, wrong.bytes.toString()]).toEqual([
      400,
      expect.stringContaining('one of json, ndjson, csv, xlsx, parquet'),
    ]);
    const one = await ask('/o/recs/class/c-5', 'admin', { accept: 'text/csv' });
    expect(one.response.status).toBe(406);
  });

  it('does not loosen what a read is refused for', async () => {
    const [malformed, forbidden, unknown, anonymous] = [
      await ask('/o/recs/class?format=csv&oquery=a'),
      await ask('/o/recs/fee_due?format=parquet', 'viewer'),
      await ask('/o/recs/no_such?format=xlsx'),
      await gateway.fetch('/o/recs/class?format=csv'),
    ];
    expect([malformed.response.status, forbidden.response.status, unknown.response.status]).toEqual([
      400, 403, 404,
    ]);
    expect(anonymous.status).toBe(401);
  });
});

describe('what a role may not read', () => {
  it('has no column, not when it is asked for either', async () => {
    const hidden = ['guardian_phone', 'email', 'address', 'dob', 'category', 'father_name', 'mother_name'];
    for (const project of ['', '&project=name,dob,address.city']) {
      const csv = await ask(`/o/recs/registration?format=csv${project}`, 'viewer');
      const headings = readCsv(csv.bytes.toString())[0] ?? [];
      expect(headings.filter((heading) => hidden.some((name) => heading?.startsWith(name)))).toEqual([]);
      const xlsx = await ask(`/o/recs/registration?format=xlsx${project}`, 'viewer');
      expect(cellsOf(xlsx.bytes)[0]).toEqual(headings);
      const { types } = await askParquet(`/o/recs/registration?${project}`, 'viewer');
      expect(Object.keys(types)).toEqual(headings);
    }
  });

  it('leaves the rows of a teacher to those of the sections taught', async () => {
    const json = await readRecords('/o/recs/registration?project=name', 'teacher');
    const { rows } = await askParquet('/o/recs/registration?project=name', 'teacher');
    expect(rows.length).toBe(json.length);
    expect(rows.length).toBeLessThan(30);
  });
});

describe('a report', () => {
  it('is had as Parquet with typed columns', async () => {
    const { types, rows } = await askParquet('/?report=fee-summary&type=month');
    const csv = await ask('/?report=fee-summary&type=month&format=csv');
    const [headings, ...lines] = readCsv(csv.bytes.toString());
    expect(Object.keys(types)).toEqual(headings);
    expect(Object.values(types)).toContain('DECIMAL(38,2)');
    const found = rows.map((row) =>
      Object.values(row).map((value) => (value === null ? null : String(value))),
    );
    const byValues = (cells: readonly (string | null)[]) =>
      cells.map((cell) => (cell !== null && /^-?\d+\.\d+$/.test(cell) ? byValue(cell) : cell));
    expect(found.map(byValues)).toEqual(lines.map(byValues));
  });
});

describe('what changed since an instant', () => {
  const SINCE = new Date(Date.now() - 3_600_000).toISOString();

  async function write(method: string, path: string, body?: object) {
    const answer = await gateway.fetch(path, {
      method,
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.ok).toBe(true);
  }

  it('is told in every format, with what was removed', async () => {
    await write('POST', '/o/task', [
      { _id: 'since-kept', name: 'told: kept', amount: 12.5 },
      { _id: 'since-gone', name: 'told: gone' },
    ]);
    await write('DELETE', '/o/recs/task/since-gone');
    const asked = `/o/recs/task?since=${SINCE}&project=name&oquery=${encodeURIComponent('name=*told:')}`;
    const kept = { _id: 'since-kept', name: 'told: kept' };
    const gone = { _id: 'since-gone', $removed: expect.stringMatching(/^\d{4}-.*Z$/) };

    const json = await ask(asked);
    expect(json.response.status).toBe(200);
    expect(JSON.parse(json.bytes.toString())).toEqual([gone, kept]);
    const next = String(json.response.headers.get('x-next-since'));
    expect(Date.parse(next)).toBeGreaterThan(Date.parse(SINCE));
    expect((await readRecords(asked)).length).toBe(2);

    const [heading, ...rows] = readCsv((await ask(`${asked}&format=csv&bom=true`)).bytes.toString());
    expect(heading).toEqual(['\uFEFF_id', 'name', 'other fields']);
    expect(rows.map(([id, name]) => [id, name])).toEqual([
      ['since-gone', null],
      ['since-kept', 'told: kept'],
    ]);
    expect(JSON.parse(String(rows[0]?.[2]))).toEqual({ $removed: expect.any(String) });
    expect(cellsOf((await ask(`${asked}&format=xlsx`)).bytes)).toHaveLength(3);
    expect((await askParquet(asked)).rows).toHaveLength(2);
  });

  it('is nothing, as an empty list, where nothing has changed', async () => {
    const { bytes } = await ask(`/o/recs/class?since=${new Date(Date.now() + 3_600_000).toISOString()}`);
    expect(bytes.toString()).toBe('[]');
  });

  it('is refused to who may not read, and for what would miss changes or is forgotten', async () => {
    const statuses = [
      [`/o/recs/fee_receipt?since=${SINCE}`, 'teacher', 403],
      [`/o/recs/nowhere?since=${SINCE}`, 'admin', 404],
      ['/o/recs/task?since=yesterday', 'admin', 400],
      ['/o/recs/task?since=', 'admin', 400],
      ['/o/recs/task?since=2020-01-01', 'admin', 400],
      [`/o/recs/task?since=${SINCE}&limit=5`, 'admin', 400],
      [`/o/recs/task?since=${SINCE}&sort=name`, 'admin', 400],
      [`/o/recs/task?since=${SINCE}&after=x`, 'admin', 400],
      [`/o/recs/task?since=${SINCE}&format=pdf`, 'admin', 400],
    ] as const;
    for (const [address, as, status] of statuses) {
      expect([address, (await ask(address, as)).response.status]).toEqual([address, status]);
    }
  });
});
