import { describe, expect, it } from '@jest/globals';
import type { SentParameters } from '../../../src/school/reports/engine/parameters.js';
import type { Report } from '../../../src/school/reports/engine/report.js';
import { reports } from '../../../src/school/reports/registry.js';
import { ADMIN, scopeOf, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

/** Whom an example is about must be there. */
const PRESENT: ReadonlyMap<unknown, string> = new Map([
  ['GV-01042', 'A-101'],
  ['usr-teacher', 'usr-accountant'],
]);

/** What is kept in step with records is read for them. */
const MADE_FROM: readonly (readonly [table: RegExp, collections: readonly string[]])[] = [
  [/\bfrom fee_months\b/, ['fee_due', 'fee_receipt']],
  [/\bfrom collected_receipts\b/, ['fee_receipt']],
  [/\bfrom attendance_months\b/, ['attendance']],
];

function exampleOf({ example }: Report): SentParameters {
  return Object.fromEntries(Object.entries(example).map(([name, sent]) => [name, PRESENT.get(sent) ?? sent]));
}

describe('the collections of reports', () => {
  it.each(reports.map((report) => [report.name, report] as const))(
    '%s reads those listed, and no other',
    async (_, report) => {
      const run = await report.run(school.services, scopeOf(ADMIN), exampleOf(report));
      const { text } = run.statement;
      const named = [...text.matchAll(/\bcollection = '([a-z_]+)'/g)].map(([, collection]) => collection);
      const kept = MADE_FROM.flatMap(([table, collections]) => (table.test(text) ? collections : []));
      expect(report.reads).toEqual([...new Set([...named, ...kept])].sort());
    },
  );
});
