/** Staged writes: their lines, and what they cost PostgreSQL where it knows nothing of the records yet. */
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { Scope } from '../../../src/base/model/scope.js';
import type { OwnTransaction } from '../../../src/store/database/queryable.js';
import { sql } from '../../../src/store/sql.js';
import { checkRecord, printStagedLine, type StagingRules } from '../../../src/store/writing/check-record.js';
import type { StagedBatch } from '../../../src/store/writing/staged-work.js';
import { ADMIN, scopeOf } from '../people.js';
import { useTestStore } from '../store.js';

const BATCH_ROWS = 2_000;
const BATCHES = 3;
/** Each statement may read all records once; for each row of a batch it may not. */
const MOST_READ = 10 * BATCHES * BATCH_ROWS;

/** Each has an index that knows its records no better than by their domain. */
const test = useTestStore([
  {
    name: 'seats',
    fields: ['class', 'row'].map((name) => ({ name, type: 'text' as const })),
    uniqueTogether: [{ name: 'class_row', parts: [{ path: 'class' }, { path: 'row' }] }],
    access: {
      teacher: { verbs: ['read', 'create', 'update'], rows: { fields: ['class'], attribute: 'self' } },
    },
  },
  ...['by_id', 'by_field', 'at_once', 'odd_names', 'taken_ids'].map((name) => ({
    name,
    fields: [
      { name: 'admission', type: 'text' as const, unique: true },
      { name: 'class', type: 'text' as const, index: true },
    ],
  })),
]);

/** The lines of a batch, of records that differ from those of an earlier file by their class. */
function batchOf(index: number, { by, group }: { readonly by: string; readonly group: string }): StagedBatch {
  const lines = Array.from({ length: BATCH_ROWS }, (_, offset) => {
    const number = index * BATCH_ROWS + offset + 1;
    const data = JSON.stringify({ admission: `A-${number}`, class: group });
    return `${[number, `r-${number}`, 't', data, '{}', '{}', '', '', ''].join('\t')}\n`;
  });
  return {
    key: by === '_id' ? { kind: 'id' } : { kind: 'field', name: by },
    lines: Buffer.from(lines.join('')),
    count: BATCH_ROWS,
    fields: ['admission', 'class'],
    mode: 'write',
    now: new Date(),
  };
}

/**
 * How many records this connection has read, found by an index or not, since it told of them last, which it
 * does between transactions.
 */
async function countRead(transaction: OwnTransaction, collection: string): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(sql`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as count
    from pg_stat_xact_user_tables
    where relname = ${`records_${collection}`}`);
  return row?.count ?? 0;
}

describe('staged writes into a collection that was just made', () => {
  it.each([
    ['_id', 'by_id'],
    ['admission', 'by_field'],
  ])('by %s do not read all of its records for each row', async (by, collection) => {
    const staging = test.store.staging([]);
    await test.database.withConnection('a test', async (connection) => {
      for (const group of ['5', '6']) {
        for (let index = 0; index < BATCHES; index += 1) {
          await connection.transaction(async (transaction) => {
            const readBefore = await countRead(transaction, collection);
            const batch = batchOf(index, { by, group });
            const outcome = await staging.write(transaction, ADMIN, collection, batch);
            expect([outcome.created.length, outcome.updated.length]).toEqual(
              group === '5' ? [BATCH_ROWS, 0] : [0, BATCH_ROWS],
            );
            expect((await countRead(transaction, collection)) - readBefore).toBeLessThan(MOST_READ);
          });
        }
      }
    });
  });

  it('do not do so in one transaction either, whose records nobody else sees', async () => {
    const staging = test.store.staging([]);
    await test.database.withConnection('a test', async (connection) => {
      await connection.transaction(async (transaction) => {
        for (let index = 0; index < BATCHES; index += 1) {
          const batch = batchOf(index, { by: 'admission', group: '5' });
          await staging.write(transaction, ADMIN, 'at_once', batch);
        }
        expect(await countRead(transaction, 'at_once')).toBeLessThan(MOST_READ);
      });
    });
  });
});

describe('the lines of staged records', () => {
  const ODD = 'a\tb\bc\nd\re"f\\g,{h}';

  /** What becomes of the one record of `odd_names` by a row that has these fields and removes those. */
  async function write(record: JsonObject, removed: readonly string[]): Promise<readonly number[]> {
    const staging = test.store.staging([]);
    const key = { kind: 'id' } as const;
    const collection = staging.assertMayWrite(ADMIN, 'odd_names', Object.keys(record), key);
    const now = new Date('2026-07-01T03:00:00.000Z');
    const rules: StagingRules = {
      collection,
      mode: 'replace',
      timeZone: 'UTC',
      now,
      key,
      partial: new Set(),
    };
    const checked = checkRecord({ _id: 'r-1', ...record }, rules);
    const line = printStagedLine(checked, rules, { number: 1, id: 'r-1', removed, missing: [] });
    const fields = Object.keys(record);
    const batch = { key, lines: Buffer.from(line), count: 1, fields, mode: 'write' as const, now };
    return await test.database.withConnection('a test', (connection) =>
      connection.transaction(async (transaction) => {
        const { created, updated, same } = await staging.write(transaction, ADMIN, 'odd_names', batch);
        return [created.length, updated.length, same];
      }),
    );
  }

  async function stored(): Promise<string | undefined> {
    const [row] = await test.database.query<{ data: string }>(sql`
      select (data - 'created_on')::text as data from records where collection = 'odd_names'`);
    return row?.data;
  }

  it('hold names and texts of any characters, also of fields that go', async () => {
    const before = { admission: 'A\t1\\N', class: '\\.', [ODD]: { [ODD]: ODD } };
    expect(await write(before, [])).toEqual([1, 0, 0]);
    expect(JSON.parse((await stored()) ?? '')).toEqual(before);
    expect(await write(before, [])).toEqual([0, 0, 1]);
    expect(await write({ admission: 'A-1', class: '5' }, [ODD, 'null'])).toEqual([0, 1, 0]);
    expect(JSON.parse((await stored()) ?? '')).toEqual({ admission: 'A-1', class: '5' });
  });

  it('leave a record that is there without what only a new one gets', async () => {
    const [row] = await test.database.query<{ stamp: string }>(sql`
      update records set data = data || '{"created_on": "2020-01-01T00:00:00.000Z"}'
      where collection = 'odd_names' returning data->>'created_on' as stamp`);
    expect(await write({ admission: 'A-1', class: '6' }, [])).toEqual([0, 1, 0]);
    const [after] = await test.database.query<{ stamp: string }>(sql`
      select data->>'created_on' as stamp from records where collection = 'odd_names'`);
    expect(after).toEqual(row);
  });
});

describe('staged records whose _id is that of a removed one', () => {
  const STAGED = ['r-1', 'r-3', 'r-5'];

  /** Of which staged ids records are created, and what is said of others, where these ids are taken. */
  async function write(taken: readonly string[], isSent: boolean) {
    await test.database.query(sql`delete from records where collection = 'taken_ids'`);
    await test.database.query(sql`
      insert into records (domain, collection, id, data, deleted_at)
      select ${ADMIN.domain.id}, 'taken_ids', id, '{}', now() from unnest(${[...taken]}::text[]) as id`);
    const lines = STAGED.map((id, index) => {
      const data = JSON.stringify({ admission: `A-${index}` });
      return `${[index + 1, id, isSent ? 't' : 'f', data, '{}', '{}', '', '', ''].join('\t')}\n`;
    });
    const batch: StagedBatch = {
      key: { kind: 'field', name: 'admission' },
      lines: Buffer.from(lines.join('')),
      count: STAGED.length,
      fields: ['admission'],
      mode: 'write',
      now: new Date(),
    };
    const staging = test.store.staging([]);
    const outcome = await test.database.withConnection('a test', (connection) =>
      connection.transaction((transaction) => staging.write(transaction, ADMIN, 'taken_ids', batch)),
    );
    const live = await test.database.query<{ id: string }>(sql`
      select id from records where collection = 'taken_ids' and deleted_at is null order by id`);
    return { refused: outcome.refused.map(({ number }) => number), ids: live.map(({ id }) => id) };
  }

  it.each([
    ['the first', ['r-1']],
    ['the last', ['r-5']],
    ['one in the middle', ['r-0', 'r-3', 'r-6']],
    ['all', STAGED],
    ['none, though others are among them', ['r-2', 'r-4']],
    ['none, and the others are around them', ['a', 'z']],
  ])('bring it back, and no other: %s', async (_, taken) => {
    expect(await write(taken, true)).toEqual({ refused: [], ids: STAGED });
    expect(await write(taken, false)).toEqual({ refused: [], ids: STAGED });
  });
});

describe('staged records by values that are unique together', () => {
  /** What is refused of one row whose key a record of class 6 has. */
  async function refusedTo(scope: Scope) {
    const line = ['1', 's-1', 'f', '{"class": "5"}', '{}', '{}', '', '{"class_row": "taken"}', ''].join('\t');
    const key = { kind: 'rule', name: 'class_row' } as const;
    const lines = Buffer.from(`${line}\n`);
    const batch = { key, lines, count: 1, fields: ['class'], mode: 'try' as const, now: new Date() };
    const staging = test.store.staging([]);
    const { refused, updated } = await test.database.withConnection('a test', (connection) =>
      connection.transaction((transaction) => staging.write(transaction, scope, 'seats', batch)),
    );
    return { refused: refused.map(({ number }) => number), updated: updated.length };
  }

  it('are told of a record that has them out of the reach of the caller', async () => {
    await test.database.query(sql`
      insert into records (domain, collection, id, data, keys)
      values (${ADMIN.domain.id}, 'seats', 's-0', '{"class": "6"}', '{"class_row": "taken"}')`);
    const teacher = scopeOf({ id: 'usr-5', roles: ['teacher'], attributes: { self: [['5']] } });
    expect(await refusedTo(teacher)).toEqual({ refused: [1], updated: 0 });
    expect(await refusedTo(ADMIN)).toEqual({ refused: [], updated: 1 });
  });
});
