/** Transfers of the command line that are stopped, killed or cut off: what is left, and what goes on. */
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { serialize } from 'bson';
import pg from 'pg';
import type { ImportedCollection } from '../../src/cli/import-mongo-command.js';
import { eventually } from '../eventually.js';
import { TcpProxy } from '../tcp-proxy.js';
import { type Ended, startCampus } from './campus.js';
import { useDemoFolder } from './use-demo-folder.js';

const school = useDemoFolder({ students: 30, today: '2026-11-20' });
const { run, fileOf, count } = school;

function countOf(collection: string): Promise<number> {
  return count(`records where collection = ${pg.escapeLiteral(collection)} and deleted_at is null`);
}

describe('campus import', () => {
  it('is left by Ctrl-C where it is, and says how it goes on', async () => {
    const rows = 40_000;
    const lines = Array.from({ length: rows }, (_, index) => `s-${index},Task ${index}`);
    const file = await fileOf('stopped.csv', '_id,name', ...lines);
    const words = `import ${file} --collection task --mode rows --yes`.split(' ');
    const stopped = startCampus(words, { DATABASE_URL: school.url });
    let said = '';
    stopped.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(stopped, 'exit');
    await eventually(async () => (await count(`records where id like 's-%'`)) > 0, 60_000);
    stopped.kill('SIGINT');
    const [code] = await ended;
    expect(code).not.toBe(0);
    const [, resume = ''] =
      /what is written stays; the rest: campus (import --resume \S+)\n/.exec(said) ?? [];
    const written = await count(`records where id like 's-%'`);
    expect(written).toBeLessThan(rows);
    const done = await run(`${resume} --json`);
    expect(JSON.parse(done.output)).toMatchObject({
      state: 'done',
      counts: { rows, created: rows, same: 0 },
    });
    expect(await count(`audit_entries where record_id like 's-%'`)).toBe(rows);
  });

  it('goes on after kill -9 where it stood, and writes nothing twice', async () => {
    const rows = 40_000;
    const lines = Array.from({ length: rows }, (_, index) => `k-${index},Task ${index}`);
    const file = await fileOf('many.csv', '_id,name', ...lines);
    const words = `import ${file} --collection task --mode rows --yes`.split(' ');
    const victim = startCampus(words, { DATABASE_URL: school.url });
    const ended = once(victim, 'exit');
    await eventually(async () => (await count(`records where id like 'k-%'`)) > 0, 60_000);
    victim.kill('SIGKILL');
    await ended;
    const { rows: imports } = await school.sql.query<{ id: string; position: number }>(
      `select id, position::int as position from imports where state = 'running'`,
    );
    const [stopped] = imports;
    const written = await count(`records where id like 'k-%'`);
    // The header is the first row.
    expect(written).toBe((stopped?.position ?? 0) - 1);
    expect(written).toBeLessThan(rows);
    // The server notices a moment later that the process has gone, and frees what it had locked.
    let done: Ended | undefined;
    await eventually(async () => {
      done = await run(`import --resume ${stopped?.id} --json`);
      return done.code === 0;
    }, 60_000);
    expect(JSON.parse(done?.output ?? '')).toMatchObject({
      state: 'done',
      counts: { rows, created: rows, same: 0 },
    });
    expect(await count(`records where id like 'k-%'`)).toBe(rows);
    expect(await count(`audit_entries where record_id like 'k-%'`)).toBe(rows);
  });
});

async function dump(collection: string, documents: readonly object[]): Promise<string> {
  const file = path.join(school.directory, `${collection}.bson`);
  await writeFile(file, Buffer.concat(documents.map((document) => serialize(document))));
  return file;
}

describe('campus import-mongo', () => {
  it.each([
    ['refuses connections', 'marks_refused', (proxy: TcpProxy) => proxy.refuse()],
    ['says nothing more', 'marks_swallowed', (proxy: TcpProxy) => proxy.swallow()],
  ])('ends when it is told to and the database %s', async (_how, name, lose) => {
    const documents = Array.from({ length: 40_000 }, (_, _id) => ({ _id, text: 'x' }));
    const file = await dump(name, documents);
    const proxy = await TcpProxy.start(school.url);
    const stopped = startCampus(['import-mongo', file, '--register'], {
      DATABASE_URL: proxy.url,
    });
    for (const stream of [stopped.stdout, stopped.stderr]) stream.resume();
    const ended = new Promise<number | null>((resolve) => stopped.once('close', resolve));
    try {
      await eventually(async () => (await countOf(name)) > 0, 30_000);
      lose(proxy);
      stopped.kill('SIGTERM');
      expect(await ended).not.toBe(0);
      expect(await countOf(name)).toBeLessThan(40_000);
    } finally {
      stopped.kill('SIGKILL');
      await proxy.close();
    }
  });

  it('goes on after it was stopped, with nothing twice', async () => {
    const documents = Array.from({ length: 12_000 }, (_, _id) => ({ _id, text: 'x'.repeat(300) }));
    const words = ['import-mongo', await dump('marks_of_old', documents), '--register'];
    const stopped = startCampus(words, { DATABASE_URL: school.url });
    const errors: string[] = [];
    stopped.stderr?.on('data', (text) => errors.push(String(text)));
    await eventually(async () => (await countOf('marks_of_old')) > 0);
    stopped.kill('SIGINT');
    await new Promise((resolve) => stopped.once('close', resolve));
    expect(errors.join('')).toContain('what is written stays; the same command writes the rest');
    const written = await countOf('marks_of_old');
    expect(written).toBeLessThan(12_000);

    const { code, output } = await run(`${words.join(' ')} --json`);
    expect(code).toBe(0);
    const [marks] = (JSON.parse(output) as { collections: ImportedCollection[] }).collections;
    expect(marks?.import?.counts).toMatchObject({ created: 12_000 - written, same: written });
    expect(await countOf('marks_of_old')).toBe(12_000);
  });
});

describe('campus export', () => {
  it('stopped by Ctrl-C leaves whole files alone, and says how to go on', async () => {
    await school.sql.query(
      `insert into records (domain, collection, id, data)
       select d.id, 'sms_log', 'x' || n, jsonb_build_object('text', repeat('long ', 40), 'segments', n)
       from generate_series(1, 300000) n, domains d where d.parent_id is null`,
    );
    const folder = path.join(school.directory, 'stopped');
    const words = `export class sms_log task --format parquet --out ${folder}`;
    const child = startCampus(words.split(' '), { DATABASE_URL: school.url });
    const ended = once(child, 'exit');
    const errors = text(child.stderr);
    const written = () => readdir(folder).catch((): string[] => []);
    await eventually(async () => (await written()).some((name) => /^sms_log.*\.partial$/.test(name)));
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(await written()).toEqual(['class.parquet']);
    expect(await errors).toMatch(/what changes from now on: --since \d{4}-/);
    expect(await errors).toContain(
      `the rest: campus export sms_log task --format parquet --out ${JSON.stringify(folder)}`,
    );
  });
});
