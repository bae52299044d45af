import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ErrorCode } from '../../src/base/errors.js';
import { ExactNumber, type JsonObject, printExactJson } from '../../src/base/json/json.js';
import type { Filter } from '../../src/base/model/filter.js';
import { queryOf } from '../../src/base/model/record-query.js';
import { type Scope, systemPrincipal } from '../../src/base/model/scope.js';
import { RecordStore } from '../../src/store/record-store.js';
import { type Sql, sql } from '../../src/store/sql.js';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { ADMIN, SUB, scopeOf, TOP } from './people.js';
import { dataOf, useTestStore } from './store.js';

/** The collection whose records are the callers. */
const USER = { name: 'pltf_user', fields: [{ name: 'name', type: 'text' as const }] };
const test = useTestStore([USER]);
const CLERK = scopeOf({ id: 'usr-clerk', roles: ['clerk'] });
const VIEWER = scopeOf({ id: 'usr-viewer', roles: ['viewer'] });
const TEACHER = scopeOf({
  id: 'usr-teacher',
  roles: ['teacher'],
  attributes: { sectionsTaught: [['5', 'A']] },
});
const BRANCH_ADMIN = scopeOf({ id: 'usr-branch', roles: ['admin'], domain: SUB });

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.database.query(sql`delete from audit_entries`);
});

let count = 0;
function student(fields: JsonObject = {}): JsonObject {
  count += 1;
  return { number: `n-${count}`, name: `Student ${count}`, class: '5', section: 'A', ...fields };
}

async function add(fields: JsonObject = {}, scope: Scope = ADMIN, collection = 'student') {
  const [record] = await test.store.create(scope, collection, [
    collection === 'student' ? student(fields) : fields,
  ]);
  if (record === undefined) throw new Error('nothing was created');
  return record;
}

async function expectRefusal(work: Promise<unknown>, code: ErrorCode, message?: string | RegExp) {
  await expect(work).rejects.toMatchObject({
    code,
    ...(message === undefined ? {} : { message: expect.stringMatching(message) }),
  });
}

async function idsOf(scope: Scope, filter: Filter): Promise<string[]> {
  const page = await test.store.find(scope, { ...queryOf('student'), filter }).page();
  return page.records.map((record) => record.id);
}

async function auditOf(id: string) {
  const entries = await test.store.auditTrail(ADMIN, { recordId: id, limit: 10 });
  return entries.map((entry) => [entry.operation, entry.fromVersion, entry.toVersion, entry.principal]);
}

describe('a record of another domain', () => {
  it('is NOT_FOUND by its id, for reading and for writing', async () => {
    const { id } = await add();
    await expectRefusal(test.store.get(BRANCH_ADMIN, 'student', id), 'NOT_FOUND');
    await expectRefusal(
      test.store.update(BRANCH_ADMIN, 'student', id, { data: { class: '6' }, mode: 'merge' }),
      'NOT_FOUND',
    );
    await expectRefusal(
      test.store.update(BRANCH_ADMIN, 'student', id, { data: student(), mode: 'replace' }),
      'NOT_FOUND',
    );
    await expectRefusal(test.store.delete(BRANCH_ADMIN, 'student', id), 'NOT_FOUND');
    expect((await test.store.get(ADMIN, 'student', id)).version).toBe(1);
  });

  it('is found by no filter', async () => {
    const { id } = await add();
    expect(await idsOf(BRANCH_ADMIN, { kind: 'equals', path: ['_id'], value: id })).toEqual([]);
    expect(await idsOf(BRANCH_ADMIN, { kind: 'any', filters: [{ kind: 'exists', path: ['name'] }] })).toEqual(
      [],
    );
    expect(await idsOf(BRANCH_ADMIN, { kind: 'not', filter: { kind: 'exists', path: ['nothing'] } })).toEqual(
      [],
    );
    expect(await test.store.find(BRANCH_ADMIN, queryOf('student')).count()).toBe(0);
  });

  it('gives no label to a reference', async () => {
    await add({ _id: 'usr-1', name: 'Usha' }, ADMIN, 'staff');
    const mine = await add({ tutor: 'usr-1' }, BRANCH_ADMIN);
    expect(dataOf(mine).tutor).toEqual({ value: 'usr-1' });
  });

  it('does not take an id or a unique value', async () => {
    await add({ _id: 's-1', number: 'n' });
    await expect(add({ _id: 's-1', number: 'n' }, BRANCH_ADMIN)).resolves.toMatchObject({ id: 's-1' });
  });
});

describe('a hidden field', () => {
  it('is not shown, projected or given back', async () => {
    const { id } = await add({ fee: 100, phone: '98' });
    expect(dataOf(await test.store.get(VIEWER, 'student', id))).not.toHaveProperty('phone');
    expect(dataOf(await test.store.get(VIEWER, 'student', id, [['phone'], ['name']]))).toEqual({
      _id: id,
      name: expect.any(String),
    });
    const updated = await test.store.update(CLERK, 'student', id, { data: { phone: '99' }, mode: 'merge' });
    expect(dataOf(updated)).toMatchObject({ phone: '99' });
    expect(updated.json).not.toContain('fee');
    expect((await test.store.delete(CLERK, 'student', id)).json).not.toContain('fee');
  });

  it('is refused by name in a filter and in an order', () => {
    const filters: Filter[] = [
      { kind: 'equals', path: ['phone'], value: '98' },
      { kind: 'not', filter: { kind: 'all', filters: [{ kind: 'exists', path: ['phone'] }] } },
      { kind: 'any', filters: [{ kind: 'element', path: ['phone'], filter: { kind: 'all', filters: [] } }] },
      { kind: 'isNull', path: ['phone', 'x'] },
    ];
    for (const filter of filters) {
      expect(() => test.store.find(VIEWER, { ...queryOf('student'), filter })).toThrow(
        expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('"phone"') }),
      );
    }
    const sort = [{ path: ['phone'], direction: 'ascending' as const }];
    expect(() => test.store.find(VIEWER, { ...queryOf('student'), sort })).toThrow('"phone"');
  });

  it('may not be set, and outlives a replace by who does not see it', async () => {
    const { id } = await add({ fee: 100 });
    await expectRefusal(add({ fee: 1 }, CLERK), 'FORBIDDEN', 'fee');
    await expectRefusal(
      test.store.update(CLERK, 'student', id, { data: { fee: null }, mode: 'merge' }),
      'FORBIDDEN',
      'fee',
    );
    await test.store.update(CLERK, 'student', id, { data: { number: 'x', name: 'Y' }, mode: 'replace' });
    const stored = dataOf(await test.store.get(ADMIN, 'student', id));
    expect(stored).toMatchObject({ number: 'x', name: 'Y', fee: new ExactNumber('100'), status: 'active' });
    expect(stored).not.toHaveProperty('class');
    expect(stored).toHaveProperty('created_on');
  });

  it('gives no label to a reference', async () => {
    await add({ _id: 'usr-1', name: 'Usha' }, ADMIN, 'staff');
    const reader = scopeOf({ roles: ['viewer', 'writer'] });
    expect(dataOf(await add({ tutor: 'usr-1' }, reader)).tutor).toEqual({ value: 'usr-1' });
  });
});

describe('a record out of the rows of a role', () => {
  it('is NOT_FOUND, whether it is there, removed, or never was', async () => {
    const other = await add({ class: '6' });
    const removed = await add({ class: '6' });
    await test.store.delete(ADMIN, 'student', removed.id);
    for (const id of [other.id, removed.id, 'never']) {
      await expectRefusal(test.store.get(TEACHER, 'student', id), 'NOT_FOUND');
      await expectRefusal(test.store.delete(TEACHER, 'student', id), 'NOT_FOUND');
      const options = { data: { section: 'A' }, mode: 'merge' as const, ifVersion: 9 };
      await expectRefusal(test.store.update(TEACHER, 'student', id, options), 'NOT_FOUND');
    }
  });

  it('is in no list and no count', async () => {
    const mine = await add();
    await add({ class: '6' });
    await add({ section: 'B' });
    expect(await idsOf(TEACHER, { kind: 'any', filters: [{ kind: 'exists', path: ['class'] }] })).toEqual([
      mine.id,
    ]);
    expect(await test.store.find(TEACHER, queryOf('student')).count()).toBe(1);
  });

  it('is not created, nor any of the others with it', async () => {
    const records = [student(), student({ class: '6' })];
    await expectRefusal(test.store.create(TEACHER, 'student', records), 'FORBIDDEN', 'rows');
    expect(await test.store.find(ADMIN, queryOf('student')).count()).toBe(0);
    await expectRefusal(add({ section: null }, TEACHER), 'FORBIDDEN');
  });

  it('is not what a record becomes by a change', async () => {
    const { id } = await add();
    for (const data of [{ class: '6' }, { class: null }]) {
      await expectRefusal(test.store.update(TEACHER, 'student', id, { data, mode: 'merge' }), 'FORBIDDEN');
    }
    await expectRefusal(
      test.store.update(TEACHER, 'student', id, { data: { number: 'x', name: 'Y' }, mode: 'replace' }),
      'FORBIDDEN',
    );
    await expect(
      test.store.update(TEACHER, 'student', id, { data: { class: '5', phone: '1' }, mode: 'merge' }),
    ).resolves.toMatchObject({ version: 2 });
  });

  it('gives no label to a reference', async () => {
    await add({ _id: 'usr-1', name: 'Usha' }, ADMIN, 'staff');
    await add({ _id: 'usr-teacher', name: 'Tara' }, ADMIN, 'staff');
    expect(dataOf(await add({ tutor: 'usr-1' }, TEACHER)).tutor).toEqual({ value: 'usr-1' });
    expect(dataOf(await add({ tutor: 'usr-teacher' }, TEACHER)).tutor).toEqual({
      value: 'usr-teacher',
      label: 'Tara',
    });
  });

  it('is FORBIDDEN to change where it may be read', async () => {
    const { id } = await add({ class: '6' });
    const both = scopeOf({
      roles: ['teacher', 'reader_of_all'],
      attributes: { sectionsTaught: [['5', 'A']] },
    });
    const options = { data: { phone: '1' }, mode: 'merge' as const, ifVersion: 9 };
    await expectRefusal(test.store.update(both, 'student', id, options), 'FORBIDDEN');
    await expectRefusal(test.store.delete(both, 'student', id), 'FORBIDDEN');
  });
});

describe('a caller without the right', () => {
  it('is refused before anything is read or written', async () => {
    const { id } = await add();
    await expectRefusal(test.store.create(VIEWER, 'student', [student()]), 'FORBIDDEN');
    await expectRefusal(test.store.update(VIEWER, 'student', id, { data: {}, mode: 'merge' }), 'FORBIDDEN');
    await expectRefusal(test.store.delete(VIEWER, 'student', id), 'FORBIDDEN');
    await expectRefusal(test.store.get(CLERK, 'note', id), 'FORBIDDEN');
    expect(() => test.store.find(CLERK, queryOf('note'))).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN' }),
    );
  });

  it('to read gets back of what it wrote the _id alone', async () => {
    const record = await add({}, scopeOf({ roles: ['writer'] }));
    expect(dataOf(record)).toEqual({ _id: record.id });
  });

  it('may not set a read-only field', async () => {
    await expectRefusal(add({ status: 'left' }, CLERK), 'FORBIDDEN', 'status');
  });

  it('with a key may do what its scopes say, and no more', async () => {
    const { id } = await add();
    const scopes = { collections: { student: ['read' as const] }, reports: [], scripts: [] };
    const key = scopeOf({ roles: ['admin'], scopes });
    await expect(test.store.get(key, 'student', id)).resolves.toMatchObject({ id });
    await expectRefusal(test.store.delete(key, 'student', id), 'FORBIDDEN', 'scopes');
    expect(() => test.store.find(key, queryOf('staff'))).toThrow('scopes');
    await expectRefusal(test.store.auditTrail(key, { limit: 1 }), 'FORBIDDEN');
  });

  it('of a task of the service is refused like any other', async () => {
    const scope: Scope = {
      domain: TOP,
      principal: systemPrincipal('nightly', ['viewer']),
      call: { requestId: 'r' },
    };
    await expectRefusal(test.store.create(scope, 'student', [student()]), 'FORBIDDEN');
  });
});

describe('an _id', () => {
  it('is chosen by the client or made, and never chosen badly', async () => {
    expect((await add({ _id: 'A.b:c-1_' })).id).toBe('A.b:c-1_');
    expect((await add()).id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    for (const id of ['', 'a b', 'x'.repeat(65), 7, null])
      await expectRefusal(add({ _id: id }), 'INVALID_VALUE', '_id');
  });

  it('is not stored in the data, and is not changed', async () => {
    const { id } = await add({ _id: 's-1' });
    const [row] = await test.database.query<{ data: string }>(sql`select data::text as data from records`);
    expect(row?.data).not.toContain('_id');
    await expectRefusal(
      test.store.update(ADMIN, 'student', id, { data: { _id: 's-2' }, mode: 'merge' }),
      'INVALID_VALUE',
      'never changes',
    );
    await expect(
      test.store.update(ADMIN, 'student', id, { data: { _id: 's-1', class: '6' }, mode: 'merge' }),
    ).resolves.toMatchObject({ id });
  });

  it('is not used again, also not after its record was removed', async () => {
    await add({ _id: 's-1' });
    await expectRefusal(add({ _id: 's-1' }), 'CONFLICT', '_id "s-1" is taken');
    await test.store.delete(ADMIN, 'student', 's-1');
    await expectRefusal(add({ _id: 's-1' }), 'CONFLICT');
    await test.store.purge(ADMIN, { removedBefore: new Date(Date.now() + 1000) });
    await expect(add({ _id: 's-1' })).resolves.toMatchObject({ version: 1 });
  });
});

describe('records that are read at the same moment', () => {
  /** How many statements answered the work. */
  async function statementsOf(work: () => Promise<unknown>): Promise<number> {
    let statements = 0;
    test.database.watchSlow({
      thresholdMs: 0,
      onSlow: () => {
        statements += 1;
      },
    });
    await work();
    test.database.watchSlow({ thresholdMs: Number.POSITIVE_INFINITY, onSlow: () => {} });
    return statements;
  }

  /** A store whose statements of several ids go wrong as this statement does; the others are as they are. */
  function storeFailingTogether(failure: Sql): RecordStore {
    const { catalog, database } = test;
    const failing: typeof database = Object.create(database, {
      query: {
        value: (sql: Sql, options?: object) =>
          sql.text.includes('any(array[') ? database.query(failure) : database.query(sql, options),
      },
    });
    return new RecordStore({ database: failing, catalog, topDomain: () => TOP });
  }

  it('are each given to the one who asked, by few statements', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `Reader ${index}`);
    const records = await test.store.create(
      ADMIN,
      'student',
      names.map((name) => student({ name })),
    );
    let found: readonly unknown[] = [];
    const statements = await statementsOf(async () => {
      found = await Promise.all(
        records.map(async ({ id }) => dataOf(await test.store.get(ADMIN, 'student', id)).name),
      );
    });
    expect(found).toEqual(names);
    expect(statements).toBeLessThanOrEqual(4);
  });

  it('are refused one by one', async () => {
    const [there, removed] = [await add({ name: 'Anu' }), await add()];
    await test.store.delete(ADMIN, 'student', removed.id);
    const [first, second, ...refusals] = await Promise.allSettled(
      [there.id, there.id, removed.id, 'nobody', 'no\0body'].map((id) =>
        test.store.get(ADMIN, 'student', id),
      ),
    );
    expect([first, second]).toEqual([
      { status: 'fulfilled', value: there },
      { status: 'fulfilled', value: there },
    ]);
    expect(refusals).toMatchObject(
      ['GONE', 'NOT_FOUND', 'INVALID_VALUE'].map((code) => ({ status: 'rejected', reason: { code } })),
    );
  });

  it('are those that each caller may read, shown as to each', async () => {
    const [own, other] = [await add({ section: 'A' }), await add({ section: 'B' })];
    const teacherOf = (section: string) =>
      scopeOf({ id: 'usr-both', roles: ['teacher'], attributes: { sectionsTaught: [['5', section]] } });
    // The same rule over the same columns, with other values.
    const callers = [ADMIN, TEACHER, teacherOf('B'), VIEWER, BRANCH_ADMIN];
    const read = (scope: Scope, { id }: { readonly id: string }) =>
      test.store.get(scope, 'student', id).then(
        (record) => dataOf(record),
        ({ code }) => code,
      );
    const together = await Promise.all(
      callers.flatMap((scope) => [own, other].map((record) => read(scope, record))),
    );
    const alone: unknown[] = [];
    for (const scope of callers) for (const record of [own, other]) alone.push(await read(scope, record));
    expect(together).toEqual(alone);
    expect(alone.slice(2, 6)).toMatchObject([{ section: 'A' }, 'NOT_FOUND', 'NOT_FOUND', { section: 'B' }]);
  });

  it('are heard of, each by its caller', async () => {
    const { id } = await add();
    const heard: string[] = [];
    const durations: number[] = [];
    const listening: Scope = {
      ...ADMIN,
      call: { requestId: 'r', onStatement: ({ sql }) => heard.push(sql.text) },
    };
    const timing: Scope = {
      ...ADMIN,
      call: { requestId: 'r', onDuration: (durationMs) => durations.push(durationMs) },
    };
    await Promise.all([listening, timing, timing].map((scope) => test.store.get(scope, 'student', id)));
    expect(heard).toHaveLength(1);
    expect(durations).toHaveLength(2);
  });

  it('are read one by one where the statement for all is refused', async () => {
    const records = [await add({ name: 'Anu' }), await add({ name: 'Bala' })];
    const store = storeFailingTogether(sql`select 1 / 0`);
    expect(await Promise.all(records.map(({ id }) => store.get(ADMIN, 'student', id)))).toEqual(records);
  });

  it('are all UNAVAILABLE where the connection is lost', async () => {
    const { id } = await add();
    const store = storeFailingTogether(sql`select pg_terminate_backend(pg_backend_pid())`);
    const reads = await Promise.allSettled([id, 'nobody'].map((one) => store.get(ADMIN, 'student', one)));
    expect(reads).toMatchObject(Array(2).fill({ status: 'rejected', reason: { code: 'UNAVAILABLE' } }));
    // The others need not notice that the database was away for a moment.
    await eventually(() =>
      test.store.get(ADMIN, 'student', id).then(
        () => true,
        () => false,
      ),
    );
  });
});

describe('purging', () => {
  it('takes the password, sessions and API keys of a removed user with it', async () => {
    const { id } = await test.store
      .create(ADMIN, 'pltf_user', [{ user_name: 'gone', name: 'Gone', active: true, roles: ['clerk'] }])
      .then(([user]) => user ?? { id: '' });
    await test.database.query(sql`
      with c as (insert into credentials (domain_id, user_id, password_hash) values ('school', ${id}, 'x')),
      s as (insert into sessions (id, domain_id, user_id, expires_at) values (gen_random_uuid(),
        'school', ${id}, now() + interval '1 day'))
      insert into api_keys (id, domain_id, user_id, name, prefix, key_hash, scopes, created_by)
      values (gen_random_uuid(), 'school', ${id}, 'k', 'cg_', ${id}::bytea, '{}', ${id})`);
    await test.store.delete(ADMIN, 'pltf_user', id);
    await test.store.purge(ADMIN, { removedBefore: new Date(Date.now() + 1000) });
    const left = await test.database.query(sql`
      select user_id from credentials where user_id = ${id}
      union all select user_id from sessions where user_id = ${id}
      union all select user_id from api_keys where user_id = ${id}`);
    expect(left).toEqual([]);
  });
});

describe('a change of rights', () => {
  it('is told before the write is answered', async () => {
    const told: (string | undefined)[] = [];
    const store = new RecordStore({
      database: test.database,
      catalog: test.catalog,
      topDomain: () => TOP,
      onRightsChange: (_domainId, userId) => told.push(userId),
    });
    await store.create(ADMIN, 'pltf_user', [
      { _id: 'u-told', user_name: 'told', name: 'Told', active: true, roles: ['clerk'] },
    ]);
    await store.update(ADMIN, 'pltf_user', 'u-told', { data: { active: false }, mode: 'merge' });
    await store.create(ADMIN, 'student', [student()]);
    await store.delete(ADMIN, 'pltf_user', 'u-told');
    expect(told).toEqual(['u-told', 'u-told', 'u-told']);
  });
});

describe('a unique field', () => {
  it('is refused by name, and of which record', async () => {
    await add({ number: 'n-x' });
    const records = [
      student(),
      student({ number: 'n-x' }),
      student({ number: 'n-y' }),
      student({ number: 'n-y' }),
    ];
    await expect(test.store.create(ADMIN, 'student', records)).rejects.toMatchObject({
      code: 'CONFLICT',
      errors: [{ pointer: '/3/number' }, { pointer: '/1/number', sent: 'n-x' }],
    });
    expect(await test.store.find(ADMIN, queryOf('student')).count()).toBe(1);
  });

  it('is refused in a change, and may stay what it is', async () => {
    await add({ number: 'n-x' });
    const { id } = await add({ number: 'n-z' });
    const change = (number: string) =>
      test.store.update(ADMIN, 'student', id, { data: { number }, mode: 'merge' });
    await expect(change('n-x')).rejects.toMatchObject({ code: 'CONFLICT', errors: [{ pointer: '/number' }] });
    await expect(change('n-z')).resolves.toMatchObject({ version: 1 });
  });

  it('that is declared no more is still refused by its index, and the error says so', async () => {
    const field = { name: 'code', type: 'text' };
    await test.catalog.register(ADMIN, { name: 'loose', fields: [{ ...field, unique: true }] });
    await test.catalog.alter(ADMIN, { name: 'loose', fields: [field] });
    await add({ code: 'x' }, ADMIN, 'loose');
    await expectRefusal(add({ code: 'x' }, ADMIN, 'loose'), 'CONFLICT', 'earlier declaration');
  });

  it('is free again when its record was removed', async () => {
    const { id } = await add({ number: 'n-x' });
    await test.store.delete(ADMIN, 'student', id);
    await expect(add({ number: 'n-x' })).resolves.toMatchObject({ version: 1 });
  });

  it('is given to one of many that ask at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => add({ number: 'n-race' })));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT' });
    }
  });
});

describe('values unique together', () => {
  const presence = (day: string, fields: JsonObject = {}) => ({
    student: 's-1',
    created: `${day}T04:00:00Z`,
    ...fields,
  });

  it('are refused on the same day of the zone', async () => {
    await add(presence('2026-04-01'), ADMIN, 'presence');
    await expectRefusal(
      add({ student: 's-1', created: '2026-03-31T20:00:00Z' }, ADMIN, 'presence'),
      'CONFLICT',
      'same student.value and created \\(its day\\)',
    );
    await expect(add(presence('2026-04-02'), ADMIN, 'presence')).resolves.toMatchObject({ version: 1 });
  });

  it('are refused when a change of one of them meets another record', async () => {
    await add(presence('2026-04-01'), ADMIN, 'presence');
    const { id } = await add(presence('2026-04-02'), ADMIN, 'presence');
    const move = (created: string) =>
      test.store.update(ADMIN, 'presence', id, { data: { created }, mode: 'merge' });
    await expectRefusal(move('2026-04-01T10:00:00+05:30'), 'CONFLICT');
    await expect(move('2026-04-03')).resolves.toMatchObject({ version: 2 });
    await expect(add(presence('2026-04-02'), ADMIN, 'presence')).resolves.toMatchObject({ version: 1 });
    const replaced = test.store.update(ADMIN, 'presence', id, {
      data: presence('2026-04-02'),
      mode: 'replace',
    });
    await expectRefusal(replaced, 'CONFLICT');
  });

  it('are stored once by many at once', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => add(presence('2026-04-05'), ADMIN, 'presence')),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a check between values', () => {
  const RECEIPT = { total: 30, lines: [{ amount: 10 }, { amount: 20 }] };

  it('holds for a change of one of them', async () => {
    const { id } = await add(RECEIPT, ADMIN, 'receipt');
    const change = (data: JsonObject) => test.store.update(ADMIN, 'receipt', id, { data, mode: 'merge' });
    await expectRefusal(change({ total: 31 }), 'INVALID_VALUE', 'sum of lines.amount and lines.fine is 30');
    await expect(change({ total: 31, lines: [{ amount: 31 }] })).resolves.toMatchObject({ version: 2 });
    await expectRefusal(change({ lines: [{ amount: 5 }] }), 'INVALID_VALUE');
  });

  it('says nothing of a record that is not there, nor of another version', async () => {
    const options = { data: { total: 1 }, mode: 'merge' as const };
    await expectRefusal(test.store.update(ADMIN, 'receipt', 'none', options), 'NOT_FOUND');
    const { id } = await add(RECEIPT, ADMIN, 'receipt');
    await expectRefusal(
      test.store.update(ADMIN, 'receipt', id, { ...options, ifVersion: 7 }),
      'VERSION_CONFLICT',
    );
    await expectRefusal(test.store.update(BRANCH_ADMIN, 'receipt', id, options), 'NOT_FOUND');
  });

  it('holds also when two changes overtake each other', async () => {
    const { id } = await add(RECEIPT, ADMIN, 'receipt');
    const results = await Promise.allSettled([
      test.store.update(ADMIN, 'receipt', id, { data: { lines: [{ amount: 30 }] }, mode: 'merge' }),
      test.store.update(ADMIN, 'receipt', id, { data: { total: 5, lines: [{ amount: 5 }] }, mode: 'merge' }),
    ]);
    const stored = dataOf(await test.store.get(ADMIN, 'receipt', id));
    expect(['{"total":30,"lines":[{"amount":30}]}', '{"total":5,"lines":[{"amount":5}]}']).toContain(
      printExactJson({ total: stored.total ?? null, lines: stored.lines ?? null }),
    );
    expect(results.some((result) => result.status === 'fulfilled')).toBe(true);
  });
});

describe('a version', () => {
  it('that is stale is refused, telling the one there is', async () => {
    const { id } = await add();
    await test.store.update(ADMIN, 'student', id, { data: { class: '6' }, mode: 'merge', ifVersion: 1 });
    const update = test.store.update(ADMIN, 'student', id, {
      data: { class: '7' },
      mode: 'merge',
      ifVersion: 1,
    });
    await expectRefusal(update, 'VERSION_CONFLICT', 'has version 2, not 1');
    await expectRefusal(test.store.delete(ADMIN, 'student', id, { ifVersion: 1 }), 'VERSION_CONFLICT');
    expect(dataOf(await test.store.get(ADMIN, 'student', id)).class).toBe('6');
  });

  it('is told apart from what is not there and what was removed', async () => {
    const { id } = await add();
    await test.store.delete(ADMIN, 'student', id, { ifVersion: 1 });
    const options = { data: {}, mode: 'merge' as const, ifVersion: 1 };
    await expectRefusal(test.store.update(ADMIN, 'student', id, options), 'GONE');
    await expectRefusal(test.store.delete(ADMIN, 'student', id, { ifVersion: 1 }), 'GONE');
    await expectRefusal(test.store.update(ADMIN, 'student', 'never', options), 'NOT_FOUND');
  });

  it('stays where a change changes nothing, and nothing is noted', async () => {
    const { id, version, ...made } = await add();
    const { _id, ...data } = dataOf({ id, version, ...made });
    for (const options of [
      { data: {}, mode: 'merge' },
      { data: { class: data.class ?? null }, mode: 'merge', ifVersion: 1 },
      { data, mode: 'replace' },
    ] as const) {
      const same = await test.store.update(ADMIN, 'student', id, options);
      expect([same.version, dataOf(same)]).toEqual([1, { _id, ...data }]);
    }
    const stale = test.store.update(ADMIN, 'student', id, { data: {}, mode: 'merge', ifVersion: 2 });
    await expectRefusal(stale, 'VERSION_CONFLICT');
    const noted = await test.store.auditTrail(ADMIN, { collection: 'student', recordId: id, limit: 10 });
    expect(noted.map(({ operation }) => operation)).toEqual(['created']);
  });

  it('goes to one of many that ask at once', async () => {
    const { id } = await add();
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        test.store.update(ADMIN, 'student', id, {
          data: { class: `c${index}` },
          mode: 'merge',
          ifVersion: 1,
        }),
      ),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect((await test.store.get(ADMIN, 'student', id)).version).toBe(2);
  });

  it('is not needed: changes of different fields at once are all kept', async () => {
    const { id } = await add();
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        test.store.update(ADMIN, 'student', id, { data: { [`f${index}`]: index }, mode: 'merge' }),
      ),
    );
    const record = await test.store.get(ADMIN, 'student', id);
    expect(record.version).toBe(9);
    expect(Object.keys(dataOf(record)).filter((name) => /^f\d$/.test(name))).toHaveLength(8);
  });
});

describe('a removed record', () => {
  it('is GONE by its id, and in no list', async () => {
    const { id } = await add();
    expect(await test.store.delete(ADMIN, 'student', id)).toMatchObject({ id, version: 2 });
    await expectRefusal(test.store.get(ADMIN, 'student', id), 'GONE');
    expect(await idsOf(ADMIN, { kind: 'all', filters: [] })).toEqual([]);
  });
});

describe('a merge', () => {
  it('replaces top-level members, removes by null, and leaves the rest', async () => {
    const { id } = await add({ phone: '1', extra: { a: 1, b: 2 }, tags: ['x'] });
    const updated = await test.store.update(ADMIN, 'student', id, {
      data: { phone: null, extra: { a: 3 }, tags: ['y', 'z'] },
      mode: 'merge',
    });
    expect(dataOf(updated)).toMatchObject({
      extra: { a: new ExactNumber('3') },
      tags: ['y', 'z'],
      class: '5',
    });
    expect(dataOf(updated)).not.toHaveProperty('phone');
    expect(dataOf(updated).extra).not.toHaveProperty('b');
  });
});

describe('what is stored', () => {
  it('keeps every digit, and is given back as Postgres printed it', async () => {
    const record = await add({ fee: new ExactNumber('12345678901234567890.10') });
    expect(record.json).toContain('"fee": 12345678901234567890.10');
  });

  it('keeps order and text of many', async () => {
    const records = [student({ name: 'O\'Brien \\ "x" % _ ü 🎓' }), student(), student()];
    const stored = await test.store.create(ADMIN, 'student', records);
    expect(stored.map((record) => dataOf(record).name)).toEqual(records.map((record) => record.name));
  });

  it('has the label of its reference', async () => {
    await add({ _id: 'usr-1', name: 'Usha' }, ADMIN, 'staff');
    expect(dataOf(await add({ tutor: 'usr-1' }, CLERK)).tutor).toEqual({ value: 'usr-1', label: 'Usha' });
    const { id } = await add();
    const updated = await test.store.update(CLERK, 'student', id, {
      data: { tutor: { value: 'usr-1', label: null } },
      mode: 'merge',
    });
    expect(dataOf(updated).tutor).toEqual({ value: 'usr-1', label: 'Usha' });
  });

  it('is refused beyond a bound number of records', async () => {
    const many = Array.from({ length: 10_001 }, () => ({}));
    await expectRefusal(test.store.create(ADMIN, 'note', many), 'LIMIT_EXCEEDED');
    expect(await test.store.create(ADMIN, 'note', [])).toEqual([]);
  });
});

describe('an audit entry', () => {
  it('is written with every write, and with none that failed', async () => {
    const { id } = await add({}, CLERK);
    await test.store.update(ADMIN, 'student', id, { data: { class: '6' }, mode: 'merge' });
    await test.store
      .update(ADMIN, 'student', id, { data: { class: '7' }, mode: 'merge', ifVersion: 1 })
      .catch(() => {});
    await test.store.delete(ADMIN, 'student', id);
    expect(await auditOf(id)).toEqual([
      ['deleted', 2, 3, 'usr-admin'],
      ['updated', 1, 2, 'usr-admin'],
      ['created', undefined, 1, 'usr-clerk'],
    ]);
  });

  it('is listed the newest first and paged, also where ids grow by a digit', async () => {
    // Written as if the sequence stood just below a power of ten.
    await test.database.query(sql`
      insert into audit_entries
        (id, domain, collection, record_id, operation, to_version, principal, credential, request_id)
      overriding system value
      select n, ${ADMIN.domain.id}, 'digits', 'd-' || n, 'created', 1, 'usr-admin', 'system:test', 'test'
      from generate_series(99999998, 100000002) n`);
    const ids = async (query: { before?: string; limit: number }) =>
      (await test.store.auditTrail(ADMIN, { collection: 'digits', ...query })).map((entry) => entry.id);
    expect(await ids({ limit: 3 })).toEqual(['100000002', '100000001', '100000000']);
    expect(await ids({ before: '100000000', limit: 3 })).toEqual(['99999999', '99999998']);
  });

  it('is for admins of the domain', async () => {
    const { id } = await add();
    await expectRefusal(test.store.auditTrail(CLERK, { limit: 1 }), 'FORBIDDEN');
    expect(await test.store.auditTrail(BRANCH_ADMIN, { recordId: id, limit: 5 })).toEqual([]);
    await expectRefusal(test.store.auditTrail(ADMIN, { before: 'x', limit: 1 }), 'INVALID_VALUE');
  });
});

describe('callers whose rights may have changed', () => {
  it('are announced with the write', async () => {
    const heard: string[] = [];
    const stop = await test.database.listen(
      'campus_principals',
      (payload) => heard.push(payload),
      () => {},
    );
    await add({ name: '5', sections: [{ name: 'A', teacher: 'usr-1' }] }, ADMIN, 'room');
    await add({ name: 'Usha' }, ADMIN, 'staff');
    const { id } = await add({ name: 'Usha', active: true }, ADMIN, 'pltf_user');
    await test.store.update(ADMIN, 'pltf_user', id, { data: { active: false }, mode: 'merge' });
    await test.store.update(ADMIN, 'pltf_user', id, { data: { active: true }, mode: 'merge' });
    await test.store.delete(ADMIN, 'pltf_user', id);
    await expectEventually(
      () => heard.map((payload) => JSON.parse(payload)),
      [
        { domain: 'school' },
        { domain: 'school', user: id, ended: false },
        { domain: 'school', user: id, ended: true },
        { domain: 'school', user: id, ended: false },
        { domain: 'school', user: id, ended: true },
      ],
    );
    await stop();
  });
});

describe('a dropped collection', () => {
  it('is GONE for everything', async () => {
    await test.catalog.register(ADMIN, { name: 'club' });
    const { id } = await add({}, ADMIN, 'club');
    await test.catalog.drop(ADMIN, 'club');
    await expectRefusal(test.store.get(ADMIN, 'club', id), 'GONE');
    await expectRefusal(test.store.create(ADMIN, 'club', [{}]), 'GONE');
    expect(() => test.store.find(ADMIN, queryOf('club'))).toThrow(expect.objectContaining({ code: 'GONE' }));
    await expectRefusal(test.store.get(ADMIN, 'clubs', id), 'NOT_FOUND');
    await expectRefusal(test.store.purge(BRANCH_ADMIN, { removedBefore: new Date() }), 'FORBIDDEN');
    const later = new Date(Date.now() + 1000);
    expect((await test.store.purge(ADMIN, { removedBefore: later })).collections).toEqual(['club']);
  });
});
