import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DBRef, Decimal128, Long, ObjectId, serialize } from 'bson';
import pg from 'pg';
import type { ImportedCollection } from '../../src/cli/import-mongo-command.js';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { declaredTemplate } from '../declared-template.js';
import type { Ended } from './campus.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

let database: TestDatabase;
let folder = '';
let sql: pg.Client;

const ASHA = new ObjectId('507f1f77bcf86cd799439011');
const PUPILS = [
  {
    _id: ASHA,
    admission: 'A1',
    paid: Decimal128.fromString('120.50'),
    at: new Date('2026-03-31T04:00:00Z'),
    oldPupil: { value: 7, label: 'Ravi' },
  },
  {
    _id: 7,
    admission: 'A2',
    long: Long.fromString('9223372036854775807'),
    friend: new DBRef('OldPupils', ASHA),
  },
  { _id: 'A 3', admission: 'A3', pattern: /x/, 'a.b': 1 },
];

beforeAll(async () => {
  database = await createTestDatabase({ template: declaredTemplate });
  folder = await mkdtemp(path.join(tmpdir(), 'campus-mongo-'));
  const added = await run('domain', 'add', 'school', '--name', 'School');
  if (added.code !== 0) throw new Error(added.errors);
  await mkdir(path.join(folder, 'school'));
  const bytes = Buffer.concat(PUPILS.map((pupil) => serialize(pupil)));
  await writeFile(path.join(folder, 'school', 'OldPupils.bson.gz'), gzipSync(bytes));
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
});

afterAll(async () => {
  await sql?.end();
  await rm(folder, { recursive: true, force: true });
  await database.drop();
});

function run(...words: readonly string[]): Promise<Ended> {
  return campus(words, { environment: { DATABASE_URL: database.url } });
}

function importMongo(name: string, ...words: readonly string[]): Promise<Ended> {
  return run('import-mongo', path.join(folder, name), ...words);
}

async function records(
  collection: string,
): Promise<readonly { readonly id: string; readonly data: string }[]> {
  const { rows } = await sql.query<{ id: string; data: string }>(
    'select id, data::text as data from records where collection = $1 and deleted_at is null order by id',
    [collection],
  );
  return rows;
}

describe('campus import-mongo', () => {
  it('tries a dump: what it holds, what suits it here, and writes nothing', async () => {
    const { code, output } = await importMongo('school', '--dry-run');
    expect(code).toBe(1);
    expect(output).toMatch(/OldPupils +old_pupils +3 .* not declared/);
    expect(output).toContain(
      'there is no collection old_pupils; pass --register, or --as OldPupils=<collection>',
    );
    expect(output).toMatch(/OldPupils +pattern +a regular expression +its text +1 +A_3-/);
  });

  it('brings a dump in, and again without writing anything twice', async () => {
    const first = await importMongo('school', '--register', '--json');
    expect(first.errors).toBe('');
    const [pupils] = (JSON.parse(first.output) as { collections: ImportedCollection[] }).collections;
    expect(pupils).toMatchObject({
      database: 'school',
      name: 'OldPupils',
      collection: 'old_pupils',
      outcome: 'written',
      report: { documents: 3, faults: { count: 0 } },
      import: { counts: { rows: 3, created: 3, refused: 0 } },
      refused: [],
    });
    expect(pupils?.report.alterations.map(({ path: at, became, count }) => [at, became, count])).toEqual([
      ['friend', 'a reference', 1],
      ['_id', 'an id made of it', 1],
      ['pattern', 'its text', 1],
      ['a.b', 'the field a_b', 1],
    ]);
    const written = await records('old_pupils');
    expect(written.map(({ id }) => id)).toEqual(
      [String(ASHA), '7', expect.stringMatching(/^A_3-[0-9a-f]{16}$/)].toSorted(),
    );
    const data = written.map((record) => record.data).join('\n');
    expect(data).toContain('"long": 9223372036854775807');
    expect(data).toMatch(/"paid": 120.50?\b/);
    expect(data).toContain(`"friend": {"value": "${ASHA}"}`);
    expect(data).toMatch(/"oldPupil": \{"label": "Ravi", "value": "7"\}/);
    expect(data).toContain('"at": "2026-03-31T04:00:00.000Z"');

    const second = await importMongo('school', '--json');
    expect(JSON.parse(second.output)).toMatchObject({
      collections: [{ outcome: 'written', import: { counts: { created: 0, updated: 0, same: 3 } } }],
    });
    expect(await records('old_pupils')).toEqual(written);
  });

  it('names what it refuses, and goes on', async () => {
    const file = path.join(folder, 'works.json');
    await writeFile(file, '{"_id":8,"name":{"a":1}}\n{"_id":\n{"_id":9,"name":"A9"}\n');
    const { code, output } = await importMongo('works.json', '--as', 'works=task');
    expect(output).toMatch(/works +task +3 +1 +0 +0 +2 +written/);
    expect(output).toMatch(/works, document 1: .*name/);
    expect(output).toMatch(/works, document 2: .*JSON/);
    expect(code).toBe(0);
    expect((await records('task')).map(({ id }) => id)).toContain('9');
  });

  it.each([
    [['none'], /none cannot be read/],
    [['school', '--only', 'teachers'], /The dump has no collection teachers; it has OldPupils/],
    [['school', '--as', 'OldPupils'], /--as is "OldPupils"; expected <name of the dump>=/],
  ])('refuses %j', async ([name = '', ...words], reason) => {
    const { code, errors } = await importMongo(name, ...words);
    expect(code).toBe(1);
    expect(errors).toMatch(reason);
  });
});
