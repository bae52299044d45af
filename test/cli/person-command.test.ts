/** A person from the command line: exported, erased, and erased again after an older backup came back. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { strFromU8, unzipSync } from 'fflate';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { declaredTemplate } from '../declared-template.js';
import type { Ended } from './campus.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

let database: TestDatabase;
let restored: TestDatabase;
let directory = '';
let student: { id: string; name: string };

beforeAll(async () => {
  [database, restored] = await Promise.all([
    createTestDatabase({ template: declaredTemplate }),
    createTestDatabase(),
  ]);
  directory = await mkdtemp(path.join(tmpdir(), 'campus-person-'));
  await run('seed --students 12 --today 2026-07-15');
  await query(restored.url, 'drop schema public cascade; create schema public');
  const [row] = await query<{ id: string; name: string }>(
    database.url,
    `select id, data->>'name' as name from records
     where domain = 'demo' and collection = 'registration' and data->>'status' = 'active'
     order by id limit 1`,
  );
  if (row === undefined) throw new Error('the demo school has students');
  student = row;
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await Promise.all([database.drop(), restored.drop()]);
});

async function run(words: string, url = database.url): Promise<Ended> {
  return await campus(words.split(' '), { environment: { DATABASE_URL: url } });
}

async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return await client
    .query<Row>(statement)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

async function isThere(url: string): Promise<boolean> {
  const rows = await query(url, `select 1 from records where domain = 'demo' and id = '${student.id}'`);
  return rows.length > 0;
}

it.each([
  ['person export registration stu-none', /no record "stu-none" in registration/],
  ['person export task task-1', /the records of task are not persons; one of pltf_user, registration/],
  ['person erase registration stu-none --for-good', /no record "stu-none"/],
  ['person erase-again /dev/null/list', /\/dev\/null\/list cannot be read/],
])('refuses: %s', async (words, reason) => {
  const { code, output, errors } = await run(words);
  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors).toMatch(reason);
});

it('exports, lists, erases, and erases again what a backup brought back', async () => {
  const zip = path.join(directory, 'person.zip');
  expect(await run(`person export registration ${student.id} --out ${zip}`)).toMatchObject({ code: 0 });
  const files = unzipSync(new Uint8Array(await readFile(zip)));
  expect(strFromU8(files['records/registration.ndjson'] ?? new Uint8Array())).toContain(student.name);
  expect(Object.keys(files)).toContain('records/attendance.ndjson');

  const backup = path.join(directory, 'school.campus');
  expect(await run(`backup ${backup}`)).toMatchObject({ code: 0 });

  const planned = await run(`person erase registration ${student.id}`);
  expect(planned.output).toMatch(/removed +attendance +\d+[\s\S]*nothing was changed; pass --for-good/);
  expect(await isThere(database.url)).toBe(true);

  const erased = await run(`person erase registration ${student.id} --for-good`);
  expect(erased.output).toMatch(/erased; what stays of the person is called erased-[0-9a-f]{8}/);
  expect(await isThere(database.url)).toBe(false);

  const { output: list } = await run('person erasures');
  expect(list).not.toContain(student.id);
  const listFile = path.join(directory, 'erasures.ndjson');
  await writeFile(listFile, list);

  const wrong = path.join(directory, 'wrong.ndjson');
  await writeFile(wrong, '{"domain":"demo"}\n');
  const refused = await run(`restore ${backup} --erasures ${wrong}`, restored.url);
  expect(refused.errors).toMatch(/wrong\.ndjson, line 1: a line of `campus person erasures` is expected/);

  const back = await run(`restore ${backup}`, restored.url);
  expect(back.errors).toMatch(/persons erased after .* exist again/);
  expect(await isThere(restored.url)).toBe(true);
  expect((await run(`person erase-again ${listFile}`, restored.url)).output).toBe('erased again: 1\n');
  expect(await isThere(restored.url)).toBe(false);
  expect((await run('person erasures', restored.url)).output).toContain(JSON.parse(list).pseudonym);

  await query(
    restored.url,
    'drop schema public cascade; create schema public; drop schema campus_jobs cascade',
  );
  const clean = await run(`restore ${backup} --erasures ${listFile}`, restored.url);
  expect(clean.errors).toMatch(/persons erased again: 1/);
  expect(await isThere(restored.url)).toBe(false);
});
