/** More new records than one statement stores. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { CollectionDefinition } from '../../../src/store/catalog/collection-definition.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN } from '../people.js';
import { dataOf, useTestStore } from '../store.js';

const VISIT: CollectionDefinition = {
  name: 'visit',
  fields: [
    { name: 'guest', type: 'text', required: true },
    { name: 'year', type: 'number', default: 2026 },
    { name: 'host', type: 'reference', target: 'staff' },
    { name: 'note', type: 'text' },
  ],
  uniqueTogether: [{ name: 'guest_year', parts: [{ path: 'guest' }, { path: 'year' }] }],
};
const test = useTestStore([VISIT]);
const COUNT = 4_001;

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.database.query(sql`delete from audit_entries`);
});

/** Their keys are in another order than they. */
function visits(fields: (index: number) => JsonObject = () => ({})): readonly JsonObject[] {
  return Array.from({ length: COUNT }, (_, index) => {
    return { guest: `guest ${(index * 37) % COUNT}`, note: `visit ${index}`, ...fields(index) };
  });
}

async function storedCount(): Promise<{ readonly records: number; readonly entries: number }> {
  const [found] = await test.database.query<{ records: number; entries: number }>(sql`
    select
      (select count(*)::int from records where collection = 'visit') as records,
      (select count(*)::int from audit_entries where collection = 'visit') as entries`);
  return found ?? { records: 0, entries: 0 };
}

const NOTHING = { records: 0, entries: 0 };

describe('records of several statements', () => {
  it('are given back as they were sent, each with its own id and audit entry', async () => {
    const stored = await test.store.create(ADMIN, 'visit', visits());
    expect(stored.map((record) => dataOf(record).note)).toEqual(visits().map(({ note }) => note));
    expect(stored.map((record) => JSON.parse(record.json)._id)).toEqual(stored.map(({ id }) => id));
    const ids = stored.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(await storedCount()).toEqual({ records: COUNT, entries: COUNT });
  });

  it('are shown as far as was asked for', async () => {
    const stored = await test.store.create(ADMIN, 'visit', visits(), { shown: 3 });
    expect(stored.map((record) => dataOf(record).note)).toEqual(['visit 0', 'visit 1', 'visit 2']);
  });

  it('are all refused for one that is taken, which is named', async () => {
    await test.store.create(ADMIN, 'visit', [{ guest: 'the guest of last year' }]);
    const sent = visits((index) => (index === 3_990 ? { guest: 'the guest of last year' } : {}));
    await expect(test.store.create(ADMIN, 'visit', sent)).rejects.toMatchObject({
      code: 'CONFLICT',
      errors: [{ pointer: '/3990/guest' }],
    });
    expect(await storedCount()).toEqual({ records: 1, entries: 1 });
  });

  it('are all refused for two that are the same, wherever they are', async () => {
    const sent = visits((index) => (index === COUNT - 1 ? { guest: 'guest 0' } : {}));
    await expect(test.store.create(ADMIN, 'visit', sent)).rejects.toMatchObject({
      code: 'CONFLICT',
      errors: [{ pointer: `/${COUNT - 1}/guest` }],
    });
    expect(await storedCount()).toEqual(NOTHING);
  });

  it('are refused for every reference to nothing before any that is taken', async () => {
    await test.store.create(ADMIN, 'visit', [{ guest: 'guest 0' }]);
    const sent = visits((index) => (index % 2_000 === 1_999 ? { host: `nobody-${index}` } : {}));
    await expect(test.store.create(ADMIN, 'visit', sent)).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      errors: [{ pointer: '/1999/host' }, { pointer: '/3999/host' }],
    });
    expect(await storedCount()).toEqual({ records: 1, entries: 1 });
  });

  it('that are refused leave the transaction around them as it was', async () => {
    await test.store.atomically(ADMIN, { writes: ['visit'] }, async (within) => {
      await test.store.create(ADMIN, 'visit', [{ guest: 'guest 0' }], { within });
      await expect(test.store.create(ADMIN, 'visit', visits(), { within })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      await test.store.create(ADMIN, 'visit', [{ guest: 'somebody else' }], { within });
    });
    expect(await storedCount()).toEqual({ records: 2, entries: 2 });
  });

  it('are stored once where they are sent twice at the same time, in opposite orders', async () => {
    const results = await Promise.allSettled([
      test.store.create(ADMIN, 'visit', visits()),
      test.store.create(ADMIN, 'visit', visits().toReversed()),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = results.find((result) => result.status === 'rejected');
    expect(refused?.reason).toMatchObject({ code: 'CONFLICT' });
    expect(await storedCount()).toEqual({ records: COUNT, entries: COUNT });
  });
});
