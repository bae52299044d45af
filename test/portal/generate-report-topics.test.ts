import { describe, expect, it } from '@jest/globals';
import { loadOperationsLibrary } from '../../src/portal/explore/operations-library.js';
import { generateReportTopics } from '../../src/portal/generate-report-forms.js';
import { reports } from '../../src/school/reports/registry.js';

describe('the topics of reports', () => {
  it('are known of every report', async () => {
    const topics = generateReportTopics(await loadOperationsLibrary('schema/operations'));
    expect(reports.map(({ field }) => field).filter((field) => topics[field] === undefined)).toEqual([]);
  });

  it('are those of the first example that asks for it, and none of what is no query', () => {
    const topics = generateReportTopics([
      { document: '{ dues { rows { name } } }', topic: 'Fees' },
      { document: 'query Two { dues { rows { name } } marks { rows { name } } }', topic: 'Results' },
      { document: 'fragment Row on Due { name }', topic: 'Data' },
    ]);
    expect(topics).toEqual({ dues: 'Fees', marks: 'Results' });
  });
});
