/** Conditions on the records that references point to, under the asker's rights. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Filter } from '../../src/base/model/filter.js';
import { queryOf } from '../../src/base/model/record-query.js';
import type { Scope } from '../../src/base/model/scope.js';
import { sql } from '../../src/store/sql.js';
import { ADMIN, SUB, scopeOf } from './people.js';
import { useTestStore } from './store.js';

const test = useTestStore();
const VIEWER = scopeOf({ id: 'usr-viewer', roles: ['viewer'] });
const TEACHER = scopeOf({
  id: 'st-2',
  roles: ['teacher'],
  attributes: { sectionsTaught: [['5', 'A']] },
});
const READER = scopeOf({ id: 'usr-reader', roles: ['reader_of_all'] });
const BRANCH_ADMIN = scopeOf({ id: 'usr-branch', roles: ['admin'], domain: SUB });

const tutorWhere = (filter: Filter): Filter => ({
  kind: 'record',
  path: ['tutor'],
  collection: 'staff',
  filter,
});
const SCIENCE: Filter = tutorWhere({ kind: 'equals', path: ['department'], value: 'Science' });

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.store.create(ADMIN, 'staff', [
    { _id: 'st-1', name: 'Meera', department: 'Science' },
    { _id: 'st-2', name: 'Ravi', department: 'Science' },
    { _id: 'st-3', name: 'Sita', department: 'Arts' },
  ]);
  const students = ['st-1', 'st-2', 'st-3', 'st-9'].map((tutor, index) => ({
    _id: `s-${index + 1}`,
    number: `n-${index + 1}`,
    name: 'S',
    class: '5',
    section: 'A',
    tutor,
  }));
  await test.store.create(ADMIN, 'student', [
    ...students,
    { _id: 's-5', number: 'n-5', name: 'S', class: '5', section: 'A' },
  ]);
});

async function idsOf(scope: Scope, filter: Filter): Promise<string[]> {
  const page = await test.store.find(scope, { ...queryOf('student'), filter }).page();
  return page.records.map((record) => record.id);
}

describe('a condition on the record a reference points to', () => {
  it('is refused where the asker may not read that collection', () => {
    expect(() => test.store.find(READER, { ...queryOf('student'), filter: SCIENCE })).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN', message: 'you may not read records of staff' }),
    );
  });

  it('is refused on a field hidden there, wherever it stands', () => {
    const byName = tutorWhere({ kind: 'startsWith', path: ['name'], text: 'M' });
    const filters: Filter[] = [
      byName,
      { kind: 'not', filter: byName },
      { kind: 'any', filters: [{ kind: 'all', filters: [] }, byName] },
    ];
    for (const filter of filters) {
      expect(() => test.store.find(VIEWER, { ...queryOf('student'), filter })).toThrow(
        expect.objectContaining({
          code: 'FORBIDDEN',
          message: 'you may not read "name" of staff, so you may not filter or sort by it',
        }),
      );
    }
  });

  it('is refused on a reference that is hidden itself', () => {
    const hidden: Filter = { kind: 'record', path: ['fee'], collection: 'staff', filter: SCIENCE };
    expect(() => test.store.find(VIEWER, { ...queryOf('student'), filter: hidden })).toThrow(
      /"fee" of student/,
    );
  });

  it('finds what points to such a record', async () => {
    expect(await idsOf(ADMIN, SCIENCE)).toEqual(['s-1', 's-2']);
    expect(await idsOf(VIEWER, SCIENCE)).toEqual(['s-1', 's-2']);
    expect(await idsOf(ADMIN, { kind: 'not', filter: SCIENCE })).toEqual(['s-3', 's-4', 's-5']);
    expect(await idsOf(ADMIN, tutorWhere({ kind: 'all', filters: [] }))).toEqual(['s-1', 's-2', 's-3']);
  });

  it('takes a record out of reach, removed, or of another domain for none', async () => {
    expect(await idsOf(TEACHER, SCIENCE)).toEqual(['s-2']);
    await test.store.delete(ADMIN, 'staff', 'st-1');
    expect(await idsOf(ADMIN, SCIENCE)).toEqual(['s-2']);
    await test.store.create(BRANCH_ADMIN, 'student', [
      { number: 'b', name: 'B', class: '5', section: 'A', tutor: 'st-2' },
    ]);
    expect(await idsOf(BRANCH_ADMIN, SCIENCE)).toEqual([]);
  });

  it('chooses what is changed and removed, too', async () => {
    const update = { filter: SCIENCE, update: [{ kind: 'set', path: ['phone'], value: '1' }] } as const;
    expect(await test.store.updateMatching(ADMIN, 'student', update)).toEqual({ matched: 2, modified: 2 });
    expect(await test.store.deleteMatching(ADMIN, 'student', { filter: SCIENCE })).toEqual({ deleted: 2 });
    expect(await idsOf(ADMIN, { kind: 'all', filters: [] })).toEqual(['s-3', 's-4', 's-5']);
  });

  it('counts and pages as any other', async () => {
    const set = test.store.find(ADMIN, { ...queryOf('student'), filter: SCIENCE, limit: 1 });
    const page = await set.page();
    expect([await set.count(), page.hasNextPage]).toEqual([2, true]);
    const [after] = page.cursors;
    const next = await test.store
      .find(ADMIN, { ...queryOf('student'), filter: SCIENCE, limit: 1, after })
      .page();
    expect(next.records.map((record) => record.id)).toEqual(['s-2']);
  });
});
