import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startShell } from './campus.js';
import { useDemoFolder } from './use-demo-folder.js';

const school = useDemoFolder({ students: 12, today: '2026-05-10' });
const { run, fileOf, count } = school;

describe('campus import', () => {
  it.each([
    ['import', /Name the file and its --collection/],
    ['import /nowhere.csv --collection task', /\/nowhere\.csv cannot be read/],
    ['import /dev/null --collection nothing', /nothing/],
    ['import --resume 01995f6e-6f0a-7c3e-9d5c-2f6a7b8c9d0e', /there is no import/],
    ['import x.csv --collection task --mode some', /some.*Allowed choices are atomic, rows/],
  ])('refuses: %s', async (words, reason) => {
    const { code, output, errors } = await run(words);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(reason);
  });

  it('tries a file, writes it with --yes, and asks nobody who is not there', async () => {
    const file = await fileOf('tasks.csv', '_id,name,amount', 'c-1,One,"1,20,000.50"', 'c-2,Two,7');
    const tried = await run(`import ${file} --collection task --dry-run`);
    expect(tried.output).toMatch(/tried +2 +2 +0 +0 +0 +0\n[\s\S]*amount → amount/);
    expect(await count(`records where id like 'c-%'`)).toBe(0);
    expect((await run(`import ${file} --collection task`)).errors).toMatch(/Pass --yes to write/);
    const done = await run(`import ${file} --collection task --yes --json`);
    expect(JSON.parse(done.output)).toMatchObject({ state: 'done', counts: { rows: 2, created: 2 } });
    const { rows } = await school.sql.query(`select data->>'amount' as amount from records where id = 'c-1'`);
    expect(rows).toEqual([{ amount: '120000.5' }]);
  });

  it('undoes what it has written, when that is agreed to', async () => {
    const file = await fileOf('undone.csv', '_id,name', 'z-1,One', 'z-2,Two');
    const { id } = JSON.parse((await run(`import ${file} --collection task --yes --json`)).output);
    const { output } = await run(`import --undo ${id} --dry-run`);
    expect(output).toMatch(/removed +changed +brought back +changed later\n2 +0 +0 +0\n/);
    expect((await run(`import --undo ${id}`)).errors).toMatch(/Pass --yes/);
    expect(await count(`records where id like 'z-%' and deleted_at is null`)).toBe(2);
    expect((await run(`import --undo ${id} --yes`)).output).toMatch(/ undone /);
    expect(await count(`records where id like 'z-%' and deleted_at is null`)).toBe(0);
    const again = await run(`import --undo ${id} --yes`);
    expect({ code: again.code, errors: again.errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(/undone and cannot be undone/),
    });
  });

  it('ends where there is no room for the file, and goes on when there is', async () => {
    const rows = 4_000;
    const lines = Array.from({ length: rows }, (_, index) => `d-${index},${'x'.repeat(500)}`);
    const file = await fileOf('room.csv', '_id,name', ...lines);
    // No file that the command writes gets larger than 512 KiB: the disk is full for all that it can tell.
    const words = `import ${file} --collection task --mode rows --yes`;
    const full = startShell(`ulimit -f 512; exec "$0" "$1" ${words}`, { DATABASE_URL: school.url });
    const [code] = await once(full, 'exit');
    expect(code).toBe(1);
    const { rows: left } = await school.sql.query<{ id: string; state: string }>(
      `select id, state from imports where name = 'room.csv'`,
    );
    expect(left).toEqual([{ id: expect.any(String), state: 'received' }]);
    expect(await count(`records where id like 'd-%'`)).toBe(0);
    const done = await run(`import --resume ${left[0]?.id} --json`);
    expect(JSON.parse(done.output)).toMatchObject({ state: 'done', counts: { rows, created: rows } });
  });

  it('fails where a row is wrong, and writes nothing of the file', async () => {
    const file = await fileOf('wrong.csv', '_id,name,amount', 'w-1,One,1', 'w-2,Two,many');
    const { code, output } = await run(`import ${file} --collection task --yes`);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/why: 1 rows are wrong/) });
    expect(await count(`records where id like 'w-%'`)).toBe(0);
  });

  it('tells what is wrong with the rows, and keeps them in a file to be corrected', async () => {
    const file = await fileOf('faults.csv', '_id,name,amount', 'f-1,One,1', 'f-2,Two,many');
    const errors = path.join(school.directory, 'errors.csv');
    const outcomes = path.join(school.directory, 'outcomes.csv');
    const files = `--errors ${errors} --outcomes ${outcomes}`;
    const { output } = await run(`import ${file} --collection task --mode rows --dry-run ${files}`);
    expect(output).toMatch(/\nrow 3, amount: .*many.*\nall of them: /s);
    expect(await readFile(errors, 'utf8')).toMatch(/^_id,name,amount,error\r?\nf-2,Two,many,"?row 3: /);
    expect(await readFile(outcomes, 'utf8')).toMatch(
      /^row,outcome,fields,error,changes\r?\n2,create,,,\r?\n3,error,,"?amount: /,
    );
  });
});
