import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { strFromU8, unzipSync } from 'fflate';
import pg from 'pg';
import { readCsv } from '../services/exporting/read-csv.js';
import { useDemoFolder } from './use-demo-folder.js';

const school = useDemoFolder({ students: 36, today: '2026-07-15' });
const { run } = school;

async function liveRecords(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await school.sql.query<{ collection: string; count: number }>(
    `select collection, count(*)::int as count from records r join domains d on d.id = r.domain
     where r.deleted_at is null and d.parent_id is null group by collection`,
  );
  return new Map(rows.map(({ collection, count }) => [collection, count]));
}

interface Summary {
  readonly next: string;
  readonly files: readonly { collection: string; file: string; records: number; bytes: number }[];
}

describe('campus export --as', () => {
  it.each([
    ['export class --as oneroster', /With --as, the format determines the collections to export/],
    ['export --as onerooster', /onerooster is neither a format \(oneroster, tally, udise\) nor a file/],
    ['export --as tally --since 2026-07-01', /tally cannot be limited to changes/],
    ['convert tally nothing.zip', /tally is written, by campus export --as, and not read/],
    ['convert oneroster /nowhere.zip', /nowhere/],
    ['export --as oneroster --since yesterday', /--since is "yesterday"/],
    ['export --as tally --from 2026-07-32', /--from is "2026-07-32"; expected a day YYYY-MM-DD/],
    ['export --as udise --to 2026-07-01', /udise has no days: leave --to out/],
    ['export --as udise --expand lines', /'--as <format>' cannot be used with option '--expand <field>'/],
    ['export class --from 2026-07-01', /--from and --to need a format: pass --as too/],
  ])('refuses: %s', async (words, reason) => {
    const { code, output, errors } = await run(words);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(reason);
  });

  it('writes the files, who lacks what, and says what has no place', async () => {
    const zip = path.join(school.directory, 'oneroster.zip');
    const { code, output } = await run(`export --as oneroster --out ${zip} --json`);
    const told = JSON.parse(output);
    expect([code, told.files[0], told.rows.orgs]).toEqual([0, zip, 1]);
    const files = unzipSync(new Uint8Array(await readFile(zip)));
    const lines = (name: string) =>
      strFromU8(files[name] ?? new Uint8Array())
        .trimEnd()
        .split('\r\n');
    expect(lines('users.csv').length - 1).toBe(told.rows.users);
    expect(lines('manifest.csv')).toContain('file.enrollments,bulk');
    const ids = new Set(lines('classes.csv').map((line) => line.split(',')[0]));
    expect(
      lines('enrollments.csv')
        .slice(1)
        .filter((line) => !ids.has(line.split(',')[3])),
    ).toEqual([]);

    // What was written is read again: the same students, and nothing that has no place.
    const read = path.join(school.directory, 'read');
    const converted = JSON.parse((await run(`convert oneroster ${zip} --out ${read} --json`)).output);
    expect(converted.files.map(({ collection }: { collection: string }) => collection)).toEqual([
      ...['pltf_user', 'class', 'registration'],
    ]);
    const students = (await readFile(path.join(read, 'registration.ndjson'), 'utf8')).trimEnd().split('\n');
    const { rows: known } = await school.sql.query<{ id: string; data: Record<string, string> }>(
      `select id, data from records where domain = 'demo' and collection = 'registration'
         and data->>'status' = 'active' and deleted_at is null`,
    );
    const byId = new Map(known.map(({ id, data }) => [id, data]));
    expect(students).toHaveLength(known.length);
    for (const line of students) {
      const { _id: id, ...student } = JSON.parse(line);
      expect(byId.get(id)).toMatchObject(student);
    }

    const folder = path.join(school.directory, 'udise');
    const udise = await run(`export --as udise --out ${folder}`);
    expect(udise.output).toMatch(/UDISE CODE OF SCHOOL[\s\S]*Aadhaar numbers are not kept/);
    expect((await readdir(folder)).sort()).toEqual(['udise-readiness.csv', 'udise-students.csv']);
    await run('property set udiseCode "27090100101"');
    expect((await run(`export --as udise --out ${folder}`)).output).not.toMatch(/udise-students: UDISE CODE/);
  });
});

describe('campus export', () => {
  it.each([
    ['export', /Name the collections to export, or pass --all/],
    ['export class --all', /Name the collections to export, or pass --all/],
    ['export clas', /clas/],
    ['export class --format ods', /ods.*Allowed choices are ndjson, csv, xlsx, parquet/],
    ['export class --since yesterday', /^campus: --since is "yesterday"; expected an instant[^\n]*\n$/],
    ['export class --since 2020-01-01', /--since is more than 90 days ago.*KEEP_REMOVED_DAYS/],
    ['export class --domain none', /none/],
    ['export class --out /dev/null/folder', /\/dev\/null\/folder cannot be read or written/],
  ])('refuses: %s', async (words, reason) => {
    const { code, output, errors } = await run(words);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(reason);
  });

  it('writes every record of every collection, a file each, and says what it wrote', async () => {
    const folder = path.join(school.directory, 'all');
    const { code, output, errors } = await run(`export --all --json --out ${folder}`);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const { files }: Summary = JSON.parse(output);
    const counts = await liveRecords();
    for (const { collection, file, records, bytes } of files) {
      const written = await readFile(file, 'utf8');
      expect([written.split('\n').length - 1, Buffer.byteLength(written)]).toEqual([records, bytes]);
      expect(records).toBe(counts.get(collection) ?? 0);
    }
    expect((await readdir(folder)).sort()).toEqual(
      files.map(({ collection }) => `${collection}.ndjson`).sort(),
    );
  });

  it('writes the other formats, and one collection to the file that is named', async () => {
    const count = (await liveRecords()).get('registration');
    const file = path.join(school.directory, 'students.parquet');
    const { output } = await run(`export registration --format parquet --out ${file}`);
    expect(output).toMatch(/registration +36 /);
    // Its records are read by DuckDB in test/clients.
    const parquet = await readFile(file, 'latin1');
    expect([parquet.slice(0, 4), parquet.slice(-4)]).toEqual(['PAR1', 'PAR1']);
    await run(`export registration class --format csv --out ${school.directory}`);
    const lines = readCsv(await readFile(path.join(school.directory, 'registration.csv'), 'utf8'));
    expect(lines).toHaveLength(1 + (count ?? 0));
    expect(await run(`export class --format xlsx --out ${school.directory}`)).toMatchObject({ code: 0 });
  });

  it('writes since an instant what changed and what was removed, and nothing else', async () => {
    const out = path.join(school.directory, 'since.ndjson');
    await school.sql.query(`update records set updated_at = now() - interval '2 hours'`);
    const before = new Date(Date.now() - 3_600_000).toISOString();
    await school.sql.query(
      `update records set updated_at = now(), data = data || '{"remarks": "changed"}'
       where collection = 'class' and id = (select min(r.id) from records r join domains d on d.id = r.domain
           where collection = 'class' and parent_id is null)`,
    );
    await school.sql.query(
      `update records set updated_at = now(), deleted_at = '2026-07-15T10:00:00Z'
       where collection = 'class' and id = (select max(r.id) from records r join domains d on d.id = r.domain
           where collection = 'class' and parent_id is null)`,
    );
    const { output } = await run(`export class --json --since ${before} --out ${out}`);
    const summary: Summary = JSON.parse(output);
    const lines = (await readFile(out, 'utf8')).split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ remarks: 'changed' }),
      { _id: expect.any(String), $removed: '2026-07-15T10:00:00.000Z' },
    ]);
    expect(summary.files[0]?.records).toBe(2);
    const csv = path.join(school.directory, 'since.csv');
    await run(`export class --format csv --since ${before} --out ${csv}`);
    const cells = readCsv(await readFile(csv, 'utf8')).at(-1);
    expect(cells?.at(-1)).toBe('{"$removed":"2026-07-15T10:00:00.000Z"}');
  });

  it('says from when on the next export misses nothing that is being written now', async () => {
    const writer = new pg.Client({ connectionString: school.url });
    await writer.connect();
    await writer.query('begin');
    const { rows } = await writer.query<{ now: Date }>('select now() as now');
    const { output } = await run(`export class --json --out ${path.join(school.directory, 'next')}`);
    await writer.query('rollback');
    await writer.end();
    const { next }: Summary = JSON.parse(output);
    expect(Date.parse(next)).toBeLessThan(rows[0]?.now.getTime() ?? 0);
  });
});
