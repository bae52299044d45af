import { describe, expect, it } from '@jest/globals';
import { reports } from '../../src/reports/registry.js';
import { REPORT_COLLECTIONS } from '../../src/reports/report-collections.js';
import { ADMIN, scopeOf, useTwelveStudents } from '../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

describe('the collections of reports', () => {
  it.each(reports.map((report) => [report.name, report] as const))(
    '%s reads those listed, and no other',
    async (name, report) => {
      const { text } = await report.statement(school.services, scopeOf(ADMIN), report.example);
      const named = [...text.matchAll(/\bcollection = '([a-z_]+)'/g)].map(([, collection]) => collection);
      expect(REPORT_COLLECTIONS[name]).toEqual([...new Set(named)].sort());
    },
  );
});
