import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ChangeFeed, type RecordChange } from '../../../src/store/changes/commit-follower.js';
import { openDatabase } from '../../../src/store/database/database.js';
import { eventually } from '../../eventually.js';
import { isTestedOnCitus } from '../../spread-databases.js';
import { ADMIN } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore();
const opened: (() => Promise<void>)[] = [];
/** On Citus the feed rests on the outbox. */
const onOneServer = isTestedOnCitus() ? describe.skip : describe;

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** What a new feed hears from now on, as `operation id version`. */
async function hear(options: { readonly onFault?: (error: unknown) => void } = {}) {
  const feed = new ChangeFeed({ database: test.database, pollMs: 10, onFault: () => {}, ...options });
  opened.push(() => feed.close());
  const changes: RecordChange[] = [];
  const stop = await feed.follow((more) => {
    changes.push(...more);
  });
  const heard = () => changes.map(({ operation, id, version }) => `${operation} ${id} ${version}`);
  return { feed, changes, heard, stop };
}

/** Long enough for several polls: what would have come is there. */
const aWhile = () => sleep(100);

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: test.url });
  client.on('error', () => {});
  await client.connect();
  opened.push(() => client.end().catch(() => {}));
  return client;
}

function writeEntry(client: pg.Client, id: string, version = 1): Promise<unknown> {
  return client.query(
    `insert into audit_entries (domain, collection, record_id, operation, to_version, principal, credential,
      request_id)
     values ('school', 'note', $1, 'created', $2, 'usr-1', 'system:test', 'req-1')`,
    [id, version],
  );
}

onOneServer('the change feed (on Citus: change-outbox.test.ts)', () => {
  it('tells of a create, an update and a delete, in order, with who and when', async () => {
    const { changes, heard } = await hear();
    await test.store.create(ADMIN, 'note', [{ _id: 'n-1', text: 'one' }]);
    await test.store.update(ADMIN, 'note', 'n-1', { data: { text: 'two' }, mode: 'merge' });
    await test.store.delete(ADMIN, 'note', 'n-1');
    await eventually(() => changes.length === 3);
    expect(heard()).toEqual(['created n-1 1', 'updated n-1 2', 'deleted n-1 3']);
    expect(changes[0]).toEqual({
      domainId: 'school',
      collection: 'note',
      id: 'n-1',
      operation: 'created',
      version: 1,
      at: expect.any(Date),
      principal: 'usr-admin',
      entryId: expect.stringMatching(/^\d+$/),
    });
  });

  it('tells two feeds the same, with the same entry ids', async () => {
    const one = await hear();
    const other = await hear();
    await test.store.create(ADMIN, 'note', [{ text: 'a' }, { text: 'b' }]);
    await eventually(() => one.changes.length === 2 && other.changes.length === 2);
    expect(other.changes).toEqual(one.changes);
  });

  it('says nothing of what was rolled back', async () => {
    const { heard } = await hear();
    const failing = test.database.transaction(async (within) => {
      await test.store.create(ADMIN, 'note', [{ _id: 'never' }], { within });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await test.store.create(ADMIN, 'note', [{ _id: 'after' }]);
    await eventually(() => heard().length > 0);
    await aWhile();
    expect(heard()).toEqual(['created after 1']);
  });

  it('hears a transaction that commits after a later one, once, and is not held back by it', async () => {
    const { heard } = await hear();
    const [slow, quick] = [await connect(), await connect()];
    await slow.query('begin');
    await writeEntry(slow, 'slow');
    await writeEntry(quick, 'quick');
    await eventually(() => heard().length === 1);
    await aWhile();
    expect(heard()).toEqual(['created quick 1']);
    await slow.query('commit');
    await eventually(() => heard().length === 2);
    await aWhile();
    expect(heard()).toEqual(['created quick 1', 'created slow 1']);
  });

  it('loses and doubles nothing of many writers that commit and roll back at random', async () => {
    const { changes } = await hear();
    const committed = new Set<string>();
    const writers = await Promise.all(Array.from({ length: 8 }, connect));
    await Promise.all(
      writers.map(async (client, writer) => {
        for (let n = 0; n < 40; n++) {
          const id = `${writer}-${n}`;
          await client.query('begin');
          await writeEntry(client, id);
          await sleep((writer * 7 + n * 3) % 11);
          const isKept = (writer + n) % 4 !== 0;
          await client.query(isKept ? 'commit' : 'rollback');
          if (isKept) committed.add(id);
        }
      }),
    );
    await eventually(() => changes.length >= committed.size);
    await aWhile();
    expect(changes.map((change) => change.id).sort()).toEqual([...committed].sort());
  });

  it('gives a load of thousands in pages, in order', async () => {
    const { feed, changes } = await hear();
    const sizes: number[] = [];
    feed.subscribe((page) => sizes.push(page.length));
    const [load, beside] = [await connect(), await connect()];
    await load.query('begin');
    await load.query(
      `insert into audit_entries (domain, collection, record_id, operation, to_version, principal,
        credential, request_id)
       select 'school', 'note', n::text, 'created', 1, 'usr-1', 'system:test', 'req-1'
         from generate_series(1, 3500) n`,
    );
    await writeEntry(beside, 'beside');
    await eventually(() => changes.length === 1);
    await load.query('commit');
    await eventually(() => changes.length === 3501);
    await aWhile();
    expect(changes.map((change) => change.id)).toEqual([
      'beside',
      ...Array.from({ length: 3500 }, (_, n) => String(n + 1)),
    ]);
    expect(sizes).toEqual([1, 1000, 1000, 1000, 500]);
  });

  it('goes on where it was after its connections were killed', async () => {
    const faults: unknown[] = [];
    const { changes, heard } = await hear({ onFault: (error) => faults.push(error) });
    const killer = await connect();
    const writer = await connect();
    for (let n = 0; n < 20; n++) {
      await writeEntry(writer, `k-${n}`);
      await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'campus-gateway'`,
      );
      await sleep(15);
    }
    await eventually(() => changes.length >= 20);
    await aWhile();
    expect(heard()).toEqual(Array.from({ length: 20 }, (_, n) => `created k-${n} 1`));
  });

  it('tells once of an outage, and gives afterwards what was committed in it', async () => {
    const faults: unknown[] = [];
    const database = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 5_000 });
    opened.push(() => database.close());
    let isOut = false;
    const feed = new ChangeFeed({
      database: {
        background: {
          ...database.background,
          query: (sql, options) =>
            isOut ? Promise.reject(new Error('out')) : database.background.query(sql, options),
        },
      },
      pollMs: 5,
      onFault: (error) => faults.push(error),
    });
    opened.push(() => feed.close());
    const heard: string[] = [];
    await feed.follow((changes) => heard.push(...changes.map((change) => change.id)));
    isOut = true;
    await writeEntry(await connect(), 'meanwhile');
    await aWhile();
    expect([heard, faults]).toEqual([[], [new Error('out')]]);
    isOut = false;
    await eventually(() => heard.length === 1);
    expect(heard).toEqual(['meanwhile']);
  });

  it('begins now: what was committed before is nobody’s news', async () => {
    await test.store.create(ADMIN, 'note', [{ _id: 'before' }]);
    const { heard, stop, feed } = await hear();
    stop();
    await test.store.create(ADMIN, 'note', [{ _id: 'between' }]);
    const later: string[] = [];
    await feed.follow((changes) => later.push(...changes.map((change) => change.id)));
    await test.store.create(ADMIN, 'note', [{ _id: 'now' }]);
    await eventually(() => later.length === 1);
    await aWhile();
    expect([heard(), later]).toEqual([[], ['now']]);
  });

  it('takes no entry of a restored dump for news, whose numbers are of another server', async () => {
    const client = await connect();
    await writeEntry(client, 'restored');
    await client.query(
      'update audit_entries set transaction_id = (pg_current_xact_id()::text::bigint + ' +
        `3)::text::xid8 where record_id = 'restored'`,
    );
    const { heard } = await hear();
    for (let n = 0; n < 6; n++) await writeEntry(client, `own-${n}`);
    await eventually(() => heard().length >= 6);
    await aWhile();
    expect(heard()).toEqual([0, 1, 2, 3, 4, 5].map((n) => `created own-${n} 1`));
  });

  it('goes on when a listener throws, and says so', async () => {
    const faults: unknown[] = [];
    const { feed, heard } = await hear({ onFault: (error) => faults.push(error) });
    const { stop } = feed.subscribe(() => {
      throw new Error('a listener of ours');
    });
    await test.store.create(ADMIN, 'note', [{ _id: 'heard' }]);
    await eventually(() => heard().length === 1);
    expect(faults).toEqual([new Error('a listener of ours')]);
    stop();
  });

  it('asks the database nothing while nobody listens, and looks at once when a writer wakes it', async () => {
    let asked = 0;
    const feed = new ChangeFeed({
      database: {
        background: {
          ...test.database.background,
          query: (sql, options) => {
            asked++;
            return test.database.background.query(sql, options);
          },
        },
      },
      pollMs: 60_000,
      onFault: () => {},
    });
    opened.push(() => feed.close());
    feed.wake();
    await aWhile();
    expect(asked).toBe(0);
    const heard: string[] = [];
    const stop = await feed.follow((changes) => heard.push(...changes.map((change) => change.id)));
    await test.store.create(ADMIN, 'note', [{ _id: 'woken' }]);
    feed.wake();
    await eventually(() => heard.length === 1);
    stop();
    const before = asked;
    await aWhile();
    expect(asked).toBe(before);
  });

  it('calls nobody after it was closed', async () => {
    const { feed, heard } = await hear();
    await feed.close();
    await test.store.create(ADMIN, 'note', [{}]);
    await aWhile();
    expect(heard()).toEqual([]);
    expect(() => feed.subscribe(() => {}).stop()).not.toThrow();
  });
});
