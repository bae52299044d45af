import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { declaredTemplate } from '../declared-template.js';
import type { Ended } from './campus.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

let database: TestDatabase;
let directory = '';

beforeAll(async () => {
  database = await createTestDatabase({ template: declaredTemplate });
  directory = await mkdtemp(path.join(tmpdir(), 'campus-report-'));
  const seeded = await run('seed --students 36 --today 2026-07-15');
  if (seeded.code !== 0) throw new Error(seeded.errors);
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await database.drop();
});

function run(words: string): Promise<Ended> {
  return campus(words.split(' '), { environment: { DATABASE_URL: database.url } });
}

describe('campus report', () => {
  it('refuses a report there is not, and suggests one', async () => {
    const { code, errors } = await run('report fee-sumary --type month');
    expect(code).toBe(1);
    expect(errors).toMatch(/fee-summary/);
  });

  it('refuses without a parameter that is required, and names it', async () => {
    const { code, errors } = await run('report fee-defaulters --start-month 2026-04');
    expect(code).toBe(1);
    expect(errors).toMatch(/--end-month/);
  });

  it('refuses a value that is none, and says what is', async () => {
    const { code, output, errors } = await run('report fee-summary --type week');
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(/type.*week.*month, head/);
  });

  it.each([
    ['--json --csv', /'--json' cannot be used with option '--csv'/],
    ['--csv --json', /'--json' cannot be used with option '--csv'/],
    ['--xlsx strength.xlsx --csv', /'--csv' cannot be used with option '--xlsx/],
    ['--sql --json', /'--json' cannot be used with option '--sql'/],
  ])('refuses two formats at once: %s', async (options, message) => {
    const { code, output, errors } = await run(`report strength ${options}`);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(message);
  });

  it('refuses a file that cannot be written', async () => {
    const { code, errors } = await run(`report strength --xlsx ${directory}/none/strength.xlsx`);
    expect(code).toBe(1);
    expect(errors).toMatch(/--xlsx .*no such file/);
  });

  it('prints a table with its totals', async () => {
    const { code, output } = await run('report fee-summary --type month');
    expect(code).toBe(0);
    const lines = output.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^Month +Fee head +Demand/);
    // Twelve months and the totals.
    expect(lines).toHaveLength(14);
    expect(lines[1]).toMatch(/^2026-04 /);
  });

  it('leaves lists within rows out of the table, and says which', async () => {
    const { code, output } = await run('report fee-defaulters --start-month 2026-04 --end-month 2026-07');
    expect(code).toBe(0);
    const lines = output.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^Student id .*Last receipt amount$/);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines.slice(0, -1)) expect(line).not.toContain('Tuition');
    expect(lines.at(-1)).toBe(
      'not shown here, for they are lists: Breakdown; --json has them, --csv in one cell',
    );
    const csv = await run('report fee-defaulters --start-month 2026-04 --end-month 2026-07 --csv');
    expect(csv.output).toContain('Tuition');
  });

  it('refuses a class that does not exist, and says which do', async () => {
    const { code, errors } = await run('report outstanding-ageing --class 13');
    expect(code).toBe(1);
    expect(errors).toMatch(/There is no class "13".*Expected one of .*, 12/s);
  });

  it('takes an admission number by its former name too', async () => {
    expect((await run('report student --sequence nobody')).errors).toMatch(/There is no student/);
  });

  it('prints JSON, CSV, and the statement', async () => {
    const json = JSON.parse((await run('report fee-summary --type head --json')).output);
    expect(json).toMatchObject({ report: 'fee-summary', parameters: { type: 'head' }, warnings: [] });
    expect((await run('report strength --csv')).output).toMatch(/^[^\r\n]*Class[^\r\n]*\r\n/);
    expect((await run('report strength --sql')).output).toMatch(/^\s*with /);
  });

  it('writes a spreadsheet', async () => {
    const file = path.join(directory, 'strength.xlsx');
    expect(await run(`report strength --xlsx ${file}`)).toMatchObject({ code: 0, output: `wrote ${file}\n` });
    expect((await readFile(file)).subarray(0, 2).toString()).toBe('PK');
  });

  it('reports on a branch', async () => {
    const school = JSON.parse((await run('report strength --json')).output);
    const branch = JSON.parse((await run('report strength --json --domain demo-north')).output);
    expect(branch.totals).not.toEqual(school.totals);
  });
});
