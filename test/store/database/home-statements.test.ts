/** Statements that the server of a domain does whole: what is asked of Citus needs one. */
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Prisma } from '../../../src/generated/prisma/client.js';
import { useTestDatabase } from '../../database.js';
import { isTestedOnCitus } from '../../spread-databases.js';

const test = useTestDatabase();
const onCitus = isTestedOnCitus() ? describe : describe.skip;

describe('on one server', () => {
  it('there is no home', () => {
    expect(test.database.home === undefined).toBe(!isTestedOnCitus());
  });
});

onCitus('on Citus (skipped where TEST_DATABASE_URL names no coordinator of it), a statement', () => {
  const home = () => {
    const { home: found } = test.database;
    if (found === undefined) throw new Error('the test database is on one server');
    return found;
  };
  const DOMAINS = Array.from({ length: 12 }, (_, index) => `domain-${index}`);

  /** The ports of the servers, of each domain. */
  async function findPorts(): Promise<ReadonlyMap<string, number>> {
    const rows = await test.database.query<{ domain: string; port: number }>(Prisma.sql`
      select d.name as domain, s.nodeport as port
        from unnest(${DOMAINS}::text[]) as d (name)
        join citus_shards s
          on s.shardid = get_shard_id_for_distribution_column('records', d.name)`);
    return new Map(rows.map(({ domain, port }) => [domain, port]));
  }

  async function create(domain: string, id: string): Promise<readonly { id: string }[]> {
    const [entry = ''] = await home().takeEntryIds(1);
    return await home().query<{ id: string }>(
      Prisma.sql`
        with written as (
          insert into records (domain, collection, id, data)
          values (${domain}, 'bus', ${id}, '{}')
          returning id
        ),
        audited as (
          insert into audit_entries
            (id, domain, collection, record_id, operation, to_version, principal, credential, request_id)
          select ${entry}::bigint, ${domain}, 'bus', w.id, 'created', 1, 'me', 'key:1', 'r-1' from written w
        )
        select id from written`,
      { domain, columns: 'id text' },
      { name: 'test_create' },
    );
  }

  it('runs where the domain is', async () => {
    for (const [domain, port] of await findPorts()) {
      const sql = Prisma.sql`select current_setting('port') as port from records where domain = ${domain}`;
      await create(domain, 'where');
      expect(await home().query(sql, { domain, columns: 'port text' })).toEqual([{ port: String(port) }]);
    }
  });

  it('is given values of every kind', async () => {
    const [domain = ''] = DOMAINS;
    const sql = Prisma.sql`
      select ${"it's \\ so"}::text as a, ${['x', 'y,"']}::text[] as b, ${Buffer.from('z')}::bytea as c,
        ${null}::text as d, ${true}::boolean as e, ${7}::int as f`;
    expect(
      await home().query(sql, { domain, columns: 'a text, b text[], c bytea, d text, e boolean, f int' }),
    ).toEqual([{ a: "it's \\ so", b: ['x', 'y,"'], c: Buffer.from('z'), d: null, e: true, f: 7 }]);
  });

  it('is refused as on one server, for what it brought', async () => {
    const [domain = ''] = DOMAINS;
    await create(domain, 'twice');
    await expect(create(domain, 'twice')).rejects.toMatchObject({ code: 'CONFLICT' });
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
