/** Reads go to a replica: one that lags, breaks or is gone costs nothing but the primary's work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { type ReplicatedServers, startReplicatedServers } from '../replicated-servers.js';
import { TcpProxy } from '../tcp-proxy.js';
import { type Role, type StartedGateway, startGateway } from './gateway.js';
import { type Answered, ask } from './graphql.js';
import { connect } from './live.js';

const MANY = 60_000;

let servers: ReplicatedServers;
let proxy: TcpProxy;
let gateway: StartedGateway;
let otherGateway: StartedGateway;

beforeAll(async () => {
  servers = await startReplicatedServers(1);
  proxy = await TcpProxy.start(standby().url);
  const settings = {
    DATABASE_REPLICA_URLS: proxy.url,
    REPLICA_MAX_LAG_MS: '4000',
    LOG_LEVEL: 'info',
    CHANGE_POLL_MS: '20',
  };
  gateway = await startGateway(servers.primary.url, settings);
  otherGateway = await startGateway(servers.primary.url, settings);
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', 'many-' || lpad(n::text, 6, '0'),
       jsonb_build_object('name', 'Task ' || n, 'amount', n, 'note', repeat('x', 100))
     from generate_series(1, $1) n`,
    [MANY],
  );
  await gateway.sql.query('analyze');
});

afterEach(async () => {
  proxy.pass();
  await standby()
    .start()
    .catch(() => {});
  await standby().query('select pg_wal_replay_resume()');
  await eventually(isReadFromReplica, 20_000);
});

afterAll(async () => {
  await gateway?.close();
  await otherGateway?.close();
  await proxy?.close();
  await servers?.close();
});

function standby() {
  const [first] = servers.standbys;
  if (first === undefined) throw new Error('there is no standby');
  return first;
}

/** How many reads a gateway has had answered by the replica, and how many by the primary. */
/** `/metrics` is printed once a second at most. */
async function reads(of = gateway): Promise<{ replica: number; primary: number }> {
  await sleep(1_001);
  const text = await (await of.fetch('/metrics')).text();
  const figure = (server: string) =>
    Number(new RegExp(`^campus_reads_total\\{server="${server}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return { replica: figure(`127.0.0.1:${new URL(proxy.url).port}`), primary: figure('primary') };
}

async function isReadFromReplica(): Promise<boolean> {
  const before = await reads();
  await listed('viewer');
  return (await reads()).replica === before.replica + 1;
}

/** The ids of the tasks that are not of the many. */
async function listed(as: Role, of = gateway, headers: Record<string, string> = {}): Promise<string[]> {
  // The same sign-in at both gateways.
  const authorization = `Bearer ${gateway.tokenOf(as)}`;
  const answer = await of.fetch('/o/recs/task?oquery=name=Chalk&sort=_id', {
    headers: { ...headers, authorization },
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { _id: string }[]).map(({ _id }) => _id);
}

async function create(id: string, as: Role = 'admin', on = gateway): Promise<Response> {
  return await on.fetch('/o/task', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ _id: id, name: 'Chalk' }),
  });
}

/** Holds the replica up, where it has all there is now. */
async function holdUp(): Promise<void> {
  await standby().query('select pg_wal_replay_pause()');
  await expectEventually(
    async () => (await standby().query('select pg_get_wal_replay_pause_state() as state'))[0],
    { state: 'paused' },
  );
}

it('is told to admins: the gateways, the replica, how far it is behind, what it answered', async () => {
  const figures = async () => {
    const { health } = await ask(
      gateway,
      '{ health { gateways { address connectedSince } replicas { name lagMs reads } } }',
    );
    return health;
  };
  await eventually(isReadFromReplica);
  const { gateways, replicas } = await figures();
  expect(gateways.map(({ address }: Answered) => address)).toEqual(['127.0.0.1', '127.0.0.1']);
  expect(replicas).toEqual([
    { name: new URL(proxy.url).host, lagMs: expect.any(Number), reads: expect.any(Number) },
  ]);
  expect(replicas[0].reads).toBeGreaterThan(0);
  proxy.swallow();
  await expectEventually(async () => (await figures()).replicas[0].lagMs, null);
});

describe('a replica that is near', () => {
  it('answers lists, streams, pages, aggregates, reports and scripts', async () => {
    await eventually(isReadFromReplica);
    const before = await reads();
    const requests: readonly [string, RequestInit?][] = [
      ['/o/recs/task?limit=3'],
      ['/o/recs/task?oquery=name=^Task 12'],
      ['/o/recs/task', { headers: { accept: 'text/csv' } }],
      ['/?report=strength'],
    ];
    for (const [path, init] of requests) {
      const answer = await gateway.fetch(path, { ...init, as: 'admin' });
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      await answer.arrayBuffer();
    }
    for (const query of [
      '{ tasks(first: 2) { nodes { id name } totalCount } }',
      '{ tasksAggregate { count } }',
    ]) {
      await ask(gateway, query);
    }
    const after = await reads();
    expect(after.primary).toBe(before.primary);
    expect(after.replica).toBeGreaterThanOrEqual(before.replica + 6);
  });

  it('is told of in the figures', async () => {
    const text = await (await gateway.fetch('/metrics')).text();
    expect(text).toMatch(/^campus_replica_lag_seconds\{server="127\.0\.0\.1:\d+"\} [\d.]+$/m);
  });
});

describe('a caller', () => {
  it('reads its own writes, and others what the replica has', async () => {
    await holdUp();
    const created = await create('own-1');
    expect(created.status).toBe(201);
    expect(created.headers.get('x-read-after')).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
    expect(await listed('admin')).toEqual(['own-1']);
    expect(await listed('viewer')).toEqual([]);
  });

  it('reads its own writes at another gateway, at once with what it was told', async () => {
    await holdUp();
    const created = await create('own-2');
    const told = created.headers.get('x-read-after') ?? '';
    expect(await listed('viewer', otherGateway)).toEqual(['own-1']);
    expect(await listed('viewer', otherGateway, { 'x-read-after': told })).toEqual(['own-1', 'own-2']);
    await expectEventually(() => listed('admin', otherGateway), ['own-1', 'own-2'], 1_000);
  });

  it('reads its own writes by GraphQL, in the operation that writes and after it', async () => {
    await holdUp();
    const answer = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'mutation { createTask(data: { id: "own-3", name: "Chalk" }) { id } }' }),
    });
    expect(answer.headers.get('x-read-after')).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
    expect(await ask(gateway, '{ tasks(where: { name: { equals: "Chalk" } }) { totalCount } }')).toEqual({
      tasks: { totalCount: 3 },
    });
  });

  it('finds what it has heard of by live data', async () => {
    await holdUp();
    const subscriber = connect(gateway, { as: 'viewer' });
    const { events } = await subscriber.subscribe('subscription { taskChanged { id } }');
    await create('heard', 'admin', otherGateway);
    await expectEventually(() => events, [{ id: 'heard' }]);
    expect(await listed('viewer')).toContain('heard');
    subscriber.dispose();
  });

  it('is not believed a position that no gateway gave', async () => {
    const malformed = await gateway.fetch('/o/recs/task?limit=1', {
      as: 'viewer',
      headers: { 'x-read-after': 'tomorrow' },
    });
    expect(malformed.status).toBe(400);
    expect(await listed('viewer', gateway, { 'x-read-after': 'FFFFFFFF/FFFFFFFF' })).toContain('own-1');
  });
});

describe('a replica that', () => {
  it('lags too much is left alone until it is near again', async () => {
    await holdUp();
    await create('late', 'clerk');
    await expectEventually(async () => (await listed('viewer')).includes('late'), true);
    const before = await reads();
    await listed('viewer');
    expect(await reads()).toEqual({ ...before, primary: before.primary + 1 });
  });

  it('is killed in the middle of a stream costs its reader nothing', async () => {
    const whole = await (await gateway.fetch('/o/recs/task?sort=_id', { as: 'viewer' })).text();
    const before = await reads();
    const answer = await gateway.fetch('/o/recs/task?sort=_id', { as: 'viewer' });
    const parts: string[] = [];
    const decoder = new TextDecoder();
    for await (const part of answer.body ?? []) {
      if (parts.length === 0) await standby().stop('immediate');
      parts.push(decoder.decode(part, { stream: true }));
    }
    expect(parts.join('')).toBe(whole);
    expect(await reads()).toEqual({ ...before, primary: before.primary + 1 });
    expect(gateway.log.map((line) => JSON.parse(line).event)).toContain('replicaLost');
  });

  it('is killed in the middle of a stream whose records have changed has it cut, not mixed', async () => {
    const answer = await gateway.fetch('/o/recs/task?sort=_id', { as: 'viewer' });
    const read = (async () => {
      let isFirst = true;
      for await (const _ of answer.body ?? []) {
        if (!isFirst) continue;
        isFirst = false;
        await gateway.sql.query(`delete from records where id = 'many-000001'`);
        await standby().stop('immediate');
      }
    })();
    await expect(read).rejects.toThrow();
  });

  it('says nothing any more keeps nobody waiting for long', async () => {
    proxy.swallow();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => gateway.fetch('/o/recs/task?limit=1', { as: 'viewer' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });
});
