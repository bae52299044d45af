/** The starters of docs/examples that need no browser, as they stand there, against the demo school. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { DEMO_TODAY, useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { readProjectFile } from './project-files.js';

const gateway = useDemoGateway({ students: 240 });
let key = '';

beforeAll(async () => {
  const made = await ask(
    gateway,
    'mutation { createApiKey(data: {name: "starters", access: {preset: READ_ONLY}}) { key } }',
  );
  key = made.createApiKey.key;
});

async function run(program: string, parameters: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, parameters, {
    env: { ...process.env, CAMPUS_URL: gateway.url, CAMPUS_KEY: key, ...env },
  });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { output, errors, code };
}

/** What a program of this machine answers to a question about itself; `undefined`: it is not there. */
function answers(program: string, parameters: readonly string[]): boolean {
  try {
    execFileSync(program, parameters, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A test for machines that have what it needs; elsewhere its name says for want of what it is skipped. */
function itWith(what: string, isThere: boolean, name: string, test: () => Promise<void>): void {
  if (isThere) it(name, test);
  else it.skip(`${name} (skipped: there is no ${what})`, test);
}

describe('the legacy client in Python', () => {
  const isThere = answers('python3', ['--version']);
  const PROGRAM = 'docs/examples/python/fee_defaulters.py';
  const env = { CAMPUS_USER: 'admin', CAMPUS_PASSWORD: 'demo-admin', CAMPUS_TODAY: DEMO_TODAY };

  itWith('python3', isThere, 'prints who owes fees, the largest balance first', async () => {
    const { output, errors, code } = await run('python3', [PROGRAM, '5'], env);
    const [head, ...rows] = output.trim().split(/\r?\n/);
    expect([code, head]).toEqual([0, 'admission no,name,phone,months due,balance']);
    const { feeDefaulters } = await ask(
      gateway,
      `{ feeDefaulters(startMonth: "2026-04", endMonth: "2026-11", class: "5") {
        rows { admissionNo balance } totals { balance }
      } }`,
    );
    const balances = rows.map((row) => Number(row.split(',').at(-1)));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map((row) => row.split(',')[0]).sort()).toEqual(
      feeDefaulters.rows.map(({ admissionNo }: { admissionNo: string }) => admissionNo).sort(),
    );
    expect(balances).toEqual([...balances].sort((one, other) => other - one));
    expect(rows.every((row) => /^[^,]+,[^,]+,\+?\d/.test(row))).toBe(true);
    expect(errors).toContain(`${rows.length} students owe ${feeDefaulters.totals.balance}`);
  });

  itWith('python3', isThere, 'says what is wrong', async () => {
    const wrong = await run('python3', [PROGRAM, '5'], { ...env, CAMPUS_PASSWORD: 'wrong' });
    expect([wrong.code, wrong.output]).toEqual([1, '']);
    expect(wrong.errors).toMatch(/password/);
    const unknown = await run('python3', [PROGRAM, 'none'], env);
    expect(unknown.errors).toMatch(/none.*\(request [\w-]+\)/s);
  });
});

describe('the lines for pandas and R', () => {
  const hasPandas = answers('python3', ['-c', 'import pandas, pyarrow']);
  itWith('pandas with pyarrow', hasPandas, 'print the collection of a month, and the students', async () => {
    const { output, code } = await run('python3', ['docs/examples/data/collection_trend.py', '2026-11']);
    expect(code).toBe(0);
    expect(output).toContain('2026-11-02');
    expect(output).toMatch(/female +male/);
  });

  itWith('R', answers('Rscript', ['--version']), 'of R print the same', async () => {
    const { output, code } = await run('Rscript', ['docs/examples/data/collection_trend.R', '2026-11']);
    expect(code).toBe(0);
    expect(output).toContain('2026-11-02');
    expect(output).toMatch(/female +male/);
  });

  it('ask for what is there: each address answers as a table with the columns that are named', async () => {
    for (const file of ['collection_trend.py', 'collection_trend.R']) {
      const source = readProjectFile(`docs/examples/data/${file}`);
      const paths = source.match(/\/(?:reports|o\/recs)\/[\w-]+\?format=(?:csv|parquet)/g) ?? [];
      expect([file, paths.length]).toEqual([file, 2]);
      for (const address of paths) {
        const answer = await gateway.fetch(address.replace('parquet', 'csv'), {
          headers: { authorization: `Bearer ${key}` },
        });
        const [head = ''] = (await answer.text()).split(/\r?\n/);
        const columns = address.includes('trend') ? ['Start', 'Receipts', 'Total'] : ['class', 'gender'];
        expect([file, answer.status, head.split(',')]).toEqual([file, 200, expect.arrayContaining(columns)]);
      }
    }
  });
});

describe('the spreadsheet of Apps Script', () => {
  /** A small Google around the script: a spreadsheet in memory, and a fetch that waits, by curl. */
  const HOST = `
    import { execFileSync } from 'node:child_process';
    import { readFileSync } from 'node:fs';
    import vm from 'node:vm';
    const sheets = {};
    const book = {
      getSheetByName: (name) => sheets[name] && sheetOf(name),
      insertSheet: (name) => ((sheets[name] = []), sheetOf(name)),
    };
    const sheetOf = (name) => ({
      clearContents: () => void (sheets[name] = []),
      getRange: (row, column, rows, columns) => ({
        setValues: (cells) => {
          if (row !== 1 || column !== 1 || cells.length !== rows) throw new Error('rows');
          if (cells.some((line) => line.length !== columns)) throw new Error('columns');
          sheets[name] = cells;
        },
      }),
    });
    let asked = 0;
    const UrlFetchApp = {
      fetch: (url, { headers }) => {
        asked += 1;
        const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', name + ': ' + value]);
        const answer = execFileSync('curl', ['-s', '-i', ...sent, url], { maxBuffer: 1e8 }).toString();
        const end = answer.indexOf('\\r\\n\\r\\n');
        const [status, ...lines] = answer.slice(0, end).split('\\r\\n');
        const pairs = lines.map((line) => line.split(/: (.*)/s).slice(0, 2));
        return {
          getResponseCode: () => Number(status.split(' ')[1]),
          getHeaders: () => Object.fromEntries(pairs),
          getContentText: () => answer.slice(end + 4),
        };
      },
    };
    const properties = { CAMPUS_URL: process.env.CAMPUS_URL, CAMPUS_KEY: process.env.CAMPUS_KEY };
    const google = {
      UrlFetchApp,
      PropertiesService: { getScriptProperties: () => ({ getProperties: () => properties }) },
      SpreadsheetApp: { getActiveSpreadsheet: () => book },
    };
    const file = 'docs/examples/apps-script/Code.js';
    const code = readFileSync(file, 'utf8').replace('limit: 500', 'limit: 100');
    const script = vm.createContext(google);
    vm.runInContext(code, script);
    try {
      vm.runInContext('refresh()', script);
      vm.runInContext('refresh()', script);
      console.log(JSON.stringify({ sheets, asked }));
    } catch (error) {
      console.log(JSON.stringify({ error: error.message }));
    }`;

  async function refresh(env: NodeJS.ProcessEnv = {}) {
    const host = path.resolve('node_modules/.cache/apps-script-host.mjs');
    await writeFile(host, HOST);
    const { output, errors } = await run(process.execPath, [host], env);
    expect(errors).toBe('');
    return JSON.parse(output);
  }

  it('has all students, read page by page, and what was collected', async () => {
    const { sheets, asked } = await refresh();
    const { registrations } = await ask(
      gateway,
      '{ registrations(where: {status: {equals: ACTIVE}}, first: 1) { totalCount } }',
    );
    const [head, ...students] = sheets.Students;
    expect(head).toEqual(['sequence', 'name', 'class', 'section', 'roll_no']);
    expect(students).toHaveLength(registrations.totalCount);
    expect(new Set(students.map(([sequence]: readonly string[]) => sequence)).size).toBe(students.length);
    expect(asked).toBe(2 * (Math.ceil(students.length / 100) + 1));
    const [, ...days] = sheets.Collection;
    expect(days.length).toBeGreaterThan(0);
    expect(days[0]).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      expect.any(Number),
      expect.any(Number),
    ]);
  });

  it('says what the gateway refuses', async () => {
    expect((await refresh({ CAMPUS_KEY: 'none' })).error).toMatch(/^\S.*: \S/);
  });
});

describe('the dashboard of Grafana', () => {
  const { panels, templating } = JSON.parse(readProjectFile('docs/examples/grafana/dashboard.json'));
  const { datasources } = parse(readProjectFile('docs/examples/grafana/datasource.yaml'));
  const [source] = datasources;
  const [address] = templating.list;

  interface Target {
    readonly type: string;
    readonly url: string;
    readonly root_selector: string;
    readonly url_options: {
      readonly method: string;
      readonly params: readonly { key: string; value: string }[];
    };
    readonly columns: readonly { readonly selector: string; readonly type: 'number' | 'string' }[];
  }
  interface Panel {
    readonly title: string;
    readonly datasource: { readonly uid: string; readonly type: string };
    readonly targets: readonly Target[];
  }

  it('asks the source that is provided beside it, for an address that the source may ask', () => {
    for (const { datasource } of panels as readonly Panel[])
      expect(datasource).toEqual({ type: source.type, uid: source.uid });
    expect(source.jsonData).toEqual({ auth_method: 'bearerToken', allowedHosts: [address.query] });
  });

  it.each((panels as readonly Panel[]).map((panel) => [panel.title, panel] as const))(
    'shows in "%s" what the gateway answers to a key for reports',
    async (_title, { targets }) => {
      const { createApiKey } = await ask(
        gateway,
        'mutation { createApiKey(data: {name: "Grafana", access: {preset: REPORTS}}) { key } }',
      );
      const days: Readonly<Record<string, string>> = { from: '2026-11-01', to: DEMO_TODAY };
      for (const { type, url, url_options: options, root_selector: root, columns } of targets) {
        const query = options.params.map(({ key: name, value }): [string, string] => {
          const [, bound = ''] = /^\$\{__(from|to):date:YYYY-MM-DD\}$/.exec(value) ?? [];
          return [name, days[bound] ?? value];
        });
        const target = url.replace('$'.concat('{address}'), '');
        const answer = await gateway.fetch(`${target}?${new URLSearchParams(query)}`, {
          method: options.method,
          headers: { authorization: `Bearer ${createApiKey.key}` },
        });
        const rows = [JSON.parse(await answer.text())[root]].flat();
        expect([type, answer.status, rows.length > 0]).toEqual(['json', 200, true]);
        for (const { selector, type: kind } of columns)
          expect([selector, typeof rows[0][selector]]).toEqual([selector, kind]);
      }
    },
  );
});
