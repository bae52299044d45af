import { beforeAll, describe, expect, it } from '@jest/globals';
import { queryOf } from '../../../src/base/model/record-query.js';
import type { Scope } from '../../../src/base/model/scope.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN, SUB, scopeOf } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore();
const SINCE = '2026-07-01T00:00:00.000Z';

/** Of each of two sections a record that is old, one changed at the instant, and one removed. */
beforeAll(async () => {
  const record = (id: string, section: string) => ({
    _id: id,
    number: id,
    name: id,
    class: '5',
    section,
    fee: 1,
  });
  const ids = (section: string) => ['changed', 'old', 'removed'].map((name) => `${name}-${section}`);
  const records = ['A', 'B'].flatMap((section) => ids(section).map((id) => record(id, section)));
  await test.store.create(ADMIN, 'student', records);
  const branch = scopeOf({ id: 'usr-branch', roles: ['admin'], domain: SUB });
  await test.store.create(branch, 'student', [{ _id: 'far', number: '1', name: 'far' }]);
  for (const id of ['removed-A', 'removed-B']) await test.store.delete(ADMIN, 'student', id);
  await test.database.query(sql`update records set updated_at = ${SINCE}::timestamptz`);
  await test.database.query(
    sql`update records set deleted_at = ${SINCE}::timestamptz where deleted_at is not null`,
  );
  await test.database.query(
    sql`update records set updated_at = '2026-06-30T23:59:59.999Z' where id like 'old-%'`,
  );
});

async function read(scope: Scope, section?: string): Promise<unknown[]> {
  const filter = { kind: 'equals', path: ['section'], value: section ?? '' } as const;
  const query = {
    ...queryOf('student'),
    ...(section !== undefined && { filter }),
    projection: [['name'], ['fee']],
  };
  const set = test.store.find(scope, query);
  let text = '';
  const stream = set.streamChanges(SINCE, { format: 'ndjson', signal: undefined });
  for await (const chunk of stream) text += chunk.toString();
  const lines = text.split('\n').slice(0, -1);
  expect(stream.rowCount).toBe(lines.length);
  expect(await set.countChanges(SINCE)).toBe(lines.length);
  return lines.map((line) => JSON.parse(line));
}

describe('what changed since an instant', () => {
  it('is the records of the domain written then or later, and the tombstones', async () => {
    expect(await read(ADMIN)).toEqual([
      { _id: 'changed-A', name: 'changed-A', fee: 1 },
      { _id: 'changed-B', name: 'changed-B', fee: 1 },
      { _id: 'removed-A', $removed: SINCE },
      { _id: 'removed-B', $removed: SINCE },
    ]);
  });

  it('leaves out hidden fields, and rows out of reach, removed ones too', async () => {
    const attributes = { sectionsTaught: [['5', 'B']] };
    expect(await read(scopeOf({ roles: ['teacher'], attributes }))).toEqual([
      { _id: 'changed-B', name: 'changed-B' },
      { _id: 'removed-B', $removed: SINCE },
    ]);
  });

  it('is narrowed by a filter', async () => {
    expect(await read(ADMIN, 'A')).toEqual([
      { _id: 'changed-A', name: 'changed-A', fee: 1 },
      { _id: 'removed-A', $removed: SINCE },
    ]);
  });

  it('is ended by its signal', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    const set = test.store.find(ADMIN, queryOf('student'));
    const stream = set.streamChanges(SINCE, { format: 'ndjson', signal: stopped });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('stopped');
  });
});
