import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { readCollections } from '../../../src/gateway/graphql/print-schema.js';
import { assertQueriesOf, readPrints } from '../../../src/school/prints/read-prints.js';
import { reports } from '../../../src/school/reports/registry.js';
import { readExamples } from '../../docs/examples.js';

const collections = await readCollections('schema/collections');
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'prints-'));
  await cp('schema/prints', folder, { recursive: true });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Declares the bonafide certificate with a change as a document of the school, and reads all of them. */
async function readWith(text: string | RegExp, replacement: string) {
  const document = await readFile('schema/prints/bonafide.liquid', 'utf8');
  const own = document.replace('name: bonafide', 'name: own').replace(text, replacement);
  await writeFile(path.join(folder, 'own.liquid'), own);
  return await readPrints(folder, { collections, reports });
}

describe('readPrints', () => {
  it('reads the documents of the school beside those that come with the gateway', async () => {
    const { list, partials } = await readWith('title: Bonafide certificate', 'title: Letter');
    const own = list.find(({ definition }) => definition.name === 'own');
    expect(own?.definition.title).toBe('Letter');
    expect(own?.rootFields).toEqual(['record']);
    expect(Object.keys(partials)).toContain('school');
  });

  it.each([
    ['collection: registration', 'collection: pupils', '/collection: there is no collection "pupils"'],
    ['pages: each', 'pages: some', '/pages: must be equal to one of the allowed values'],
    ['paper: A5', 'colour: red\npaper: A5', 'unknown key "colour"'],
    ['name: own', 'name: bonafide', '/name: "bonafide" is the name of another print'],
    ['pages: each', 'pages: each\nby: [klass]', '/by: registration has no field "klass"'],
    ['pages: each', 'pages: each\nreport: bus', '/report: there is no report "bus"'],
    ['query BonafideOnPaper', 'mutation BonafideOnPaper', '/query: it must have one operation, a query'],
    ['($id: ID!)', '($id: ID!, $day: LocalDate!)', '/query: nothing gives $day'],
    ['{{ today | day }}', '{{ today | daay }}', 'the template: undefined filter: daay'],
    ['{% if who.dob %}', '{% iff who.dob %}', 'the template: tag "iff" not found'],
    ['<p class="text">', '<p style="color: red">', 'the template: "style=" would be blocked'],
    ['<p class="text">', '<p><script>alert(1)</script>', 'the template: "<script" would be blocked'],
    [/^---/, '', 'the file: it must begin with a head'],
  ])('refuses %j as %j with the file, the place and the fault', async (text, replacement, fault) => {
    await expect(readWith(text, replacement)).rejects.toThrow(fault);
    await expect(readWith(text, replacement)).rejects.toThrow('schema/prints/own.liquid');
  });

  it('reads the document of the manual', async () => {
    const [{ code = '' } = {}] = readExamples('docs/prints.md').filter(
      ({ language }) => language === 'liquid',
    );
    await writeFile(path.join(folder, 'own.liquid'), code);
    const prints = await readPrints(folder, { collections, reports });
    expect(prints.list.map(({ definition }) => definition.name)).toContain('bus-pass');
    const served = buildSchema(await readFile('schema/schema.graphql', 'utf8'), { assumeValid: true });
    expect(() => assertQueriesOf(prints, served)).not.toThrow();
  });

  it('names the file whose query the schema does not allow', async () => {
    const prints = await readWith('title: Bonafide', 'title: Other');
    const served = buildSchema(await readFile('schema/schema.graphql', 'utf8'), { assumeValid: true });
    expect(() => assertQueriesOf(prints, served)).not.toThrow();
    const refuse = () => assertQueriesOf(prints, buildSchema('type Query { x(id: ID): Int }'));
    expect(refuse).toThrow(
      /^schema\/prints\/[a-z-]+\.liquid: \/query: Cannot query field "\w+" on type "Query"\.$/,
    );
  });
});
