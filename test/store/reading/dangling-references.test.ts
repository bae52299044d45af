import { describe, expect, it } from '@jest/globals';
import { listDanglingReferences } from '../../../src/store/reading/dangling-references.js';
import { sql } from '../../../src/store/sql.js';
import { useTestStore } from '../store.js';

const test = useTestStore([
  {
    name: 'shelf',
    fields: [
      { name: 'of', type: 'reference', target: ['shelf', 'staff'], mustExist: false },
      {
        name: 'rows',
        type: 'object',
        list: true,
        fields: [{ name: 'book', type: 'reference', target: 'shelf', list: true }],
      },
    ],
  },
  {
    name: 'loan',
    fields: [
      { name: 'kind', type: 'text' },
      { name: 'of', type: 'reference', target: ['shelf', 'staff'] },
    ],
    checks: [{ kind: 'when', field: 'kind', is: ['book'], holds: { field: 'of', target: 'shelf' } }],
  },
]);

describe('what points at nothing', () => {
  it('is counted by field, with the first records that hold it', async () => {
    await test.database.query(sql`
      insert into records (domain, collection, id, data, deleted_at) values
        ('school', 'shelf', 'a', '{"of": {"value": "a"}, "rows": [{"book": [{"value": "a"}, {"value": "x"}]}, {"book": [{"value": "gone"}]}]}',
          null),
        ('school', 'shelf', 'b', '{"of": {"value": "elsewhere"}, "rows": "none"}', null),
        ('school', 'shelf', 'gone', '{"of": {"value": "y"}}', now()),
        ('school', 'loan', 'book', '{"kind": "book", "of": {"value": "a"}}', null),
        ('school', 'loan', 'person', '{"kind": "book", "of": {"value": "usr-1"}}', null),
        ('school', 'loan', 'other', '{"kind": "other", "of": {"value": "usr-1"}}', null),
        ('school', 'staff', 'usr-1', '{}', null),
        ('branch', 'shelf', 'elsewhere', '{}', null)`);
    expect(await listDanglingReferences(test, 'school')).toEqual([
      {
        ...{ collection: 'loan', field: 'of', targets: ['shelf', 'staff'], onDelete: 'refuse' },
        ...{ count: 1, removed: 0, examples: ['person'] },
      },
      {
        ...{ collection: 'shelf', field: 'of', targets: ['shelf', 'staff'], onDelete: 'keep' },
        ...{ count: 1, removed: 0, examples: ['b'] },
      },
      {
        ...{ collection: 'shelf', field: 'rows.book', targets: ['shelf'], onDelete: 'refuse' },
        ...{ count: 2, removed: 1, examples: ['a'] },
      },
    ]);
    expect(await listDanglingReferences(test, 'branch')).toEqual([]);
  });
});
