/**
 * The requests that the programs of docs/tutorials/spreadsheets.md make: those of Power Query and pandas as
 * they are read out of the text, that of Apps Script by running it, with Google's services played by a few
 * lines that ask by curl.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse as readCsv } from 'csv-parse/sync';
import type { DemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { readExamples } from './examples.js';
import { readProjectFile } from './project-files.js';

const PAGE = 'docs/tutorials/spreadsheets.md';
const SCOPES = { collections: { registration: ['read'] }, reports: ['*'] };

export function describeSpreadsheetPrograms(gateway: DemoGateway): void {
  const makeKey = async (): Promise<string> => {
    const { createApiKey } = await ask(
      gateway,
      'mutation ($scopes: JSON!) { createApiKey(data: {name: "sheet", scopes: $scopes}) { key } }',
      { variables: { scopes: SCOPES }, as: 'accountant' },
    );
    return createApiKey.key;
  };
  const get = async (address: string, accept?: string) => {
    const response = await fetch(new URL(address, gateway.url), {
      headers: { authorization: `Bearer ${await makeKey()}`, ...(accept !== undefined && { accept }) },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([address, response.status]).toEqual([address, 200]);
    return { bytes, rows: () => readCsv<Record<string, string>>(bytes, { columns: true, bom: true }) };
  };

  describe(PAGE, () => {
    it('has requests of Power Query that are answered with the columns it types', async () => {
      const text = blockWith('Web.Contents');
      const query = new URLSearchParams(pairsIn(/Query = \[([^\]]*)\]/.exec(text)?.[1] ?? ''));
      expect(text).toContain('Authorization = "Bearer " & Key');
      const typed = [...text.matchAll(/\{"(\w+)", (?:type number|Int64\.Type)\}/g)].map(([, name]) => name);
      expect(typed.length).toBeGreaterThan(1);
      for (const accept of [undefined, '*/*', 'text/html, application/xhtml+xml']) {
        const rows = (await get(`/?${query}`, accept)).rows();
        expect(rows.length).toBeGreaterThan(0);
        for (const name of typed)
          expect(rows.map((row) => Number(row[name ?? '']))).not.toContain(Number.NaN);
      }
    });

    it('has requests of records that Power Query makes', async () => {
      const [, path = '', query = ''] =
        /RelativePath = "([^"]*)", Query =\s*\[([^\]]*)\]/.exec(pageText()) ?? [];
      const rows = (await get(`/${path}?${new URLSearchParams(pairsIn(query))}`)).rows();
      expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(['_id', 'name', 'class']));
    });

    it('has a function of Apps Script that fills a sheet', async () => {
      const code = blockWith('UrlFetchApp').replace('https://school.example', gateway.url);
      // In a process of its own, since Google's fetch waits for its answer.
      const { stdout } = await promisify(execFile)(process.execPath, [
        '-e',
        `${GOOGLE}\n${code}\nrefreshStudents();`,
        await makeKey(),
      ]);
      const [headings, ...rows] = JSON.parse(stdout);
      expect(headings).toEqual(['_id', 'name', 'class', 'section', 'other fields']);
      expect(rows.length).toBeGreaterThan(20);
    });

    it('has requests of pandas that are answered with the columns it takes', async () => {
      const text = blockWith('pd.read_csv');
      const addresses = [...text.matchAll(/f"\{url\}([^"]*)"/g)].map(([, address]) => address ?? '');
      expect(addresses).toHaveLength(2);
      for (const address of addresses) {
        const answer = await get(address);
        if (address.includes('parquet')) {
          expect(answer.bytes.subarray(0, 4).toString()).toBe('PAR1');
          expect(answer.bytes.toString('latin1')).toMatch(/class[\s\S]*gender/);
        } else {
          expect(Object.keys(answer.rows()[0] ?? {})).toEqual(
            expect.arrayContaining(['Start', 'Receipts', 'Total']),
          );
        }
      }
      const lines = (await get('/o/recs/registration', 'application/x-ndjson')).bytes.toString();
      expect(JSON.parse(lines.split('\n')[0] ?? '')).toHaveProperty('name');
    });
  });
}

function blockWith(word: string): string {
  const found = readExamples(PAGE).find(({ code }) => code.includes(word));
  if (found === undefined) throw new Error(`${PAGE} has no block with ${word}`);
  return found.code;
}

function pageText(): string {
  return readProjectFile(PAGE).replaceAll('\n', ' ');
}

/** `report = "x", format = "csv"` as pairs. */
function pairsIn(text: string): [string, string][] {
  return [...text.matchAll(/(\w+) = "([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]);
}

/** What of Google's services the function uses. The table it makes is printed as JSON. */
const GOOGLE = `
const { execFileSync } = require('node:child_process');
const PropertiesService = {
  getScriptProperties: () => ({ getProperty: (name) => name === 'KEY' ? process.argv[1] : null }),
};
const UrlFetchApp = {
  fetch: (address, { headers }) => {
    const options = Object.entries(headers).flatMap(([name, value]) => ['-H', name + ': ' + value]);
    const text = execFileSync('curl', ['-sS', '--fail', ...options, address], { encoding: 'utf8' });
    return { getContentText: () => text };
  },
};
const Utilities = { parseCsv: (text) => require('csv-parse/sync').parse(text) };
const SpreadsheetApp = {
  getActiveSheet: () => ({
    clear() { return this; },
    getRange: (row, column, rows, columns) => ({
      setValues(values) {
        if (values.length !== rows || values[0].length !== columns) throw new Error('size');
        process.stdout.write(JSON.stringify(values));
      },
    }),
  }),
};`;
