/** What the audit entry of a change says was there before. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore();

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.database.query(sql`delete from audit_entries`);
});

async function add(fields: JsonObject = {}): Promise<string> {
  const data = { name: 'Hall', place: { floor: 1, wing: 'east' }, ...fields };
  const [record] = await test.store.create(ADMIN, 'note', [data]);
  return record?.id ?? '';
}

async function replacedValues(id: string): Promise<unknown[]> {
  const rows = await test.database.query<{ before: unknown }>(
    sql`select before from audit_entries where record_id = ${id} order by to_version`,
  );
  return rows.map((row) => row.before);
}

describe('the audit entry', () => {
  it('of a create has nothing before', async () => {
    const id = await add();
    expect(await replacedValues(id)).toEqual([null]);
  });

  it('of a merge has the members that became others, nested ones by themselves', async () => {
    const id = await add({ colour: 'red' });
    const data = { place: { floor: 2, wing: 'east', door: 'A' }, colour: null, size: 3, name: 'Hall' };
    await test.store.update(ADMIN, 'note', id, { data, mode: 'merge' });
    expect(await replacedValues(id)).toEqual([
      null,
      { place: { floor: [1], door: [] }, colour: ['red'], size: [] },
    ]);
  });

  it('of a replacement has all that differs', async () => {
    const id = await add({ colour: 'red' });
    await test.store.update(ADMIN, 'note', id, { data: { name: 'Room' }, mode: 'replace' });
    expect((await replacedValues(id))[1]).toMatchObject({
      name: ['Hall'],
      colour: ['red'],
      place: [{ floor: 1, wing: 'east' }],
    });
  });

  it('of a change of what matches has the same', async () => {
    const id = await add({ colour: 'red' });
    const filter = { kind: 'equals', path: ['_id'], value: id } as const;
    const update = [
      { kind: 'set', path: ['place', 'floor'], value: 5 },
      { kind: 'unset', path: ['colour'] },
      { kind: 'set', path: ['list'], value: [1] },
    ] as const;
    await test.store.updateMatching(ADMIN, 'note', { filter, update });
    expect((await replacedValues(id))[1]).toEqual({ place: { floor: [1] }, colour: ['red'], list: [] });
  });

  it('of a removal has nothing replaced', async () => {
    const id = await add();
    await test.store.delete(ADMIN, 'note', id);
    expect(await replacedValues(id)).toEqual([null, {}]);
  });

  it('of writers at once has what each of them replaced', async () => {
    const id = await add({ turn: 0 });
    const turns = Array.from({ length: 30 }, (_, index) => index + 1);
    await Promise.all(
      turns.map((turn) => test.store.update(ADMIN, 'note', id, { data: { turn }, mode: 'merge' })),
    );
    const before = (await replacedValues(id)).slice(1).map((one) => (one as { turn: [number] }).turn[0]);
    const { turn } = JSON.parse((await test.store.get(ADMIN, 'note', id)).json);
    expect([...before, turn].sort((a, b) => a - b)).toEqual([0, ...turns]);
  });
});
