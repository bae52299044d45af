import { describe, expect, it } from '@jest/globals';
import { loadOperationsLibrary } from '../../src/portal/explore/operations-library.js';
import { topicsByField } from '../../src/portal/generate-report-topics.js';
import { reports } from '../../src/school/reports/registry.js';

describe('the topics of reports', () => {
  it('are known of every report', async () => {
    const topics = topicsByField(await loadOperationsLibrary('schema/operations'));
    expect(reports.filter(({ field }) => !topics.has(field)).map(({ field }) => field)).toEqual([]);
  });

  it('are those of the first example that asks for it, and none of what is no query', () => {
    const topics = topicsByField([
      { document: '{ dues { rows { name } } }', topic: 'Fees' },
      { document: 'query Two { dues { rows { name } } marks { rows { name } } }', topic: 'Results' },
      { document: 'fragment Row on Due { name }', topic: 'Data' },
    ]);
    expect([...topics]).toEqual([
      ['dues', 'Fees'],
      ['marks', 'Results'],
    ]);
  });
});
