/** The primary dies or steps down, and a standby takes its place: with writers at work all the time. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../src/base/errors.js';
import { openDatabase } from '../../src/store/database/database.js';
import { startCampus } from '../cli/campus.js';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { type ReplicatedServers, startReplicatedServers } from '../replicated-servers.js';
import { TcpProxy } from '../tcp-proxy.js';
import {
  DEFAULT_SETTINGS,
  expectProblem,
  type Gateway,
  type StartedGateway,
  startGateway,
} from './gateway.js';
import { metric } from './live.js';

let servers: ReplicatedServers;

beforeEach(async () => {
  servers = await startReplicatedServers(1);
});

afterEach(async () => {
  await servers?.close();
});

/** The address that names both servers, with the primary's own in its place or another that leads to it. */
function urlOfBoth(primaryPort = servers.primary.port): string {
  const [standby] = servers.standbys;
  return servers.primary.url.replace(
    /127\.0\.0\.1:\d+/,
    `127.0.0.1:${primaryPort},127.0.0.1:${standby?.port}`,
  );
}

function startOn(url: string): Promise<StartedGateway> {
  return startGateway(servers.primary.url, { DATABASE_URL: url, LOG_LEVEL: 'warn' });
}

/** An acknowledged write is on the standby, too. */
async function replicateBeforeAcknowledging(): Promise<void> {
  await servers.primary.query(`alter system set synchronous_standby_names = '*'`);
  await servers.primary.query('select pg_reload_conf()');
  await eventually(async () => {
    const rows = await servers.primary.query<{ sync_state: string }>(
      'select sync_state from pg_stat_replication',
    );
    return rows.some(({ sync_state }) => sync_state === 'sync');
  });
}

interface Writers {
  readonly acknowledged: string[];
  readonly refused: Response[];
  stop(): Promise<void>;
}

/** Eight who create records one after the other, and go on whatever they are answered. */
function startWriters(gateway: Pick<Gateway, 'fetch'>): Writers {
  const acknowledged: string[] = [];
  const refused: Response[] = [];
  let isStopped = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let number = 0; !isStopped; number++) {
      const id = `w-${writer}-${number}`;
      const answer = await gateway.fetch('/o/task', {
        method: 'POST',
        as: 'admin',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ _id: id, name: id }),
      });
      if (answer.status === 201) acknowledged.push(id);
      else refused.push(answer.clone());
      await answer.arrayBuffer();
      if (answer.status !== 201) await sleep(20);
    }
  });
  return {
    acknowledged,
    refused,
    async stop() {
      isStopped = true;
      await Promise.all(writers);
    },
  };
}

async function idsOnStandby(): Promise<Set<string>> {
  const rows = await servers.standbys[0]?.query<{ id: string }>(
    `select id from records where collection = 'task'`,
  );
  return new Set(rows?.map(({ id }) => id));
}

async function promoteStandby(): Promise<void> {
  await servers.standbys[0]?.query('select pg_promote()');
}

/** Whatever befell the primary: 503 meanwhile, writes again without a restart, none of them lost. */
async function expectFailover(
  gateway: Pick<Gateway, 'url' | 'fetch' | 'log'>,
  fail: () => Promise<void>,
  processes = 1,
): Promise<void> {
  await replicateBeforeAcknowledging();
  const writers = startWriters(gateway);
  await eventually(() => writers.acknowledged.length > 50);
  await fail();
  await eventually(() => writers.refused.length > 8);
  await promoteStandby();
  const before = writers.acknowledged.length;
  await eventually(() => writers.acknowledged.length > before + 50, 20_000);
  await writers.stop();

  for (const answer of writers.refused) {
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expectProblem(answer, await answer.text());
  }
  const found = await idsOnStandby();
  expect(writers.acknowledged.filter((id) => !found.has(id))).toEqual([]);
  expect((await gateway.fetch('/readyz')).status).toBe(200);
  await expectEventually(() => metric(gateway, 'campus_database_failovers_total'), processes);
  // The lines of several processes come to one log a moment later.
  const successors = () =>
    gateway.log
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'databaseMoved')
      .map(({ to }) => to);
  const successor = `127.0.0.1:${servers.standbys[0]?.port}`;
  await expectEventually(
    successors,
    Array.from({ length: processes }, () => successor),
  );
}

/** Two processes on one port, as the command line starts them. */
async function startTwoProcesses(): Promise<
  Pick<Gateway, 'url' | 'fetch' | 'log'> & { close(): Promise<void> }
> {
  // It makes the users, and serves nobody.
  const other = await startOn(urlOfBoth());
  await other.close();
  const settings = { ...DEFAULT_SETTINGS, WORKERS: '2', LOG_LEVEL: 'warn', DATABASE_URL: urlOfBoth() };
  const child = startCampus(['start'], settings);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  await eventually(() => /Portal +http/.test(output), 40_000);
  const [, address = ''] = /Portal +(http:\S+?)\/ /.exec(output) ?? [];
  const url = address.replace('localhost', '127.0.0.1');
  return {
    url,
    get log() {
      return output.split('\n').filter((line) => line.startsWith('{'));
    },
    fetch: (path, { as, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (as !== undefined) headers.set('authorization', `Bearer ${other.tokenOf(as)}`);
      return fetch(url + path, { ...init, headers });
    },
    close: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

describe('a primary that', () => {
  it('dies is followed by each of two processes', async () => {
    const gateway = await startTwoProcesses();
    try {
      await expectFailover(gateway, () => servers.primary.stop('immediate'), 2);
    } finally {
      await gateway.close();
    }
  });

  it('dies is followed by the standby that is promoted', async () => {
    const gateway = await startOn(urlOfBoth());
    try {
      await expectFailover(gateway, () => servers.primary.stop('immediate'));
    } finally {
      await gateway.close();
    }
  });

  it('says nothing any more is followed by it, too', async () => {
    const proxy = await TcpProxy.start(servers.primary.url);
    const gateway = await startOn(urlOfBoth(Number(new URL(proxy.url).port)));
    try {
      await expectFailover(gateway, async () => proxy.swallow());
    } finally {
      await gateway.close();
      await proxy.close();
    }
  });

  it('takes no more writes is followed by it, too, and reads go on meanwhile', async () => {
    const gateway = await startOn(urlOfBoth());
    try {
      await expectFailover(gateway, async () => {
        await servers.primary.query('alter system set default_transaction_read_only = on');
        await servers.primary.query('select pg_reload_conf()');
        await eventually(
          async () =>
            ((await (await gateway.fetch('/readyz')).json()) as { database?: string }).database ===
            'read-only',
        );
        expect((await gateway.fetch('/o/recs/task?limit=1', { as: 'viewer' })).status).toBe(200);
      });
    } finally {
      await gateway.close();
    }
  });

  it('comes back beside its successor is not taken for the primary', async () => {
    await servers.primary.stop('immediate');
    await promoteStandby();
    await servers.primary.start();
    const database = await openDatabase({ url: urlOfBoth(), poolSize: 1, statementTimeoutMs: 5_000 });
    await database.close();
    expect(new URL(database.url).port).toBe(String(servers.standbys[0]?.port));
  });
});

describe('an address of several servers', () => {
  it('of which none takes writes is refused in one line, without the password', async () => {
    await servers.primary.stop();
    const url = urlOfBoth().replace('campus@', 'campus:secret@');
    const refused = openDatabase({ url, poolSize: 1, statementTimeoutMs: 5_000 });
    await expect(refused).rejects.toThrow(ServiceError);
    await expect(refused).rejects.toThrow(/^None of 127.0.0.1:\d+, 127.0.0.1:\d+ takes writes\.$/);
  });
});
