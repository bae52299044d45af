/** Reads on Citus that share a lease of their shard. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { ShardStatements } from '../../../../src/store/database/shards/shard-statements.js';
import { sql } from '../../../../src/store/sql.js';
import { useTestDatabase } from '../../../database.js';
import { isTestedOnCitus } from '../../../spread-databases.js';

const test = useTestDatabase();
const onCitus = isTestedOnCitus() ? describe : describe.skip;

onCitus('on Citus (skipped where TEST_DATABASE_URL names no coordinator of it), many reads', () => {
  const DOMAIN = 'leased';
  const clients: pg.Client[] = [];
  const readings: AbortController[] = [];
  afterEach(async () => {
    for (const reading of readings.splice(0)) reading.abort();
    await Promise.all(clients.splice(0).map((client) => client.end()));
  });

  async function connect(port: number | string = new URL(test.url).port): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: Object.assign(new URL(test.url), { port }).href });
    await client.connect();
    clients.push(client);
    return client;
  }

  interface Place {
    readonly shard: string;
    readonly source: number;
    readonly target: number;
  }

  async function findPlace(): Promise<Place> {
    const [place] = await test.database.query<Place>(sql`
      select p.shardid::text as shard, s.nodeport as source, t.nodeport as target
        from pg_dist_placement p
        join pg_dist_node s on s.groupid = p.groupid
        join pg_dist_node t on t.groupid not in (0, p.groupid)
       where p.shardid = get_shard_id_for_distribution_column('records', ${DOMAIN}::text)`);
    if (place === undefined) throw new Error('there is no other server');
    return place;
  }

  const home = (): ShardStatements => {
    if (test.database.home === undefined) throw new Error('the test database is on one server');
    return test.database.home;
  };
  const place = { domain: DOMAIN, columns: 'id text' };

  async function read(id: string): Promise<readonly { id: string }[]> {
    const statement = sql`select id from records where domain = ${DOMAIN} and id = ${id}`;
    return await test.database.query(statement, { home: place, name: 'test_leased' });
  }

  async function create(id: string): Promise<void> {
    const statement = sql`
      insert into records (domain, collection, id, data)
      values (${DOMAIN}, 'bus', ${id}, '{}') returning id`;
    await home().query(statement, place, { name: 'test_create' });
  }

  /** Reads one after the other until it is told to stop. */
  function keepReading(id: string): () => Promise<number> {
    const stopped = new AbortController();
    readings.push(stopped);
    const reading = (async () => {
      let reads = 0;
      for (; !stopped.signal.aborted; reads++) expect(await read(id)).toEqual([{ id }]);
      return reads;
    })();
    return async () => {
      stopped.abort();
      return await reading;
    };
  }

  /** The backends of leases that hold a lock of Citus between two statements. */
  async function listHolders(server: pg.Client): Promise<readonly number[]> {
    const { rows } = await server.query<{ pid: number }>(
      `select l.pid
         from pg_locks l join pg_stat_activity a using (pid)
        where l.locktype = 'advisory' and l.granted and a.datname = current_database()
          and a.application_name like '% lease' and a.state = 'idle in transaction'`,
    );
    return rows.map(({ pid }) => pid);
  }

  async function until<Found>(find: () => Promise<Found | undefined>): Promise<Found> {
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      await sleep(20);
    }
  }

  const move = `select citus_move_shard_placement($1::bigint, $2, $3::int, $2, $4::int,
    shard_transfer_mode => 'block_writes')`;
  const host = () => new URL(test.url).hostname;

  it('share a lease, which ends when they do', async () => {
    const server = await connect((await findPlace()).source);
    await create('shared');
    const stop = keepReading('shared');
    await until(async () => (await listHolders(server))[0]);
    expect(await stop()).toBeGreaterThan(0);
    await until(async () => ((await listHolders(server)).length === 0 ? true : undefined));
  });

  it('go on, each of them current, when the server ends their lease', async () => {
    const server = await connect((await findPlace()).source);
    await create('ended');
    const stop = keepReading('ended');
    for (let times = 0; times < 3; times++) {
      const holder = await until(async () => (await listHolders(server))[0]);
      await server.query('select pg_terminate_backend($1::int, 5000)', [holder]);
    }
    expect(await stop()).toBeGreaterThan(0);
  });

  it('let the shard move, and find everything at its new place', async () => {
    const { shard, source, target } = await findPlace();
    const [server, moving] = [await connect(source), await connect()];
    await create('moved');
    const stop = keepReading('moved');
    await until(async () => (await listHolders(server))[0]);
    await moving.query(move, [shard, host(), source, target]);
    await create('created after the move');
    expect(await read('created after the move')).toHaveLength(1);
    const there = await connect(target);
    await until(async () => (await listHolders(there))[0]);
    expect(await stop()).toBeGreaterThan(0);
    expect(await listHolders(server)).toEqual([]);
  });

  it('that last longer than their lease are as current as their start', async () => {
    const { shard, source, target } = await findPlace();
    const [server, moving] = [await connect(source), await connect()];
    await create('long');
    const stop = keepReading('long');
    await until(async () => (await listHolders(server))[0]);
    const long = test.database.query(
      sql`select id, pg_sleep(2) from records where domain = ${DOMAIN} and id = 'long'`,
      { home: { domain: DOMAIN, columns: 'id text' } },
    );
    await moving.query(move, [shard, host(), source, target]);
    expect(await long).toMatchObject([{ id: 'long' }]);
    expect(await stop()).toBeGreaterThan(0);
  });
});
