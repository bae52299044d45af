import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ErrorCode } from '../../../src/base/errors.js';
import { ExactNumber, type JsonObject } from '../../../src/base/json/json.js';
import { queryOf } from '../../../src/base/model/record-query.js';
import type { Scope } from '../../../src/base/model/scope.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { sql } from '../../../src/store/sql.js';
import { NO_TRIGGERS } from '../../../src/store/writing/write-triggers.js';
import { ADMIN, scopeOf, TOP } from '../people.js';
import { dataOf, useTestStore } from '../store.js';

const test = useTestStore();
const CLERK = scopeOf({ id: 'usr-clerk', roles: ['clerk'] });
const WRITER = scopeOf({ id: 'usr-writer', roles: ['writer'] });
const TEACHER = scopeOf({
  id: 'usr-teacher',
  roles: ['teacher'],
  attributes: { sectionsTaught: [['5', 'A']] },
});

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.database.query(sql`delete from audit_entries`);
});

function student(number: string, fields: JsonObject = {}): JsonObject {
  return { number, name: `Student ${number}`, class: '5', section: 'A', ...fields };
}

function upsert(records: readonly JsonObject[], by = 'number', scope: Scope = ADMIN) {
  return test.store.upsert(scope, 'student', { records, by });
}

async function numbers(): Promise<unknown[]> {
  const page = await test.store.find(ADMIN, queryOf('student')).page();
  return page.records.map((record) => dataOf(record).number).sort();
}

async function expectRefusal(work: Promise<unknown>, code: ErrorCode, message: RegExp) {
  await expect(work).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
}

describe('an upsert by a key', () => {
  it('is refused to who may not read, create and update', async () => {
    await expectRefusal(upsert([student('1')], 'number', WRITER), 'FORBIDDEN', /you may not read/);
    const scopes = { collections: { student: ['read', 'create'] as const }, reports: [], scripts: [] };
    const key = scopeOf({ roles: ['admin'], scopes });
    await expectRefusal(upsert([student('1')], 'number', key), 'FORBIDDEN', /do not allow it to update/);
    await expectRefusal(
      upsert([student('1', { fee: 1 })], 'number', CLERK),
      'FORBIDDEN',
      /you may not set fee/,
    );
  });

  it('is refused without a key that tells records apart, in all of them', async () => {
    await expectRefusal(
      upsert([student('1')], 'class'),
      'INVALID_VALUE',
      /^by: "class" does not identify the records of student; one of _id, number is expected$/,
    );
    await expectRefusal(
      upsert([student('1')], '_id'),
      'INVALID_VALUE',
      /^the record: has no _id to identify it$/,
    );
    await expectRefusal(
      upsert([student('1'), { name: 'N' }, student('1')]),
      'INVALID_VALUE',
      /^\/1: has no number to identify it \(and 1 more\)$/,
    );
    expect(await numbers()).toEqual([]);
  });

  it('stores none where one is at fault, and says which as it was sent', async () => {
    await upsert([student('1')]);
    const sent = [student('1', { phone: '1' }), { number: '2' }, student('3')];
    await expect(upsert(sent)).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: '/1/name: text is expected, it is missing',
      errors: [{ pointer: '/1/name', detail: '/1/name: text is expected, it is missing' }],
    });
    await expect(upsert(sent.slice(0, 2))).rejects.toMatchObject({ errors: [{ pointer: '/1/name' }] });
    await expectRefusal(upsert([{ number: '1', class: 5 }]), 'INVALID_VALUE', /^\/class: text is expected/);
    expect(await numbers()).toEqual(['1']);
  });

  it('is a conflict with a record out of reach', async () => {
    await upsert([student('1', { class: '6' })]);
    await expectRefusal(upsert([student('1')], 'number', TEACHER), 'CONFLICT', /number "1" is taken/);
    await expectRefusal(
      upsert([student('2', { class: '6' })], 'number', TEACHER),
      'FORBIDDEN',
      /may not create/,
    );
  });

  it('makes what is not there and changes what is, in the order sent', async () => {
    const [first] = (await upsert([student('1', { fee: new ExactNumber('0.10'), phone: '1' })])).records;
    const done = await upsert([student('2'), { number: '1', name: 'New', phone: null }, student('3')]);
    expect({ ...done, records: done.records.map((record) => dataOf(record).number) }).toEqual({
      created: 2,
      updated: 1,
      records: ['2', '1', '3'],
    });
    const changed = done.records[1];
    expect(changed).toMatchObject({ id: first?.id, version: 2 });
    expect(changed && dataOf(changed)).toMatchObject({
      name: 'New',
      class: '5',
      fee: new ExactNumber('0.10'),
    });
    expect(changed && dataOf(changed).phone).toBeUndefined();
  });

  it('leaves alone what is the same, references without their label too', async () => {
    const [tutor] = await test.store.create(ADMIN, 'staff', [{ name: 'Meera' }]);
    const records = [student('1', { tutor: tutor?.id ?? '' })];
    await upsert(records);
    expect(await upsert(records)).toMatchObject({ created: 0, updated: 0, records: [{ version: 1 }] });
  });

  it('goes by the _id', async () => {
    expect(await upsert([student('1', { _id: 's-1' })], '_id')).toMatchObject({ created: 1 });
    expect(await upsert([{ _id: 's-1', number: '9' }], '_id')).toMatchObject({ created: 0, updated: 1 });
    expect(await numbers()).toEqual(['9']);
    await expectRefusal(
      upsert([{ _id: 's-2', number: '9' }]),
      'INVALID_VALUE',
      /the _id of a record never changes/,
    );
    await test.store.delete(ADMIN, 'student', 's-1');
    await expectRefusal(upsert([student('1', { _id: 's-1' })], '_id'), 'CONFLICT', /the _id "s-1" is taken/);
  });

  it('goes by values unique together, a day among them', async () => {
    const mark = (created: string, status: string) =>
      test.store.upsert(ADMIN, 'presence', {
        records: [{ student: 's-1', created, status }],
        by: 'student_day',
      });
    expect(await mark('2026-11-20T04:00:00Z', 'absent')).toMatchObject({ created: 1 });
    expect(await mark('2026-11-20T09:00:00Z', 'present')).toMatchObject({ created: 0, updated: 1 });
    expect(await mark('2026-11-21T04:00:00Z', 'present')).toMatchObject({ created: 1 });
  });

  it('of many at once makes each record once', async () => {
    const records = Array.from({ length: 20 }, (_, index) => student(String(index)));
    const works = Array.from({ length: 12 }, (_, index) =>
      upsert(
        (index % 2 === 0 ? records : [...records].reverse()).map((one) => ({ ...one, phone: String(index) })),
      ),
    );
    const done = await Promise.all(works);
    expect(done.reduce((sum, { created }) => sum + created, 0)).toBe(20);
    expect(done.reduce((sum, { updated }) => sum + updated, 0)).toBe(220);
    expect((await numbers()).length).toBe(20);
  });

  it('is bounded, and may be of nothing', async () => {
    await expectRefusal(upsert(Array(10_001).fill(student('1'))), 'LIMIT_EXCEEDED', /at most 10000 records/);
    expect(await upsert([])).toEqual({ created: 0, updated: 0, records: [] });
  });

  it('asks the triggers of what is changed and of what is made', async () => {
    const asked: string[] = [];
    const store = new RecordStore({
      ...{ database: test.database, catalog: test.catalog, topDomain: () => TOP },
      triggers: {
        ...NO_TRIGGERS,
        before: () => [
          {
            principalFor: (scope) => scope.principal,
            ask: async ({ operation, record }) => {
              asked.push(operation);
              return { ...record, phone: operation };
            },
          },
        ],
        after: () => undefined,
      },
    });
    await upsert([student('1')]);
    const done = await store.upsert(ADMIN, 'student', {
      records: [student('1', { class: '6' }), student('2')],
      by: 'number',
    });
    expect(asked).toEqual(['update', 'create']);
    expect(done.records.map((record) => dataOf(record).phone)).toEqual(['update', 'create']);
  });
});
