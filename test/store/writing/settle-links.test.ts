import { beforeAll, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { CollectionDefinition } from '../../../src/store/catalog/collection-definition.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN } from '../people.js';
import { useTestStore } from '../store.js';

const GRADE: CollectionDefinition = {
  name: 'grade',
  fields: [
    { name: 'name', type: 'text', required: true, unique: true },
    { name: 'sections', type: 'object', list: true, fields: [{ name: 'name', type: 'text' }] },
  ],
};
const HEAD: CollectionDefinition = {
  name: 'fee_head',
  fields: [{ name: 'name', type: 'text', required: true, unique: true }],
};
const CHILD: CollectionDefinition = {
  name: 'child',
  fields: [
    { name: 'number', type: 'text', required: true, unique: true },
    { name: 'class', type: 'text', names: 'grade.name' },
    { name: 'section', type: 'text', names: 'grade.sections.name', namedWith: 'class' },
    { name: 'session', type: 'text', format: 'session' },
    { name: 'from', type: 'datetime', format: 'date' },
    { name: 'to', type: 'datetime', format: 'date' },
    { name: 'remark', type: 'text' },
    {
      name: 'earlier',
      type: 'object',
      list: true,
      fields: [
        { name: 'session', type: 'text', format: 'session' },
        { name: 'class', type: 'text', names: 'grade.name' },
        { name: 'section', type: 'text', names: 'grade.sections.name', namedWith: 'class' },
        { name: 'from', type: 'datetime', format: 'date' },
        { name: 'to', type: 'datetime', format: 'date' },
      ],
    },
  ],
  stays: { list: 'earlier', from: 'from', to: 'to', session: 'session' },
};
const CHARGE: CollectionDefinition = {
  name: 'charge',
  fields: [
    { name: 'head', type: 'text', names: 'fee_head.name' },
    {
      name: 'lines',
      type: 'object',
      list: true,
      fields: [{ name: 'head', type: 'text', names: 'fee_head.name' }],
    },
    { name: 'heads', type: 'text', list: true, names: 'fee_head.name' },
  ],
};
const MARK: CollectionDefinition = {
  name: 'mark',
  fields: [
    { name: 'child', type: 'reference', target: 'child', required: true },
    { name: 'number', type: 'text', agreesWith: 'child.number' },
    { name: 'at', type: 'datetime' },
    { name: 'class', type: 'text', agreesWith: 'child.class', agreesOn: 'at' },
    { name: 'section', type: 'text', agreesWith: 'child.section', agreesOn: 'at' },
    { name: 'session', type: 'text', format: 'session' },
    { name: 'grade', type: 'text', agreesWith: 'child.class', agreesOn: 'session' },
    { name: 'status', type: 'text' },
  ],
};

const test = useTestStore([GRADE, HEAD, CHILD, CHARGE, MARK]);

beforeAll(async () => {
  await create('grade', { name: '5', sections: [{ name: 'A' }, { name: 'B' }] });
  await create('grade', { name: '6', sections: [{ name: 'A' }] });
  await create('fee_head', { name: 'Tuition' });
  await create('fee_head', { name: 'Transport' });
});

async function create(name: string, data: JsonObject): Promise<JsonObject> {
  const [made] = await test.store.create(ADMIN, name, [data]);
  return JSON.parse(made?.json ?? '');
}

async function update(name: string, id: string, data: JsonObject): Promise<JsonObject> {
  const made = await test.store.update(ADMIN, name, id, { mode: 'merge', data });
  return JSON.parse(made.json);
}

/** The faults of a refusal. */
async function faultsOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return 'stored';
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault;
    return fault.errors?.map(({ detail }) => detail);
  }
}

describe('a text that names a record of another collection', () => {
  it('is refused if there is none, with the nearest name', async () => {
    const answer = ['/head: "Tution" is not a fee head. Did you mean "Tuition"?'];
    expect(await faultsOf(create('charge', { head: 'Tution' }))).toEqual(answer);
    const many = Array.from({ length: 3 }, (_, index) => ({ head: index === 1 ? 'Tution' : 'Tuition' }));
    expect(await faultsOf(test.store.create(ADMIN, 'charge', many))).toEqual([
      '/1/head: "Tution" is not a fee head. Did you mean "Tuition"?',
    ]);
    expect(await faultsOf(create('child', { number: '1', class: 'V', section: 'A' }))).toEqual([
      '/class: "V" is not a grade.',
    ]);
  });

  it('is stored in the spelling of the name it equals but for case and blanks', async () => {
    const sent = { head: 'tuition ', lines: [{ head: 'TUITION' }], heads: ['Transport', ' transport'] };
    expect(await create('charge', sent)).toMatchObject({
      head: 'Tuition',
      lines: [{ head: 'Tuition' }],
      heads: ['Transport', 'Transport'],
    });
    const [first, second] = await test.store.create(ADMIN, 'child', [
      { number: '2', class: '5', section: 'a' },
      { number: '3', class: ' 5', section: 'B' },
    ]);
    expect(first?.json).toContain('"section": "A"');
    expect(second?.json).toContain('"class": "5"');
  });

  it('is looked for in lists and objects', async () => {
    const sent = { lines: [{ head: 'Tuition' }, { head: 'Bus' }], heads: ['Bus'] };
    expect(await faultsOf(create('charge', sent))).toEqual([
      '/heads/0: "Bus" is not a fee head.',
      '/lines/1/head: "Bus" is not a fee head.',
    ]);
  });

  it('names one record together with the field beside it', async () => {
    const answer = ['/section: "B" is not among the sections of grade "6".'];
    expect(await faultsOf(create('child', { number: '4', class: '6', section: 'B' }))).toEqual(answer);
    const { _id } = await create('child', { number: '5', class: '5', section: 'B' });
    expect(await faultsOf(update('child', String(_id), { class: '6' }))).toEqual(answer);
    expect(await update('child', String(_id), { class: '6', section: 'a' })).toMatchObject({ section: 'A' });
  });

  it('holds for updates by filter, upserts and replacements', async () => {
    const { _id } = await create('charge', { head: 'Transport' });
    const id = String(_id);
    const filter = { kind: 'equals', path: ['_id'], value: id } as const;
    const set = (head: string) =>
      test.store.updateMatching(ADMIN, 'charge', {
        filter,
        update: [{ kind: 'set', path: ['head'], value: head }],
      });
    const answer = ['/head: "Tution" is not a fee head. Did you mean "Tuition"?'];
    expect(await faultsOf(set('Tution'))).toEqual(answer);
    const upsert = (head: string) =>
      test.store.upsert(ADMIN, 'charge', { records: [{ _id: id, head }], by: '_id' });
    expect(await faultsOf(upsert('Tution'))).toEqual(answer);
    const replace = (head: string) =>
      test.store.update(ADMIN, 'charge', id, { mode: 'replace', data: { head } });
    expect(await faultsOf(replace('Tution'))).toEqual(answer);
    await set(' tuition');
    const record = await test.store.get(ADMIN, 'charge', id);
    expect(record?.json).toContain('"head": "Tuition"');
  });

  it('stays where the record had it before, and does not block the change of another field', async () => {
    await test.database.query(sql`
      insert into records (domain, collection, id, data)
      values ('school', 'child', 'old', '{"number": "old", "class": "Class 5", "section": "z"}')`);
    expect(await update('child', 'old', { remark: 'x' })).toMatchObject({ class: 'Class 5' });
    expect(await update('child', 'old', { class: 'Class 5' })).toMatchObject({ section: 'z' });
    expect(await faultsOf(update('child', 'old', { class: 'Class 6' }))).toEqual([
      '/class: "Class 6" is not a grade.',
    ]);
  });
});

describe('a text that agrees with the record at a reference', () => {
  const inSixth = { session: '2026-27', class: '6', section: 'A', from: '2020-04-01' };
  const inFifth = { session: '2025-26', class: '5', section: 'B', from: '2025-04-01', to: '2026-03-31' };

  beforeAll(async () => {
    await create('child', { _id: 'one', number: 'N1', ...inSixth, earlier: [inFifth] });
    await create('child', { _id: 'two', number: 'N2', ...inSixth });
  });

  it('is refused if it is that of another record', async () => {
    const child = { value: 'one' };
    expect(await create('mark', { child, number: 'N1' })).toMatchObject({ number: 'N1' });
    expect(await faultsOf(create('mark', { child, number: 'N2' }))).toEqual([
      '/number: "N2" is not the number of the record "one" of child, its child: that is "N1"',
    ]);
    const many = [
      { child, number: 'N1' },
      { child, number: 'N9' },
    ];
    expect(await faultsOf(test.store.create(ADMIN, 'mark', many))).toHaveLength(1);
    const { _id } = await create('mark', { child, number: 'N1' });
    expect(await faultsOf(update('mark', String(_id), { child: { value: 'two' } }))).toHaveLength(1);
    expect(await update('mark', String(_id), { child: { value: 'two' }, number: 'N2' })).toBeDefined();
  });

  it('agrees with the stay of the day', async () => {
    const mark = async (id: string, at: string, place: JsonObject) =>
      await faultsOf(create('mark', { child: { value: id }, at, ...place }));
    expect(await mark('one', '2026-05-01T04:00:00.000Z', { class: '6', section: 'A' })).toBe('stored');
    expect(await mark('one', '2026-05-01T04:00:00.000Z', { class: '5', section: 'B' })).toEqual([
      '/class: "5" is not the class of the record "one" of child, its child (2026-05-01): that is "6"',
    ]);
    // In India it is the last day of March until half past six in the evening.
    expect(await mark('one', '2026-03-31T18:00:00.000Z', { class: '5', section: 'B' })).toBe('stored');
    expect(await mark('one', '2026-03-31T19:00:00.000Z', { class: '5', section: 'B' })).not.toBe('stored');
    expect(await mark('one', '2026-03-01T04:00:00.000Z', { class: '5', section: 'A' })).toHaveLength(1);
    // The place of the other child is known for its session alone.
    expect(await mark('two', '2026-03-01T04:00:00.000Z', { class: '5' })).toBe('stored');
    expect(await mark('two', '2026-04-01T04:00:00.000Z', { class: '5' })).toHaveLength(1);
  });

  it('agrees with a stay of the session', async () => {
    const mark = async (session: string, grade: string) =>
      await faultsOf(create('mark', { child: { value: 'one' }, session, grade }));
    expect(await mark('2025-26', '5')).toBe('stored');
    expect(await mark('2025-26', '6')).toHaveLength(1);
    expect(await mark('2026-27', '6')).toBe('stored');
    expect(await mark('2027-28', '7')).toBe('stored');
  });
});

describe('a name that other records use', () => {
  beforeAll(async () => {
    await create('grade', { _id: 'g7', name: '7', sections: [{ name: 'A' }, { name: 'B' }] });
    const stay = { session: '2025-26', class: '7', section: 'B', from: '2025-04-01', to: '2026-03-31' };
    await create('child', {
      _id: 'c7',
      number: 'C7',
      class: '7',
      section: 'A',
      session: '2026-27',
      earlier: [stay],
    });
    await create('mark', { _id: 'm7', child: { value: 'c7' }, session: '2026-27', grade: '7' });
    await create('fee_head', { _id: 'h1', name: 'Sports' });
    await create('charge', { _id: 'x1', head: 'Sports', lines: [{ head: 'Sports' }], heads: ['Sports'] });
  });

  async function stored(name: string, id: string): Promise<JsonObject> {
    return JSON.parse((await test.store.get(ADMIN, name, id)).json);
  }

  it('is not removed while it is used, except by force', async () => {
    const remove = async (options = {}) =>
      await faultsOf(test.store.delete(ADMIN, 'fee_head', 'h1', options));
    expect(await remove()).toEqual([
      '1 record of charge names it (head)',
      '1 record of charge names it (heads)',
      '1 record of charge names it (lines.head)',
    ]);
    const filter = { kind: 'equals', path: ['name'], value: 'Sports' } as const;
    expect(await faultsOf(test.store.deleteMatching(ADMIN, 'fee_head', { filter }))).toHaveLength(3);
    await create('fee_head', { _id: 'h2', name: 'Unused' });
    expect(await faultsOf(test.store.delete(ADMIN, 'fee_head', 'h2'))).toBe('stored');
  });

  it('is not renamed while it is used', async () => {
    expect(await faultsOf(update('grade', 'g7', { name: 'VII' }))).toEqual([
      '1 record of child names it (class)',
      '1 record of child names it (earlier.class)',
    ]);
    expect(await faultsOf(update('grade', 'g7', { sections: [{ name: 'A' }] }))).toEqual([
      '1 record of child names it (earlier.section)',
    ]);
    const upsert = test.store.upsert(ADMIN, 'grade', { records: [{ _id: 'g7', name: 'VII' }], by: '_id' });
    expect(await faultsOf(upsert)).toHaveLength(2);
    expect(
      await update('grade', 'g7', { sections: [{ name: 'B' }, { name: 'A' }, { name: 'C' }] }),
    ).toBeDefined();
  });

  it('is renamed everywhere if an admin asks for it, in one request that can be undone', async () => {
    const scope = { ...ADMIN, call: { requestId: 'rename-7' } };
    const rename = async (who: typeof ADMIN, name: string) =>
      await test.store.update(who, 'grade', 'g7', { mode: 'merge', data: { name }, renameEverywhere: true });
    await rename(scope, 'VII');
    expect(await stored('child', 'c7')).toMatchObject({ class: 'VII', earlier: [{ class: 'VII' }] });
    await test.store.undo(ADMIN, 'rename-7');
    expect(await stored('child', 'c7')).toMatchObject({ class: '7', earlier: [{ class: '7' }] });
    const sections = [{ name: 'B' }, { name: 'Amber' }, { name: 'C' }];
    await test.store.update(ADMIN, 'grade', 'g7', {
      mode: 'merge',
      data: { sections },
      renameEverywhere: true,
    });
    expect(await stored('child', 'c7')).toMatchObject({ section: 'Amber', earlier: [{ section: 'B' }] });
    const head = { mode: 'merge', data: { name: 'Games' }, renameEverywhere: true } as const;
    await test.store.update(ADMIN, 'fee_head', 'h1', head);
    const everywhere = { head: 'Games', lines: [{ head: 'Games' }], heads: ['Games'] };
    expect(await stored('charge', 'x1')).toMatchObject(everywhere);
  });

  it('is what records repeat of the one at their reference, whatever the day', async () => {
    await create('child', { _id: 'c8', number: 'N-8' });
    await create('mark', { _id: 'm8', child: 'c8', number: 'N-8' });
    const merge = { mode: 'merge', data: { number: 'N-88' } } as const;
    expect(await faultsOf(test.store.update(ADMIN, 'child', 'c8', merge))).toEqual([
      '1 record of mark names it (number)',
    ]);
    await test.store.update(ADMIN, 'child', 'c8', { ...merge, renameEverywhere: true });
    expect(await stored('mark', 'm8')).toMatchObject({ number: 'N-88' });
  });
});
