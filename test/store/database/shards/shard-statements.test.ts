/** Statements that the server of a domain does whole: what is asked of Citus needs one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { findConstraint } from '../../../../src/store/database/database-errors.js';
import { ShardTables } from '../../../../src/store/database/shards/shard-statements.js';
import { sql } from '../../../../src/store/sql.js';
import { useTestDatabase } from '../../../database.js';
import { isTestedOnCitus } from '../../../spread-databases.js';

const test = useTestDatabase();
const onCitus = isTestedOnCitus() ? describe : describe.skip;

describe('on one server', () => {
  it('there are no shards', () => {
    expect(test.database.shards === undefined).toBe(!isTestedOnCitus());
  });
});

describe('a statement with one that comes first', () => {
  beforeAll(async () => {
    await test.database.pool.query(`
      create table noted (id int primary key);
      create function note(id int) returns setof void language plpgsql as $$
        begin
          if id < 0 then raise exception 'no' using errcode = 'serialization_failure'; end if;
          insert into noted values (id) on conflict do nothing;
        end
      $$`);
  });
  const noting = (id: number) => ({ sql: sql`select note(${id}::int)`, name: 'note' });
  const countNoted = async () => (await test.database.query(sql`select id from noted`)).length;

  it('has its own rows alone, prepared or not', async () => {
    const two = sql`select n::int from generate_series(1, 2) n`;
    for (const [index, name] of [undefined, 'two', 'two'].entries()) {
      const rows = await test.database.query(two, { name, first: noting(index) });
      expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
    }
    expect(await countNoted()).toBe(3);
  });

  it('is not run when that fails, and takes it back when it fails itself', async () => {
    const insert = sql`insert into noted values (100)`;
    await expect(test.database.query(insert, { first: noting(-1) })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    const twice = sql`insert into noted values (101), (101)`;
    await expect(test.database.query(twice, { name: 'twice', first: noting(102) })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await countNoted()).toBe(3);
  });
});

describe('the tables of a shard', () => {
  const tables = new ShardTables({ records: 'records_7', audit_entries: 'audit_entries_8' });

  it('take the places of the spread ones, and of nothing else', () => {
    const { text, values } = tables.statement(
      sql`
        with records_of as (select 'records' from records r where id = ${'a'}),
        audited as (insert into audit_entries (records) select 1 from records_of)
        update records set id = ${'b'}`,
      undefined,
    );
    expect(text.replace(/\s+/g, ' ').trim()).toBe(
      "with records_of as (select 'records' from records_7 r where id = $1), audited as (insert into " +
        'audit_entries_8 (records) select 1 from records_of) update records_7 set id = $2',
    );
    expect(values).toEqual(['a', 'b']);
  });

  it('are remembered by the name of the statement, with other values', () => {
    const read = (id: string) => tables.statement(sql`select 1 from records where id = ${id}`, 'read');
    expect(read('a').values).toEqual(['a']);
    expect(read('b')).toMatchObject({ text: 'select 1 from records_7 where id = $1', values: ['b'] });
  });
});

onCitus('on Citus (skipped where TEST_DATABASE_URL names no coordinator of it), a statement', () => {
  const shards = () => {
    const { shards: found } = test.database;
    if (found === undefined) throw new Error('the test database is on one server');
    return found;
  };
  const DOMAINS = Array.from({ length: 12 }, (_, index) => `domain-${index}`);

  /** The ports of the servers, of each domain. */
  async function findPorts(): Promise<ReadonlyMap<string, number>> {
    const rows = await test.database.query<{ domain: string; port: number }>(sql`
      select d.name as domain, s.nodeport as port
        from unnest(${DOMAINS}::text[]) as d (name)
        join citus_shards s
          on s.shardid = get_shard_id_for_distribution_column('records', d.name)`);
    return new Map(rows.map(({ domain, port }) => [domain, port]));
  }

  async function create(domain: string, id: string): Promise<readonly { id: string }[]> {
    return await shards().query<{ id: string }>(
      sql`
        with written as (
          insert into records (domain, collection, id, data)
          values (${domain}, 'bus', ${id}, '{}')
          returning id
        ),
        audited as (
          insert into audit_entries
            (id, domain, collection, record_id, operation, to_version, principal, credential, request_id)
          select next_entry_id(), ${domain}, 'bus', w.id, 'created', 1, 'me', 'key:1', 'r-1' from written w
        )
        select id from written`,
      { domain, columns: 'id text' },
      { name: 'test_create' },
    );
  }

  it('runs where the domain is', async () => {
    for (const [domain, port] of await findPorts()) {
      const statement = sql`select current_setting('port') as port from records where domain = ${domain}`;
      await create(domain, 'where');
      expect(await shards().query(statement, { domain, columns: 'port text' })).toEqual([
        { port: String(port) },
      ]);
    }
  });

  it('is refused by a server whose number is not that of the domain', async () => {
    const { rows } = await test.database.pool.query(
      `select shardid as id, groupid as group from pg_dist_placement
        where shardid = get_shard_id_for_distribution_column('records', 'left')`,
    );
    const [{ id, group }] = rows;
    const ask = (server: number) => test.database.pool.query('select stay_at_home($1, $2)', [id, server]);
    expect((await ask(group)).rows).toEqual([{ stay_at_home: true }]);
    await expect(ask(group + 1)).rejects.toThrow('the domain has moved to another server');
  });

  it('is given values of every kind', async () => {
    const [domain = ''] = DOMAINS;
    const statement = sql`
      select ${"it's \\ so"}::text as a, ${['x', 'y,"']}::text[] as b, ${Buffer.from('z')}::bytea as c,
        ${null}::text as d, ${true}::boolean as e, ${7}::int as f`;
    expect(
      await shards().query(statement, {
        domain,
        columns: 'a text, b text[], c bytea, d text, e boolean, f int',
      }),
    ).toEqual([{ a: "it's \\ so", b: ['x', 'y,"'], c: Buffer.from('z'), d: null, e: true, f: 7 }]);
  });

  it('is refused as on one server, for what it brought', async () => {
    const [domain = ''] = DOMAINS;
    await create(domain, 'twice');
    const refusal = await create(domain, 'twice').catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'CONFLICT' });
    expect(findConstraint(refusal)).toBe('records_default_pkey');
  });

  it('gives entries of the audit trail ids in the order of what is written, by itself or not', async () => {
    const [domain = ''] = DOMAINS;
    const ids = Array.from({ length: 10 }, (_, index) => `ordered-${index}`);
    for (const [index, id] of ids.entries()) {
      if (index % 2 === 0) await create(domain, id);
      else {
        await test.database.query(sql`
          insert into audit_entries
            (domain, collection, record_id, operation, to_version, principal, credential, request_id)
          values (${domain}, 'bus', ${id}, 'created', 1, 'me', 'key:1', 'r-1')`);
      }
    }
    const rows = await test.database.query<{ id: number; record: string }>(sql`
      select id, record_id as record from audit_entries
       where domain = ${domain} and record_id like 'ordered-%' order by audit_entries.id`);
    expect(rows.map(({ record }) => record)).toEqual(ids);
    expect(rows.every((row) => Number.isSafeInteger(row.id))).toBe(true);
  });

  const PUNCTUATION = { start: '', separator: '\n', end: '' };

  it('that is streamed gives its first rows long before the last one is there', async () => {
    const [domain = ''] = DOMAINS;
    const port = (await findPorts()).get(domain);
    const server = new pg.Client({ connectionString: Object.assign(new URL(test.url), { port }).href });
    await server.connect();
    try {
      await server.query('create sequence made');
      await create(domain, 'streamed');
      const statement = sql`
        select nextval('made')::text from records r, generate_series(1, 100000)
         where r.domain = ${domain} and r.id = 'streamed'`;
      let rows = 0;
      for await (const { rowCount } of shards().streamJoined([{ sql: statement, name: undefined }], {
        ...{ shardLocal: { domain }, batchRows: 100, punctuation: PUNCTUATION },
      })) {
        if (rows === 0) {
          const { rows: made } = await server.query('select last_value::int as last from made');
          expect(made[0].last).toBeLessThanOrEqual(300);
        }
        rows += rowCount;
      }
      expect(rows).toBe(100_000);
      await server.query('drop sequence made');
    } finally {
      await server.end();
    }
  });

  it('that is streamed and breaks off says why, as on one server', async () => {
    const [domain = ''] = DOMAINS;
    const statement = sql`select (1 / 0)::text from records where domain = ${domain}`;
    await create(domain, 'broken');
    const streaming = async () => {
      for await (const batch of shards().streamJoined([{ sql: statement, name: undefined }], {
        ...{ shardLocal: { domain }, punctuation: PUNCTUATION },
      }))
        expect(batch).toBeUndefined();
    };
    await expect(streaming()).rejects.toThrow(/division by zero/);
  });

  /** What was written to a domain, as a stream gives it, or a single read. */
  async function readStreamed(domain: string, id: string): Promise<string> {
    const statement = sql`select r.id from records r where r.domain = ${domain} and r.id = ${id}`;
    let text = '';
    for await (const { bytes } of shards().streamJoined([{ sql: statement, name: 'test_streamed' }], {
      ...{ shardLocal: { domain }, punctuation: PUNCTUATION },
    }))
      text += String(bytes);
    return text;
  }

  it('follows a domain that is moved while it is written to', async () => {
    const [domain = ''] = DOMAINS;
    const before = (await findPorts()).get(domain);
    const [move] = await test.database.query<{ shard: string; source: number; target: number }>(sql`
      select p.shardid::text as shard, s.nodeport as source, t.nodeport as target
        from pg_dist_placement p
        join pg_dist_node s on s.groupid = p.groupid
        join pg_dist_node t on t.groupid not in (0, p.groupid)
       where p.shardid = get_shard_id_for_distribution_column('records', ${domain}::text)`);
    if (move === undefined) throw new Error('there is no other server');
    const acknowledged: string[] = [];
    const moved = new AbortController();
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let turn = 0; !moved.signal.aborted; turn += 1) {
        const id = `moved-${writer}-${turn}`;
        await create(domain, id);
        acknowledged.push(id);
        const statement = sql`select id from records where domain = ${domain} and id = ${id}`;
        expect(
          await shards().query(statement, { domain, columns: 'id text' }, { name: 'test_moved' }),
        ).toEqual([{ id }]);
        expect(await readStreamed(domain, id)).toContain(id);
      }
    });
    const moving = new pg.Client({ connectionString: test.url });
    await moving.connect();
    try {
      await moving.query(
        `select citus_move_shard_placement($1::bigint, $2, $3::int, $2, $4::int,
          shard_transfer_mode => 'block_writes')`,
        [move.shard, new URL(test.url).hostname, move.source, move.target],
      );
      const kept = acknowledged.length;
      while (acknowledged.length < kept + 20) await Promise.race([...writers, sleep(10)]);
    } finally {
      moved.abort();
      await moving.end();
      await Promise.all(writers);
    }
    expect((await findPorts()).get(domain)).not.toBe(before);
    const rows = await test.database.query<{ id: string }>(sql`
      select id from records where domain = ${domain} and id like 'moved-%'`);
    expect(rows.map(({ id }) => id).sort()).toEqual(acknowledged.sort());
  });

  it('needs no other server: the schools there go on while it is away', async () => {
    const ports = await findPorts();
    const [away] = [...ports.values()];
    const atAway = DOMAINS.filter((domain) => ports.get(domain) === away);
    const elsewhere = DOMAINS.filter((domain) => ports.get(domain) !== away);
    expect(Math.min(atAway.length, elsewhere.length)).toBeGreaterThan(0);
    const server = Object.assign(new URL(test.url), { port: away, pathname: 'postgres' });
    const client = new pg.Client({ connectionString: server.href });
    await client.connect();
    const name = new URL(test.url).pathname.slice(1);
    try {
      await client.query(`alter database ${name} with allow_connections false`);
      await client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
        name,
      ]);
      await client.query(`alter database ${name} rename to ${name}_away`);
      for (const domain of elsewhere) expect(await create(domain, 'alone')).toEqual([{ id: 'alone' }]);
      for (const domain of atAway) {
        await expect(create(domain, 'alone')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      }
    } finally {
      await client.query(`alter database ${name}_away rename to ${name}`);
      await client.query(`alter database ${name} with allow_connections true`);
      await client.end();
    }
    for (const domain of atAway) expect(await create(domain, 'back')).toEqual([{ id: 'back' }]);
  });
});
