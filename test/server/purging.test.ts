import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { queryOf } from '../../src/model/record-query.js';
import type { Observation } from '../../src/server/observation.js';
import { Purging, type PurgingOptions } from '../../src/server/purging.js';
import { ADMIN, TOP } from '../store/people.js';
import { useTestStore } from '../store/store.js';

const test = useTestStore();
let observed: Observation[];
let purging: Purging | undefined;

beforeEach(() => {
  observed = [];
});

afterEach(async () => {
  await purging?.close();
});

function start(options: Partial<PurgingOptions>): Purging {
  purging = new Purging({
    store: test.store,
    topDomain: () => TOP,
    keepRemovedDays: 90,
    observe: (event) => observed.push(event),
    ...options,
  });
  return purging;
}

async function removeRoom(id: string): Promise<void> {
  await test.store.create(ADMIN, 'note', [{ _id: id, text: 'gone soon' }]);
  await test.store.delete(ADMIN, 'note', id);
}

describe('purging', () => {
  it('keeps what was removed for as long as the setting says', async () => {
    await removeRoom('n-kept');
    await start({}).run();
    expect(observed).toEqual([]);
    await expect(test.store.get(ADMIN, 'note', 'n-kept')).rejects.toMatchObject({ code: 'GONE' });
  });

  it('then takes it away, and tells how much went', async () => {
    await removeRoom('n-old');
    await start({ keepRemovedDays: -1 }).run();
    expect(observed).toEqual([expect.objectContaining({ kind: 'purged', collections: [] })]);
    await expect(test.store.get(ADMIN, 'note', 'n-old')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await test.store.find(ADMIN, queryOf('note')).count()).toBe(0);
  });

  it('waits for the first school', async () => {
    await start({ topDomain: () => undefined, keepRemovedDays: -1 }).run();
    expect(observed).toEqual([]);
  });

  it('tells of a failure, and goes on', async () => {
    const failing = { purge: () => Promise.reject(new Error('no connection')) };
    await start({ store: failing }).run();
    expect(observed).toEqual([{ kind: 'backgroundFault', task: 'purge', error: new Error('no connection') }]);
  });
});
