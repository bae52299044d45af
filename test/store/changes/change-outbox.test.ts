import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ChangeOutbox } from '../../../src/store/changes/change-outbox.js';
import { ChangeFeed, type RecordChange } from '../../../src/store/changes/commit-follower.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { NO_TRIGGERS } from '../../../src/store/writing/write-triggers.js';
import { eventually } from '../../eventually.js';
import { isTestedOnCitus } from '../../spread-databases.js';
import { ADMIN, TOP } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore([], { changes: 'outbox' });
const onOneServer = isTestedOnCitus() ? it.skip : it;
const plain = useTestStore([], { changes: 'trail' });
const opened: (() => Promise<void>)[] = [];
/** What follows is heard on a channel, and begun as soon as that is committed. */
const TRIGGERS = {
  begin: (following: Sql) => sql`pg_notify('begun', ${following}::text)::text`,
};

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await test.database.query(sql`truncate change_outbox, told_changes`);
});

/** A gateway of its own as far as changes go, and what it hears from now on. */
async function hear() {
  const { database } = test;
  const outbox = new ChangeOutbox({ database, triggers: TRIGGERS, onFault: () => {} });
  opened.push(() => outbox.close());
  const feed = new ChangeFeed({ database, outbox, pollMs: 5, onFault: () => {} });
  opened.push(() => feed.close());
  const changes: RecordChange[] = [];
  await feed.follow((more) => {
    changes.push(...more);
  });
  const heard = () => changes.map(({ operation, id, version }) => `${operation} ${id} ${version}`);
  return { changes, heard };
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: test.url });
  client.on('error', () => {});
  await client.connect();
  opened.push(() => client.end().catch(() => {}));
  return client;
}

const note = (client: pg.Client, id: string, { from = 1, to = 1 } = {}) =>
  client.query(
    `insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal)
     select nextval('audit_entries_id_seq'), now(), 'school', 'note', $1, 'updated', version, 'usr-1'
     from generate_series($2::int, $3::int) as version`,
    [id, from, to],
  );

const listLeft = () => test.database.query(sql`select record_id from change_outbox`);

describe('the outbox of changes', () => {
  it('tells of a create, an update and a delete, in order, as the audit trail has them', async () => {
    const { changes, heard } = await hear();
    await test.store.create(ADMIN, 'note', [{ _id: 'n-1', text: 'one' }]);
    await test.store.update(ADMIN, 'note', 'n-1', { data: { text: 'two' }, mode: 'merge' });
    await test.store.delete(ADMIN, 'note', 'n-1');
    await eventually(() => changes.length === 3);
    expect(heard()).toEqual(['created n-1 1', 'updated n-1 2', 'deleted n-1 3']);
    const entries = await test.database.query<{ id: string; at: Date }>(sql`
      select id::text as id, at from audit_entries where record_id = 'n-1' order by audit_entries.id`);
    expect(changes.map(({ entryId, at }) => ({ id: entryId, at }))).toEqual(entries);
    await eventually(async () => (await listLeft()).length === 0);
  });

  it('tells of every write of many records, and of none that was rolled back', async () => {
    const { changes, heard } = await hear();
    const records = Array.from({ length: 3 }, (_, index) => ({ _id: `m-${index}`, text: 'one' }));
    await test.store.create(ADMIN, 'note', records);
    await test.store.upsert(ADMIN, 'note', {
      records: [{ _id: 'm-0', text: 'two' }, { _id: 'm-3' }],
      by: '_id',
    });
    const failing = test.database.transaction(async (within) => {
      await test.store.create(ADMIN, 'note', [{ _id: 'never' }], { within });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await eventually(() => changes.length === 5);
    expect(heard().sort()).toEqual([
      'created m-0 1',
      'created m-1 1',
      'created m-2 1',
      'created m-3 1',
      'updated m-0 2',
    ]);
  });

  it('loses and doubles nothing of many writers, with gateways that move it and are cut off', async () => {
    const gateways = [await hear(), await hear(), await hear()];
    const committed: string[] = [];
    const writers = await Promise.all(Array.from({ length: 6 }, connect));
    const killer = await connect();
    let isOver = false;
    const killing = (async () => {
      while (!isOver) {
        await killer.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name = 'campus-gateway' and random() < 0.2`,
        );
        await sleep(20);
      }
    })();
    await Promise.all(
      writers.map(async (client, writer) => {
        for (let n = 0; n < 40; n++) {
          const id = `${writer}-${n}`;
          await client.query('begin');
          await note(client, id);
          await sleep((writer * 7 + n * 3) % 11);
          const isKept = (writer + n) % 4 !== 0;
          await client.query(isKept ? 'commit' : 'rollback');
          if (isKept) committed.push(id);
        }
      }),
    );
    isOver = true;
    await killing;
    for (const { changes } of gateways) {
      await eventually(() => changes.length >= committed.length);
      expect(changes.map(({ id }) => id).sort()).toEqual([...committed].sort());
    }
    await eventually(async () => (await listLeft()).length === 0);
  });

  it('tells more than a page of it, the versions of each record in order', async () => {
    const [writer, { changes }] = [await connect(), await hear()];
    await writer.query('begin');
    await note(writer, 'late', { from: 2, to: 1_300 });
    await note(writer, 'late', { from: 1, to: 1 });
    await note(writer, 'other', { from: 1, to: 1_300 });
    await writer.query('commit');
    await eventually(() => changes.length === 2_600);
    for (const id of ['late', 'other']) {
      expect(changes.filter((change) => change.id === id).map(({ version }) => version)).toEqual(
        Array.from({ length: 1_300 }, (_, index) => index + 1),
      );
    }
  });

  it('is emptied while nobody listens, and that is nobody’s news later', async () => {
    const outbox = new ChangeOutbox({ database: test.database, triggers: TRIGGERS, onFault: () => {} });
    opened.push(() => outbox.close());
    await test.store.create(ADMIN, 'note', [{ _id: 'before' }]);
    await eventually(async () => (await listLeft()).length === 0);
    const { changes, heard } = await hear();
    await test.store.create(ADMIN, 'note', [{ _id: 'now' }]);
    await eventually(() => changes.length > 0);
    expect(heard()).toEqual(['created now 1']);
  });

  it('begins what follows a write once, also where it was told and not taken out', async () => {
    const client = await connect();
    const begun: (string | undefined)[] = [];
    client.on('notification', ({ channel, payload }) => {
      begun.push(`${channel.replace(/_[0-9a-f]{32}$/, '')} ${payload}`);
    });
    const { rows } = await client.query("select campus_channel('campus_principals') as name");
    await client.query(`listen begun; listen ${rows[0].name}`);
    const { heard } = await hear();
    const leave = (id: number) =>
      client.query(
        `insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal,
           started, announced)
         values ($1::int, now(), 'school', 'note', 'n-' || $1::int, 'updated', 1, 'usr-1', '["job"]',
           '{"user":"usr-1"}')`,
        [id],
      );
    await client.query(
      `insert into told_changes
         (entry_id, at, domain, collection, record_id, operation, to_version, principal)
       values (71, now(), 'school', 'note', 'n-71', 'updated', 1, 'usr-1')`,
    );
    await eventually(() => heard().length === 1);
    await leave(71);
    await leave(72);
    await eventually(() => heard().length === 2);
    await eventually(async () => (await listLeft()).length === 0);
    expect(heard()).toEqual(['updated n-71 1', 'updated n-72 1']);
    await eventually(() => begun.length === 2);
    expect(begun.sort()).toEqual(['begun ["job"]', 'campus_principals {"user":"usr-1"}']);
  });

  it('ends the sessions of a user who may not log in any more', async () => {
    const open = (user: string, at: string) =>
      test.database.query(sql`
        insert into sessions (id, domain_id, user_id, created_at, expires_at)
        values (gen_random_uuid(), 'school', ${user}, ${at}::timestamptz, '2099-01-01')`);
    await open('usr-ended', '2026-11-01');
    await open('usr-ended', '2098-01-01');
    await open('usr-active', '2026-11-01');
    await test.database.query(sql`
      insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal,
        announced)
      select n, now(), 'school', 'pltf_user', u, 'updated', 2, 'usr-1',
        json_build_object('user', u, 'ended', u = 'usr-ended')
      from (values (81, 'usr-ended'), (82, 'usr-active')) as entry (n, u)`);
    const outbox = new ChangeOutbox({ database: test.database, triggers: TRIGGERS, onFault: () => {} });
    opened.push(() => outbox.close());
    await outbox.moveAll();
    const left = await test.database.query(sql`
      select user_id as user, extract(year from created_at)::int as year from sessions
      where revoked_at is null order by 1`);
    expect(left).toEqual([
      { user: 'usr-active', year: 2026 },
      { user: 'usr-ended', year: 2098 },
    ]);
  });

  it('wakes to a transaction that left something to be begun', async () => {
    const { database } = test;
    const store = new RecordStore({
      ...{ database, catalog: test.catalog, topDomain: () => TOP },
      triggers: { ...NO_TRIGGERS, ...TRIGGERS, after: () => sql`json_build_array(r.id, r.version)` },
    });
    const client = await connect();
    const begun: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => begun.push(payload));
    await client.query('listen begun');
    await database.transaction(async (within) => {
      await store.create(ADMIN, 'note', [{ _id: 'followed' }], { within });
      await store.update(ADMIN, 'note', 'followed', { data: { text: 'two' }, mode: 'merge', within });
    });
    const failing = database.transaction(async (within) => {
      await store.create(ADMIN, 'note', [{ _id: 'never' }], { within });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    const outbox = new ChangeOutbox({ database, triggers: TRIGGERS, onFault: () => {} });
    opened.push(() => outbox.close());
    await outbox.moveAll();
    await eventually(() => begun.length === 2);
    expect(begun).toEqual(['["followed", 1]', '["followed", 2]']);
  });

  onOneServer('is not written where the database is one server', async () => {
    await plain.store.create(ADMIN, 'note', [{ _id: 'plain' }]);
    expect(await plain.database.query(sql`select id from change_outbox`)).toEqual([]);
  });
});
