import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ErrorCode } from '../../src/errors.js';
import type { Filter } from '../../src/filter/filter.js';
import { Prisma } from '../../src/generated/prisma/client.js';
import { ExactNumber, type JsonObject } from '../../src/json.js';
import type { UpdateMatching } from '../../src/store/matching-writes.js';
import { queryOf } from '../../src/store/record-query.js';
import { RecordStore } from '../../src/store/record-store.js';
import type { UpdateOperation } from '../../src/store/record-update.js';
import type { Scope } from '../../src/store/scope.js';
import { ADMIN, SUB, scopeOf, TOP } from './people.js';
import { dataOf, useTestStore } from './store.js';

const USER = { name: 'pltf_user', fields: [{ name: 'name', type: 'text' as const }] };
const test = useTestStore([USER]);
const CLERK = scopeOf({ id: 'usr-clerk', roles: ['clerk'] });
const VIEWER = scopeOf({ id: 'usr-viewer', roles: ['viewer'] });
const WRITER = scopeOf({ id: 'usr-writer', roles: ['writer'] });
const TEACHER = scopeOf({
  id: 'usr-teacher',
  roles: ['teacher'],
  attributes: { sectionsTaught: [['5', 'A']] },
});
const BRANCH_ADMIN = scopeOf({ id: 'usr-branch', roles: ['admin'], domain: SUB });

beforeEach(async () => {
  await test.database.query(Prisma.sql`delete from records`);
  await test.database.query(Prisma.sql`delete from audit_entries`);
});

let count = 0;
async function add(fields: JsonObject = {}, scope: Scope = ADMIN): Promise<string> {
  count += 1;
  const data = { number: `m-${count}`, name: `Student ${count}`, class: '5', section: 'A', ...fields };
  const [record] = await test.store.create(scope, 'student', [data]);
  if (record === undefined) throw new Error('nothing was created');
  return record.id;
}

const inClass = (name: string): Filter => ({ kind: 'equals', path: ['class'], value: name });
const byId = (id: string): Filter => ({ kind: 'equals', path: ['_id'], value: id });
const set = (name: string, value: JsonObject[string]): UpdateOperation => ({ kind: 'set', path: [name], value });
const increment = (name: string, by: number | string): UpdateOperation => ({ kind: 'increment', path: [name], by });

function update(request: Partial<UpdateMatching> & Pick<UpdateMatching, 'update'>, scope: Scope = ADMIN) {
  return test.store.updateMatching(scope, 'student', { filter: inClass('5'), ...request });
}

async function read(id: string): Promise<JsonObject> {
  return dataOf(await test.store.get(ADMIN, 'student', id));
}

async function versionOf(id: string): Promise<number> {
  return (await test.store.get(ADMIN, 'student', id)).version;
}

async function expectRefusal(work: Promise<unknown>, code: ErrorCode, message?: RegExp) {
  await expect(work).rejects.toMatchObject({
    code,
    ...(message === undefined ? {} : { message: expect.stringMatching(message) }),
  });
}

async function auditCount(): Promise<number> {
  const [row] = await test.database.query<{ count: number }>(
    Prisma.sql`select count(*)::int as count from audit_entries where operation <> 'created'`,
  );
  return row?.count ?? 0;
}

describe('an update of what matches', () => {
  it('of fifty writers at once loses nothing', async () => {
    const id = await add({ visits: 0, fee: new ExactNumber('0.1') });
    const work = Array.from({ length: 50 }, () =>
      update({ filter: byId(id), update: [increment('visits', 1), increment('fee', '0.1')] }),
    );
    const answers = await Promise.all(work);
    expect(answers).toEqual(answers.map(() => ({ matched: 1, modified: 1 })));
    expect(await read(id)).toMatchObject({ visits: new ExactNumber('50'), fee: new ExactNumber('5.1') });
    expect(await versionOf(id)).toBe(51);
    expect(await auditCount()).toBe(50);
  });
});
