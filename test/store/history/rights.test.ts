/** Nobody learns from history, or brings about by it, what it could not by reading and writing the record. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { Scope } from '../../../src/base/model/scope.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN, SUB, scopeOf } from '../people.js';
import { dataOf, useTestStore } from '../store.js';

const test = useTestStore();
const ID = 's-1';
const CLERK = scopeOf({ id: 'usr-clerk', roles: ['clerk'] });
const VIEWER = scopeOf({ id: 'usr-viewer', roles: ['viewer'] });
const WRITER = scopeOf({ id: 'usr-writer', roles: ['writer'] });
const NOBODY = scopeOf({ id: 'usr-nobody', roles: [] });
const BRANCH_ADMIN = scopeOf({ id: 'usr-branch', roles: ['admin'], domain: SUB });
const TEACHER = scopeOf({
  id: 'usr-teacher',
  roles: ['teacher'],
  attributes: { sectionsTaught: [['5', 'A']] },
});
const KEY = scopeOf({
  id: 'usr-admin',
  roles: ['admin'],
  scopes: { collections: { student: ['read'] }, reports: [], scripts: [] },
});

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.database.query(sql`delete from audit_entries`);
  const data = { _id: ID, number: '1', name: 'Asha', class: '5', section: 'A', fee: 100, phone: '1' };
  await test.store.create(as(ADMIN, 'made'), 'student', [data]);
});

function as(scope: Scope, requestId: string): Scope {
  return { ...scope, call: { requestId } };
}

async function change(data: JsonObject, requestId = 'req-change', scope = ADMIN): Promise<void> {
  await test.store.update(as(scope, requestId), 'student', ID, { data, mode: 'merge' });
}

async function history(scope: Scope) {
  const query = { id: ID, limit: 20 };
  return (await test.store.history(scope, 'student', query)).rows;
}

async function read(): Promise<JsonObject> {
  return JSON.parse((await test.store.get(ADMIN, 'student', ID)).json);
}

async function versionNow(): Promise<number> {
  const { rows } = await test.database.pool.query('select version from records where id = $1', [ID]);
  return rows[0].version;
}

const at = (scope: Scope, version: number) => test.store.getPast(scope, 'student', ID, { version });
const restore = (scope: Scope, version: number) => test.store.restore(scope, 'student', ID, { version });
const names = (versions: Awaited<ReturnType<typeof history>>) =>
  versions.map(({ changes }) => changes?.map(({ path }) => path));

describe('who reads history', () => {
  it.each([
    ['in another domain', BRANCH_ADMIN, 'NOT_FOUND'],
    ['without a role', NOBODY, 'FORBIDDEN'],
    ['and may only create', WRITER, 'FORBIDDEN'],
  ])('%s is refused', async (_who, scope, code) => {
    await expect(history(scope)).rejects.toMatchObject({ code });
    await expect(at(scope, 1)).rejects.toMatchObject({ code });
    await expect(restore(scope, 1)).rejects.toMatchObject({ code });
    expect(await versionNow()).toBe(1);
  });

  it('is told nothing of fields that are hidden from it, not that they changed either', async () => {
    await change({ fee: 200 });
    await change({ fee: 300, phone: '2', name: 'Asha R' });
    expect(names(await history(VIEWER))).toEqual([
      ['name'],
      [],
      ['name', 'class', 'number', 'status', 'section', 'created_on'],
    ]);
    expect(dataOf(await at(VIEWER, 1))).not.toHaveProperty('fee');
    expect(names(await history(ADMIN))[1]).toEqual(['fee']);
  });

  it('is told nothing of a state that was not among its rows', async () => {
    await change({ section: 'B', name: 'In B' });
    await change({ phone: '3' });
    await change({ section: 'A' });
    await change({ name: 'In A' });
    expect(names(await history(TEACHER)).slice(0, 4)).toEqual([['name'], [], [], []]);
    await expect(at(TEACHER, 3)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(restore(TEACHER, 3)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(dataOf(await at(TEACHER, 4)).name).toBe('In B');
  });

  it('of a record that is not among its rows now is refused, as for reading it', async () => {
    await change({ section: 'B' });
    await expect(history(TEACHER)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(at(TEACHER, 1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(restore(TEACHER, 1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is told who, of its own changes alone unless it is an admin', async () => {
    await change({ name: 'B' }, 'req-own', CLERK);
    expect((await history(CLERK)).map(({ by }) => by?.requestId)).toEqual(['req-own', undefined]);
    expect((await history(ADMIN)).map(({ by }) => by?.requestId)).toEqual(['req-own', 'made']);
  });
});

describe('a restore', () => {
  it('leaves what is hidden from the caller as it is', async () => {
    await change({ name: 'B', fee: 200 });
    await restore(CLERK, 1);
    expect(await read()).toMatchObject({ name: 'Asha', fee: 200 });
  });

  it('of a field that is not the caller’s to set is refused as a whole', async () => {
    await change({ name: 'B', status: 'left' });
    await expect(restore(CLERK, 1)).rejects.toMatchObject({ code: 'FORBIDDEN', message: /status/ });
    expect(await read()).toMatchObject({ name: 'B', status: 'left' });
  });

  it('is refused to who may not change records, by a role or by the scopes of a key', async () => {
    await change({ name: 'B' });
    await expect(restore(VIEWER, 1)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(restore(KEY, 1)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await versionNow()).toBe(2);
  });

  it('that would move a record out of the caller’s rows is refused', async () => {
    const both = scopeOf({
      roles: ['teacher'],
      attributes: {
        sectionsTaught: [
          ['5', 'A'],
          ['5', 'B'],
        ],
      },
    });
    await change({ section: 'B' });
    const onlyB = scopeOf({ roles: ['teacher'], attributes: { sectionsTaught: [['5', 'B']] } });
    await expect(restore(onlyB, 1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await restore(both, 1);
    expect(await read()).toMatchObject({ section: 'A' });
  });

  it('of a removed record needs the right to create, and brings it back as it was', async () => {
    await change({ phone: '2' });
    const before = await read();
    await test.store.delete(ADMIN, 'student', ID);
    await expect(restore(VIEWER, 2)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(restore(CLERK, 2)).rejects.toMatchObject({ code: 'FORBIDDEN', message: /status/ });
    await expect(restore(ADMIN, 3)).rejects.toMatchObject({ code: 'GONE' });
    const restored = await restore(ADMIN, 2);
    expect([restored.version, await read()]).toEqual([4, before]);
    expect((await history(ADMIN))[0]).toMatchObject({ operation: 'created', fromVersion: 3, changes: [] });
  });

  it('obeys the rules of today: unique values and what is required', async () => {
    await change({ number: '2' });
    await test.store.create(ADMIN, 'student', [{ number: '1', name: 'Other' }]);
    await expect(restore(ADMIN, 1)).rejects.toMatchObject({ code: 'CONFLICT', message: /number/ });
    await test.store.delete(ADMIN, 'student', ID);
    await expect(restore(ADMIN, 1)).rejects.toMatchObject({ code: 'CONFLICT', message: /number/ });
    await restore(ADMIN, 2);
    expect(await read()).toMatchObject({ number: '2' });
  });

  it('of another version than the caller expects is refused', async () => {
    await change({ name: 'B' });
    const conditional = test.store.restore(ADMIN, 'student', ID, { version: 1, ifVersion: 1 });
    await expect(conditional).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it.each([0, 2, 99])('of version %s, which is none, is refused', async (version) => {
    await expect(restore(ADMIN, version)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('undoing a request', () => {
  const undo = (scope: Scope, requestId: string) => test.store.undo(as(scope, 'undoing'), requestId);

  async function changeAll(scope: Scope, requestId: string) {
    await test.store.updateMatching(as(scope, requestId), 'student', {
      filter: { kind: 'equals', path: ['class'], value: '5' },
      update: [{ kind: 'set', path: ['phone'], value: 'bulk' }],
    });
  }

  beforeEach(async () => {
    const more = ['2', '3'].map((number) => ({
      ...{ _id: `s-${number}`, number, name: `N ${number}`, class: '5', section: 'A', phone: number },
    }));
    await test.store.create(as(ADMIN, 'more'), 'student', more);
  });

  const phones = async () => {
    const { rows } = await test.database.pool.query(
      `select data->>'phone' as phone from records where deleted_at is null order by id`,
    );
    return rows.map(({ phone }) => phone);
  };

  it('takes back a write of many, and itself', async () => {
    await changeAll(ADMIN, 'bulk');
    expect(await undo(ADMIN, 'bulk')).toEqual({ changed: 3, removed: 0, broughtBack: 0 });
    expect(await phones()).toEqual(['1', '2', '3']);
    expect(await undo(ADMIN, 'undoing')).toEqual({ changed: 3, removed: 0, broughtBack: 0 });
    expect(await phones()).toEqual(['bulk', 'bulk', 'bulk']);
  });

  it('removes what was made and brings back what was removed', async () => {
    expect(await undo(ADMIN, 'more')).toEqual({ changed: 0, removed: 2, broughtBack: 0 });
    expect(await phones()).toEqual(['1']);
    expect(await undo(ADMIN, 'undoing')).toEqual({ changed: 0, removed: 0, broughtBack: 2 });
    expect(await phones()).toEqual(['1', '2', '3']);
  });

  it('is refused as a whole where a later change stands in the way, and names it', async () => {
    await changeAll(ADMIN, 'bulk');
    await change({ phone: 'later' });
    await expect(undo(ADMIN, 'bulk')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/"s-1" of student was changed later: version 3, at 20/),
    });
    expect(await phones()).toEqual(['later', 'bulk', 'bulk']);
  });

  it('goes past later changes that left the record as the request had', async () => {
    await changeAll(ADMIN, 'bulk');
    await change({ phone: 'later' }, 'later');
    await test.store.delete(as(ADMIN, 'removed'), 'student', 's-2');
    await expect(undo(ADMIN, 'bulk')).rejects.toMatchObject({ message: expect.stringMatching(/and 1 more/) });
    await undo(ADMIN, 'later');
    await undo(ADMIN, 'removed');
    expect(await undo(ADMIN, 'bulk')).toEqual({ changed: 3, removed: 0, broughtBack: 0 });
    expect(await phones()).toEqual(['1', '2', '3']);
  });

  it('is refused where a change of another stands between two of its own', async () => {
    await changeAll(ADMIN, 'bulk');
    await change({ phone: 'between' });
    await change({ phone: 'bulk' }, 'bulk');
    await expect(undo(ADMIN, 'bulk')).rejects.toMatchObject({
      message: expect.stringMatching(/"s-1" of student was changed later: version 3, at 20/),
    });
  });

  it('is refused where the record was removed since, or values are not kept that would tell', async () => {
    await changeAll(ADMIN, 'bulk');
    await test.store.delete(ADMIN, 'student', ID);
    await expect(undo(ADMIN, 'bulk')).rejects.toMatchObject({ code: 'CONFLICT' });
    await test.store.restore(ADMIN, 'student', ID, { version: 2 });
    await test.database.query(sql`update audit_entries set before = null where to_version = 3`);
    await expect(undo(ADMIN, 'bulk')).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is the caller’s own alone, unless it is an admin', async () => {
    await changeAll(CLERK, 'bulk');
    await expect(undo(TEACHER, 'bulk')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(undo(BRANCH_ADMIN, 'bulk')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(undo(CLERK, 'more')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await undo(CLERK, 'bulk')).toMatchObject({ changed: 3 });
  });

  it('needs the rights of what it does', async () => {
    const creator = scopeOf({ id: 'usr-creator', roles: ['viewer', 'writer'] });
    await test.store.create(as(creator, 'own'), 'student', [{ _id: 's-9', number: '9', name: 'Nine' }]);
    await expect(undo(creator, 'own')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await phones()).toHaveLength(4);
  });

  it('of a record that has left the caller’s rows is refused', async () => {
    await changeAll(TEACHER, 'bulk');
    await test.database.pool.query(`update records set data = data || '{"section": "B"}' where id = 's-2'`);
    await expect(undo(TEACHER, 'bulk')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await phones()).toEqual(['bulk', 'bulk', 'bulk']);
  });
});

it('tells nothing of a record whose _id was purged and taken anew', async () => {
  await change({ name: 'First life' });
  await test.store.delete(ADMIN, 'student', ID);
  await test.database.query(sql`delete from records where id = ${ID}`);
  await test.store.create(ADMIN, 'student', [{ _id: ID, number: '7', name: 'Second life' }]);
  expect((await history(ADMIN)).map(({ version }) => version)).toEqual([1]);
  await expect(at(ADMIN, 2)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(test.store.undo(ADMIN, 'made')).rejects.toMatchObject({ code: 'CONFLICT' });
});

it('says that values are not kept where they are not', async () => {
  await change({ name: 'B' });
  await change({ name: 'C' });
  await test.database.query(sql`update audit_entries set before = null where to_version = 2`);
  expect((await history(ADMIN)).map(({ changes }) => changes?.length)).toEqual([1, undefined, undefined]);
  expect(dataOf(await at(ADMIN, 2)).name).toBe('B');
  await expect(at(ADMIN, 1)).rejects.toMatchObject({ code: 'GONE' });
  await expect(restore(ADMIN, 1)).rejects.toMatchObject({ code: 'GONE' });
});

it('reads history a page at a time', async () => {
  for (const name of ['B', 'C', 'D']) await change({ name });
  const first = await test.store.history(ADMIN, 'student', { id: ID, limit: 2 });
  expect([first.rows.map(({ version }) => version), first.hasNextPage]).toEqual([[4, 3], true]);
  const second = await test.store.history(ADMIN, 'student', { id: ID, after: 3, limit: 2 });
  expect([second.rows.map(({ version }) => version), second.hasNextPage]).toEqual([[2, 1], false]);
});

it('finds the version of an instant', async () => {
  await change({ name: 'B' });
  const [{ at: changedAt } = { at: new Date() }] = await history(ADMIN);
  const past = await test.store.getPast(ADMIN, 'student', ID, { at: changedAt });
  expect(past.version).toBe(2);
  const earlier = test.store.getPast(ADMIN, 'student', ID, { at: new Date(0) });
  await expect(earlier).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('knows what a record is now that was loaded past the gateway', async () => {
  await test.database.query(sql`delete from audit_entries`);
  expect(await history(ADMIN)).toEqual([]);
  expect(dataOf(await at(ADMIN, 1)).name).toBe('Asha');
  expect((await restore(ADMIN, 1)).version).toBe(1);
});

it('knows what a record was before its first change, that was loaded past the gateway', async () => {
  await test.database.query(sql`delete from audit_entries`);
  await test.database.query(sql`update records set created_at = '2020-01-01T00:00:00Z'`);
  await change({ name: 'B' });
  expect(await at(ADMIN, 1)).toMatchObject({ version: 1 });
  expect(dataOf(await at(ADMIN, 1)).name).toBe('Asha');
  const inPast = (day: string) => test.store.getPast(ADMIN, 'student', ID, { at: new Date(day) });
  expect((await inPast('2020-01-02')).version).toBe(1);
  await expect(inPast('2019-12-31')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await restore(ADMIN, 1);
  expect((await read()).name).toBe('Asha');
});

it('knows the version before the first change that is noted, and not since when it was there', async () => {
  for (const name of ['B', 'C']) await change({ name });
  await test.database.query(sql`delete from audit_entries where to_version < 3`);
  expect(dataOf(await at(ADMIN, 2)).name).toBe('B');
  await expect(at(ADMIN, 1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const [{ at: changedAt } = { at: new Date() }] = await history(ADMIN);
  const before = test.store.getPast(ADMIN, 'student', ID, { at: new Date(changedAt.getTime() - 1) });
  await expect(before).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('says of a removed record that was brought back that it was removed', async () => {
  await test.store.delete(ADMIN, 'student', ID);
  await restore(ADMIN, 1);
  await test.database.query(sql`delete from audit_entries where to_version < 3`);
  await expect(at(ADMIN, 2)).rejects.toMatchObject({ code: 'GONE' });
});
