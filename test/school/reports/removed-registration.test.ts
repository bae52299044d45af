/** A result outlives the registration of its student: the grade book of the class keeps the name. */
import { beforeAll, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import { classGradeBook } from '../../../src/school/reports/grade-book.js';
import { readText, scopeWith, useReports } from './use-reports.js';

const test = useReports('2026-11-20T06:00:00.000Z');

beforeAll(async () => {
  await test.insert('class', [{ _id: 'c5', name: '5', order: 5, sections: [{ name: 'A' }] }]);
  await test.insert('result', [
    {
      ...{ _id: 'r1', session: '2026-27', term: 'halfyear', admission_no: 'A-1', class: '5', section: 'A' },
      student: { value: 'gone', label: 'Asha Rao' },
      subjects: [{ subject: 'Hindi', components: [{ name: 'Written', max: 50, weight: 100, marks: 40 }] }],
    },
  ]);
});

it('shows the name on the result of a student whose registration is removed', async () => {
  const sent = { session: '2026-27', term: 'halfyear', class: '5' };
  const answer = (await classGradeBook.run(test.services, scopeWith(['admin']), sent)).answer({
    format: 'json',
  });
  const { rows } = JSON.parse(await readText(answer)) as { rows: JsonObject[] };
  expect(rows).toMatchObject([{ admissionNo: 'A-1', name: 'Asha Rao', rollNo: null, percent: 80 }]);
});
