import { describe, expect, it } from '@jest/globals';
import { queryOf } from '../../../src/base/model/record-query.js';
import { purgeRecords } from '../../../src/gateway/server/purge-records.js';
import { ADMIN, TOP } from '../../store/people.js';
import { useTestStore } from '../../store/store.js';

const test = useTestStore();
const DAY_MS = 24 * 3_600_000;

const purge = (keptDays: number, top: () => typeof TOP | undefined = () => TOP) =>
  purgeRecords({
    store: test.store,
    domains: { top },
    removedBefore: new Date(Date.now() - keptDays * DAY_MS),
  });

async function removeRoom(id: string): Promise<void> {
  await test.store.create(ADMIN, 'note', [{ _id: id, text: 'gone soon' }]);
  await test.store.delete(ADMIN, 'note', id);
}

describe('purging', () => {
  it('keeps what was removed for as long as the setting says', async () => {
    await removeRoom('n-kept');
    expect(await purge(90)).toBeUndefined();
    await expect(test.store.get(ADMIN, 'note', 'n-kept')).rejects.toMatchObject({ code: 'GONE' });
  });

  it('then deletes it, and reports how much', async () => {
    await removeRoom('n-old');
    expect(await purge(-1)).toMatchObject({ tombstones: expect.any(Number), collections: [] });
    await expect(test.store.get(ADMIN, 'note', 'n-old')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await test.store.find(ADMIN, queryOf('note')).count()).toBe(0);
  });

  it('waits for the first school', async () => {
    await removeRoom('n-waiting');
    expect(await purge(-1, () => undefined)).toBeUndefined();
    await expect(test.store.get(ADMIN, 'note', 'n-waiting')).rejects.toMatchObject({ code: 'GONE' });
  });
});
