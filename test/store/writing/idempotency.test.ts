import { beforeEach, describe, expect, it } from '@jest/globals';
import { queryOf } from '../../../src/base/model/record-query.js';
import type { Scope } from '../../../src/base/model/scope.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN, SUB, scopeOf } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore();

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.database.query(sql`delete from idempotency_keys`);
});

/** Creates a note once per key; gives the id of the first one. */
async function createOnce(key: string | undefined, text: string, scope: Scope = ADMIN): Promise<string> {
  return await test.store.idempotently(scope, { key, text, writes: ['note'] }, async (within) => {
    const [record] = await test.store.create(scope, 'note', [{ text }], { within });
    return record?.id ?? '';
  });
}

async function countNotes(scope = ADMIN): Promise<number> {
  return await test.store.find(scope, queryOf('note')).count();
}

describe('an idempotency key', () => {
  it('is refused with another request', async () => {
    await createOnce('k', 'one');
    await expect(createOnce('k', 'two')).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', status: 409 });
    expect(await countNotes()).toBe(1);
  });

  it('is refused when it is no key', async () => {
    for (const key of ['', 'a b', 'ü', 'x'.repeat(256)]) {
      await expect(createOnce(key, 'one')).rejects.toMatchObject({ code: 'MALFORMED_REQUEST' });
    }
  });

  it('is not used up by work that fails', async () => {
    const failing = test.store.idempotently(
      ADMIN,
      { key: 'k', text: 'one', writes: ['note'] },
      async (within) => {
        await test.store.create(ADMIN, 'note', [{}], { within });
        throw new Error('no');
      },
    );
    await expect(failing).rejects.toThrow('no');
    expect(await countNotes()).toBe(0);
    await createOnce('k', 'other');
    expect(await countNotes()).toBe(1);
  });

  it('still tells the conflict of a write', async () => {
    await test.store.create(ADMIN, 'note', [{ _id: 'n-1' }]);
    const again = test.store.idempotently(
      ADMIN,
      { key: 'k', text: 'x', writes: ['note'] },
      async (within) => {
        await test.store.create(ADMIN, 'note', [{ _id: 'n-1' }], { within });
        return null;
      },
    );
    await expect(again).rejects.toMatchObject({ code: 'CONFLICT', errors: [{ pointer: '/_id' }] });
  });

  it('gives the first answer again, to the letter', async () => {
    const id = await createOnce('k', 'one');
    expect(await createOnce('k', 'one')).toBe(id);
    expect(await countNotes()).toBe(1);
    const answer = { z: 1, a: ['"', 'ü'], aa: null };
    await test.store.idempotently(ADMIN, { key: 'answer', text: 'x', writes: ['note'] }, async () => answer);
    const again = await test.store.idempotently(
      ADMIN,
      { key: 'answer', text: 'x', writes: ['note'] },
      async () => ({
        z: 2,
        a: [],
        aa: null,
      }),
    );
    expect(JSON.stringify(again)).toBe(JSON.stringify(answer));
  });

  it('gives the first answer to many that arrive at once', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => createOnce('k', 'one')));
    expect(new Set(ids).size).toBe(1);
    expect(await countNotes()).toBe(1);
  });

  it("is the credential's and the domain's own", async () => {
    const other = scopeOf({ id: 'usr-other', roles: ['admin'] });
    const branch = scopeOf({ id: 'usr-admin', roles: ['admin'], domain: SUB });
    const ids = [
      await createOnce('k', 'one'),
      await createOnce('k', 'one', other),
      await createOnce('k', 'one', branch),
    ];
    expect(new Set(ids).size).toBe(3);
  });

  it('ends after 24 hours', async () => {
    const id = await createOnce('k', 'one');
    await test.database.query(
      sql`update idempotency_keys set created_at = now() - interval '24 hours 1 second'`,
    );
    expect(await createOnce('k', 'two')).not.toBe(id);
    await test.database.query(
      sql`update idempotency_keys set created_at = now() - interval '24 hours 1 second'`,
    );
    const purged = await test.store.purge(ADMIN, { removedBefore: new Date(0) });
    expect(purged).toEqual({
      tombstones: 0,
      idempotencyKeys: 1,
      topicMessages: 0,
      historyValues: 0,
      collections: [],
    });
  });

  it('is not needed', async () => {
    expect(await createOnce(undefined, 'one')).not.toBe(await createOnce(undefined, 'one'));
  });
});
