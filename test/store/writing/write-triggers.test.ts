import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { ExactNumber, type JsonObject } from '../../../src/base/json/json.js';
import type { Filter } from '../../../src/base/model/filter.js';
import { systemPrincipal } from '../../../src/base/model/scope.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { sql } from '../../../src/store/sql.js';
import type { AskedWrite, BeforeTrigger, WriteOperation } from '../../../src/store/writing/write-triggers.js';
import { isTestedOnCitus } from '../../spread-databases.js';
import { ADMIN, scopeOf, TOP } from '../people.js';
import { dataOf, useTestStore } from '../store.js';

const test = useTestStore();
const CLERK = scopeOf({ id: 'usr-clerk', roles: ['clerk'] });
let asked: AskedWrite[];
/** What the trigger makes of a record. */
let answer: (write: AskedWrite) => JsonObject | undefined;
let triggers: readonly BeforeTrigger[];

const asCaller: BeforeTrigger = {
  principalFor: ({ principal }) => principal,
  ask: async (write) => {
    asked.push(write);
    return answer(write);
  },
};
const asAdmin: BeforeTrigger = {
  ...asCaller,
  principalFor: ({ domain }) => systemPrincipal('script:numbers', ['admin'], domain.id),
};

function triggeredStore(operations: readonly WriteOperation[]): RecordStore {
  return new RecordStore({
    database: test.database,
    catalog: test.catalog,
    topDomain: () => TOP,
    triggers: {
      names: () => ({ before: [], after: [] }),
      reserve: () => undefined,
      before: (domainId, collection, operation) =>
        domainId === TOP.id && collection === 'student' && operations.includes(operation) ? triggers : [],
      after: (_scope, collection) =>
        collection === 'student' ? sql`json_build_array(r.id, r.version)` : undefined,
      begin: (following) => sql`note_start(${following}->>0, (${following}->>1)::int)`,
    },
  });
}

beforeAll(async () => {
  await test.database.query(sql`create table started (id text, version int)`);
  await test.database.query(sql`
    create function note_start(id text, version int) returns int language sql
    as 'insert into started values (id, version) returning version'`);
});

beforeEach(async () => {
  await test.database.query(sql`delete from records`);
  asked = [];
  answer = () => undefined;
  triggers = [asCaller];
});

const STUDENT = { number: 'n-1', name: 'Ananya', class: '5', section: 'A' };
const inClass5: Filter = { kind: 'equals', path: ['class'], value: '5' };

async function add(fields: JsonObject = {}): Promise<string> {
  const [record] = await test.store.create(ADMIN, 'student', [{ ...STUDENT, ...fields }]);
  return record?.id ?? '';
}

async function read(id: string): Promise<JsonObject> {
  return dataOf(await test.store.get(ADMIN, 'student', id));
}

describe('before a record is created', () => {
  it('is told the record as it will be, and changes it', async () => {
    answer = ({ record }) => ({ ...record, class: '6', status: 'left' });
    const [created] = await triggeredStore(['create']).create(ADMIN, 'student', [{ _id: 's1', ...STUDENT }]);
    expect(created && dataOf(created)).toMatchObject({ number: 'n-1', class: '6', status: 'left' });
    expect(asked).toEqual([
      expect.objectContaining({
        operation: 'create',
        collection: 'student',
        record: { _id: 's1', ...STUDENT },
        previous: undefined,
      }),
    ]);
  });

  it('gives a required field the caller left out', async () => {
    answer = ({ record }) => ({ ...record, number: 'n-77' });
    const { number: _, ...without } = STUDENT;
    const [created] = await triggeredStore(['create']).create(ADMIN, 'student', [without]);
    expect(created && dataOf(created).number).toBe('n-77');
  });

  it('asks one trigger after the other, each of what the one before made', async () => {
    triggers = [asCaller, asCaller];
    answer = ({ record }) => ({ ...record, class: `${record.class}+` });
    const [created] = await triggeredStore(['create']).create(ADMIN, 'student', [STUDENT]);
    expect(created && dataOf(created).class).toBe('5++');
  });

  it('refuses all records when one is refused', async () => {
    answer = ({ record }) => {
      if (record.name === 'Bad') throw new ServiceError('INVALID_VALUE', 'not this one');
      return undefined;
    };
    const both = [STUDENT, { ...STUDENT, number: 'n-2', name: 'Bad' }];
    await expect(triggeredStore(['create']).create(ADMIN, 'student', both)).rejects.toThrow('not this one');
    expect(await test.database.query(sql`select id from records`)).toEqual([]);
  });

  it('checks what it gives as it checks what is sent', async () => {
    answer = ({ record }) => ({ ...record, status: 'flown' });
    await expect(triggeredStore(['create']).create(ADMIN, 'student', [STUDENT])).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
  });

  it(
    'keeps its changes for good only with the write: what a trigger wrote is undone when the write is ' +
      'refused',
    async () => {
      await add({ number: 'taken' });
      triggers = [
        {
          ...asCaller,
          ask: async (_write, within) => {
            await test.store.create(ADMIN, 'room', [{ _id: 'r1', name: 'Lab' }], { within });
            return undefined;
          },
        },
      ];
      const again = { ...STUDENT, number: 'taken' };
      await expect(triggeredStore(['create']).create(ADMIN, 'student', [again])).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      await expect(test.store.get(ADMIN, 'room', 'r1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    },
  );
});

describe('before a record is updated', () => {
  it('is told the record as it is and as it will be, and adds to the change', async () => {
    const id = await add();
    answer = ({ record }) => ({ ...record, section: 'B' });
    const store = triggeredStore(['update']);
    await store.update(ADMIN, 'student', id, { data: { class: '6' }, mode: 'merge' });
    expect(await read(id)).toMatchObject({ class: '6', section: 'B' });
    expect(asked[0]).toMatchObject({ record: { class: '6', section: 'A' }, previous: { class: '5' } });
  });

  it('takes a field away that is missing in the answer', async () => {
    const id = await add({ phone: '123' });
    answer = ({ record: { phone: _, ...others } }) => others;
    await triggeredStore(['update']).update(ADMIN, 'student', id, { data: { class: '6' }, mode: 'merge' });
    expect(await read(id)).not.toHaveProperty('phone');
  });

  it('leaves the digits of a number alone that a script cannot hold', async () => {
    const id = await add({ fee: new ExactNumber('123456789012345678.91') });
    answer = ({ record }) => ({ ...record, section: 'C' });
    await triggeredStore(['update']).update(ADMIN, 'student', id, { data: { class: '6' }, mode: 'merge' });
    const [row] = await test.database.query(
      sql`select data->>'fee' as fee, data->>'section' as section from records where id = ${id}`,
    );
    expect(row).toEqual({ fee: '123456789012345678.91', section: 'C' });
  });

  it('is not asked of a record that is not there', async () => {
    const store = triggeredStore(['update']);
    const change = store.update(ADMIN, 'student', 'nobody', { data: { class: '6' }, mode: 'merge' });
    await expect(change).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(asked).toEqual([]);
  });

  it('is asked of every record that an update of many changes', async () => {
    const ids = [await add(), await add({ number: 'n-2' }), await add({ number: 'n-3', section: 'B' })];
    answer = ({ record }) => ({ ...record, phone: `of ${record.number}` });
    const request = { filter: inClass5, update: [{ kind: 'set', path: ['section'], value: 'B' }] } as const;
    const done = await triggeredStore(['update']).updateMatching(ADMIN, 'student', request);
    expect(done).toEqual({ matched: 3, modified: 2 });
    expect((await read(ids[0] ?? '')).phone).toBe('of n-1');
    expect(await read(ids[2] ?? '')).not.toHaveProperty('phone');
  });
});

describe('before a record is deleted', () => {
  it('may refuse, one record or many', async () => {
    const id = await add();
    answer = () => {
      throw new ServiceError('CONFLICT', 'has dues');
    };
    const store = triggeredStore(['delete']);
    await expect(store.delete(ADMIN, 'student', id)).rejects.toThrow('has dues');
    await expect(store.deleteMatching(ADMIN, 'student', { filter: inClass5 })).rejects.toThrow('has dues');
    expect(await read(id)).toMatchObject(STUDENT);
  });

  it('does not change what is deleted', async () => {
    const id = await add();
    answer = ({ record }) => ({ ...record, class: '9' });
    expect(dataOf(await triggeredStore(['delete']).delete(ADMIN, 'student', id)).class).toBe('5');
  });
});

describe('rights', () => {
  it('holds what a trigger changes against those of the caller it runs as', async () => {
    answer = ({ record }) => ({ ...record, status: 'left' });
    await expect(triggeredStore(['create']).create(CLERK, 'student', [STUDENT])).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  it('lets a trigger with roles of its own set what its caller may not', async () => {
    triggers = [asAdmin];
    answer = ({ record }) => ({ ...record, fee: 1 });
    const [created] = await triggeredStore(['create']).create(CLERK, 'student', [STUDENT]);
    expect((await read(created?.id ?? '')).fee).toEqual(new ExactNumber('1'));
  });
});

describe('after a write', () => {
  // On Citus, what follows is written to the outbox, and begins when that is emptied.
  const onOneServer = isTestedOnCitus() ? it.skip : it;
  onOneServer('begins what follows in the statement of the write, for each record written', async () => {
    const store = triggeredStore([]);
    const [created] = await store.create(ADMIN, 'student', [STUDENT]);
    const id = created?.id ?? '';
    await store.update(ADMIN, 'student', id, { data: { section: 'B' }, mode: 'merge' });
    const many = { filter: inClass5, update: [{ kind: 'set', path: ['section'], value: 'C' }] } as const;
    await store.updateMatching(ADMIN, 'student', many);
    await store.deleteMatching(ADMIN, 'student', { filter: inClass5 });
    const started = await test.database.query(
      sql`select id, version from started where id = ${id} order by version`,
    );
    expect(started).toEqual([1, 2, 3, 4].map((version) => ({ id, version })));
  });
});
