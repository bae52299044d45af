import { beforeEach, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { type JsonObject, printExactJson } from '../../../src/base/json/json.js';
import type { CollectionDefinition } from '../../../src/store/catalog/collection-definition.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN, scopeOf } from '../people.js';
import { dataOf, useTestStore } from '../store.js';

const WRITES = ['create', 'update', 'delete'] as const;
/** Every kind of rule over several fields, each with a field that the agent does not see. */
const LOAN: CollectionDefinition = {
  name: 'loan',
  fields: [
    { name: 'low', type: 'number' },
    { name: 'high', type: 'number' },
    { name: 'total', type: 'number' },
    { name: 'part', type: 'number' },
    { name: 'rest', type: 'number' },
    { name: 'code', type: 'text', unique: true },
    { name: 'seat', type: 'text' },
    { name: 'room', type: 'text' },
    { name: 'from', type: 'number' },
    { name: 'until', type: 'number' },
    { name: 'note', type: 'text' },
    { name: 'pin', type: 'text' },
  ],
  checks: [
    { kind: 'order', lower: 'low', upper: 'high' },
    { kind: 'sum', total: 'total', of: ['part', 'rest'] },
    { kind: 'order', lower: 'from', upper: 'until' },
  ],
  uniqueTogether: [{ name: 'place', parts: [{ path: 'room' }, { path: 'seat' }] }],
  access: {
    clerk: { verbs: ['read', ...WRITES] },
    agent: { verbs: ['read', ...WRITES], hiddenFields: ['high', 'rest', 'code', 'room'] },
    mailbox: { verbs: ['create', 'update'] },
    reader: { verbs: ['read'], hiddenFields: ['code', 'room', 'pin'] },
  },
};
const NEEDY: CollectionDefinition = {
  name: 'needy',
  fields: [
    { name: 'name', type: 'text' },
    { name: 'grade', type: 'text', required: true },
  ],
  access: { agent: { verbs: ['read', 'create'], hiddenFields: ['grade'] } },
};
const test = useTestStore([LOAN, NEEDY]);
const AGENT = scopeOf({ id: 'usr-agent', roles: ['agent'] });
const MAILBOX = scopeOf({ id: 'usr-mailbox', roles: ['mailbox'] });
/** Sets fields by one role that the other hides. */
const SETTER = scopeOf({ id: 'usr-setter', roles: ['mailbox', 'reader'] });
const SECRETS = /777|778|SECRET|R9|high|rest|\broom\b/;
const STORED: JsonObject = {
  low: 1,
  high: 777,
  total: 778,
  part: 1,
  rest: 777,
  code: 'SECRET',
  seat: 's1',
  room: 'R9',
};

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  await test.store.create(ADMIN, 'loan', [
    { _id: 'one', ...STORED },
    { _id: 'two', low: 1, seat: 's2', room: 'R9', from: 1, until: 5 },
  ]);
});

/** What a refused write says, errors and all; nothing of it is secret. */
async function refusal(work: () => Promise<unknown>): Promise<ServiceError> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(`${error.message} ${JSON.stringify(error.errors ?? [])}`).not.toMatch(SECRETS);
    return error;
  }
  throw new Error('the write was accepted');
}

/** The record as it is, its numbers as plain ones. */
async function stored(): Promise<unknown> {
  return JSON.parse(printExactJson(dataOf(await test.store.get(ADMIN, 'loan', 'one'))));
}

type Write = (data: JsonObject) => Promise<unknown>;
const DOORS: readonly [name: string, write: Write][] = [
  ['a merge', (data) => test.store.update(AGENT, 'loan', 'one', { data, mode: 'merge' })],
  [
    'an update of all that match',
    (data) =>
      test.store.updateMatching(AGENT, 'loan', {
        filter: { kind: 'equals', path: ['_id'], value: 'one' },
        update: Object.entries(data).map(([name, value]) => ({ kind: 'set', path: [name], value })),
      }),
  ],
  [
    'an upsert',
    (data) => test.store.upsert(AGENT, 'loan', { by: '_id', records: [{ _id: 'one', ...data }] }),
  ],
];

describe('a field that is set and not read', () => {
  const versionOf = async () => (await test.store.get(ADMIN, 'loan', 'one')).version;
  const filter = { kind: 'equals', path: ['_id'], value: 'one' } as const;

  it.each(['1234', '5678'])('is told neither to be the same nor another by an update: %s', async (pin) => {
    await test.store.update(ADMIN, 'loan', 'one', { data: { pin: '1234' }, mode: 'merge' });
    const before = await versionOf();
    const update = [{ kind: 'set', path: ['pin'], value: pin }] as const;
    expect(await test.store.updateMatching(SETTER, 'loan', { filter, update })).toEqual({
      matched: 1,
      modified: 1,
    });
    expect(await versionOf()).toBe(before + 1);
    await test.store.upsert(SETTER, 'loan', { by: '_id', records: [{ _id: 'one', pin }] });
    expect(await versionOf()).toBe(before + 2);
    expect(await stored()).toMatchObject({ ...STORED, pin });
  });

  it('is told neither to be there nor to be missing by its removal', async () => {
    const update = [{ kind: 'unset', path: ['pin'] }] as const;
    const before = await versionOf();
    expect(await test.store.updateMatching(SETTER, 'loan', { filter, update })).toEqual({
      matched: 1,
      modified: 1,
    });
    expect(await versionOf()).toBe(before + 1);
  });

  it('is left alone where it is read and the same', async () => {
    await test.store.update(ADMIN, 'loan', 'one', { data: { pin: '1234' }, mode: 'merge' });
    const update = [{ kind: 'set', path: ['pin'], value: '1234' }] as const;
    expect(await test.store.updateMatching(ADMIN, 'loan', { filter, update })).toEqual({
      matched: 1,
      modified: 0,
    });
  });
});

describe.each(DOORS)('by %s, a write that a rule would hold against hidden values', (_door, write) => {
  const probes: readonly [what: string, data: JsonObject, names: string][] = [
    ['an order that does not hold', { low: 9999 }, 'low'],
    ['an order that holds', { low: 2 }, 'low'],
    ['a sum that is wrong', { total: 1 }, 'total'],
    ['a sum with another part', { part: 5 }, 'part'],
    ['values that are taken together', { seat: 's2' }, 'seat'],
    ['values that are free together', { seat: 's3' }, 'seat'],
  ];
  it.each(probes)('is refused: %s', async (_what, data, names) => {
    const refused = await refusal(() => write(data));
    expect(refused.code).toBe('FORBIDDEN');
    expect(refused.message).toBe(
      `${refused.message.startsWith('record "one": ') ? 'record "one": ' : ''}you may not set ` +
        `${names} of loan: ` +
        'a rule compares it with fields that you may not read; one of these roles is needed: ' +
        'admin, clerk, mailbox',
    );
    expect(await stored()).toMatchObject(STORED);
  });

  it('is done where the rule looks at nothing hidden, or nothing it looks at changes', async () => {
    await write({ note: 'seen', low: 1, from: 3, until: 4 });
    expect(await stored()).toMatchObject({
      ...STORED,
      note: 'seen',
      from: 3,
    });
    const refused = await refusal(() => write({ from: 9 }));
    expect([refused.code, refused.message]).toEqual([
      'INVALID_VALUE',
      expect.stringContaining('from 9 is above until 4'),
    ]);
  });
});

describe('a replacement', () => {
  const replace = (data: JsonObject) => test.store.update(AGENT, 'loan', 'one', { data, mode: 'replace' });

  it('is refused where it changes what a rule holds against hidden values', async () => {
    const refused = await refusal(() => replace({ low: 9999, total: 778, part: 1, seat: 's1' }));
    expect(refused.code).toBe('FORBIDDEN');
  });

  it('is done where all of that stays', async () => {
    await replace({ low: 1, total: 778, part: 1, seat: 's1', note: 'again' });
    expect(await stored()).toMatchObject({ ...STORED, note: 'again' });
  });
});

it('a record the caller may change and not read is told of in no message', async () => {
  const refused = await refusal(() =>
    test.store.update(MAILBOX, 'loan', 'two', { data: { from: 9 }, mode: 'merge' }),
  );
  expect([refused.code, refused.message]).toEqual([
    'FORBIDDEN',
    expect.stringMatching(/you may not set from/),
  ]);
  expect(refused.message).not.toMatch(/5/);
});

it('what a record out of reach says is that it is not there', async () => {
  const refused = await refusal(() =>
    test.store.update(AGENT, 'loan', 'none', { data: { low: 9999 }, mode: 'merge' }),
  );
  expect(refused.code).toBe('NOT_FOUND');
});

describe('a unique field that is set and not read', () => {
  it('is not set: whether it is taken would tell of it', async () => {
    for (const code of ['SECRET', 'free']) {
      const error = await test.store.create(SETTER, 'loan', [{ code }]).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: 'FORBIDDEN',
        message:
          'you may not set code of loan: it is unique, and you may not read it; one of these roles is ' +
          'needed: admin, clerk',
      });
    }
  });

  it('is no key of an upsert', async () => {
    const refused = await refusal(() =>
      test.store.upsert(AGENT, 'loan', { by: 'none', records: [{ seat: 'x' }] }),
    );
    expect(refused.message).toBe('by: "none" does not identify the records of loan; one of _id is expected');
    for (const by of ['code', 'place']) {
      const error = await test.store
        .upsert(AGENT, 'loan', { by, records: [{ seat: 'x' }] })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'FORBIDDEN' });
    }
  });
});

it('a new record that lacks what the caller may not know of is refused without naming it', async () => {
  const error = await test.store.create(AGENT, 'needy', [{ name: 'A' }]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'FORBIDDEN',
    message:
      'you may not create records of needy: they need values that you may not set; one of these ' +
      'roles is needed: admin',
  });
});
