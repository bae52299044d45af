import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { type AskableReport, restNameOf } from '../../src/portal/browser/reports/askable-report.js';
import { generateReportForms } from '../../src/portal/generate-report-forms.js';

const read = async (file: string) => await readFile(file, 'utf8');
const forms = generateReportForms(buildSchema(await read('schema/schema.graphql')));
const links: readonly {
  readonly report?: string;
  readonly columns: readonly string[];
  readonly when?: Readonly<Record<string, string>>;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}[] = JSON.parse(await read('src/portal/browser/reports/report-links.json'));

function columnsOf({ columns, totals }: AskableReport): readonly string[] {
  return [...columns, ...totals].flatMap(({ name, members }) => [name, ...members.map((one) => one.name)]);
}

/** The columns, the ids of the rows, and the parameters. */
function valuesOf(form: AskableReport): readonly string[] {
  const ids = form.document.match(/\b(?:\w+Id|id)\b/g) ?? [];
  return [...columnsOf(form), ...ids, ...form.parameters.map(({ name }) => name)];
}

describe('the links of reports', () => {
  it.each(links.map((link) => [JSON.stringify(link), link] as const))(
    '%s names what there is',
    (_text, link) => {
      const { report, columns, when = {}, to, search = {} } = link;
      const own = forms.filter(({ field }) => (report ?? field) === field);
      const known = new Set(own.flatMap(valuesOf));
      expect(columns.filter((name) => !own.some((form) => columnsOf(form).includes(name)))).toEqual([]);
      const texts = [to, ...Object.values(search)].join(' ');
      const used = [...texts.matchAll(/\{(\w+)\??\}/g)].map(([, name]) => name ?? '');
      expect([...used, ...Object.keys(when)].filter((name) => !known.has(name))).toEqual([]);
      if (to.startsWith('/')) return;
      const target = forms.find(({ field }) => field === to)?.parameters.map(({ name }) => name);
      expect(Object.keys(search).filter((name) => !target?.includes(name))).toEqual([]);
    },
  );
});

describe('the parameters of reports', () => {
  it.each(forms)('have names in REST: $field', async ({ field, parameters }) => {
    const { paths, components } = JSON.parse(await read('schema/openapi.json'));
    const { get } = paths[`/reports/${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`];
    const shared = (reference = '') => components.parameters[reference.slice(reference.lastIndexOf('/') + 1)];
    const known = (get.parameters as readonly { readonly name?: string; readonly $ref?: string }[]).map(
      ({ name, $ref }) => name ?? shared($ref).name,
    );
    expect(parameters.map(({ name }) => restNameOf(name)).filter((name) => !known.includes(name))).toEqual(
      [],
    );
  });
});
