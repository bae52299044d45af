/**
 * What passes between a gateway and its database is lost, held up and cut, and the database itself is
 * stopped, while clerks write and others read. Every request is answered in good time, by what it asked for
 * or by 503 with `Retry-After`; nothing acknowledged is lost or done twice; and the gateway is ready again
 * without a restart.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import pg from 'pg';
import { Random } from '../../src/school/demo/random.js';
import { type StartedGateway, startGateway } from '../contract/gateway.js';
import { createTestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { TcpProxy } from '../tcp-proxy.js';
import { type CampaignRound, campaign } from './campaign.js';

/**
 * What counts as hanging. The service promises five seconds and two; the machine may be busy with something
 * else.
 */
const HANGS_AFTER_MS = 20_000;
const READYZ_HANGS_AFTER_MS = 6_000;
const BACK_WITHIN_MS = 30_000;
const WRITERS = 4;
const READERS = 4;
const FAULTS_A_ROUND = 4;

campaign('answers every request whatever becomes of the way to its database', async (round) => {
  const testDatabase = await createTestDatabase();
  // Past the proxy: what it finds is true.
  const sql = new pg.Pool({ connectionString: testDatabase.url, max: 2, application_name: 'campaign' });
  const proxy = await TcpProxy.start(testDatabase.url);
  const gateway = await startGateway(proxy.url, {
    SHUTDOWN_GRACE_MS: '5000',
    POOL_SIZE: '8',
    // A backend that is stopped in the middle of a statement is waited for as long as the statement may take.
    STATEMENT_TIMEOUT_MS: '5000',
  });
  const traffic = new Traffic(gateway, round);
  try {
    for (let n = 0; n < FAULTS_A_ROUND; n++) {
      const fault = round.random.pick(FAULTS);
      round.count(fault.name);
      const undo = await fault.begin({ proxy, sql, random: round.random });
      await sleep(round.random.integer(200, 8_000));
      await undo();
      await eventually(() => traffic.isReady(), BACK_WITHIN_MS);
      traffic.assertWell();
      await eventually(() => traffic.write(), BACK_WITHIN_MS);
    }
    await traffic.stop();
    await expectKept(sql, traffic);
  } finally {
    // What one of them ran into is thrown above, or comes of what is.
    await traffic.stop().catch(() => {});
    await gateway.close();
    await proxy.close();
    await sql.end();
    await testDatabase.drop();
  }
});

interface FaultPlace {
  readonly proxy: TcpProxy;
  readonly sql: pg.Pool;
  readonly random: Random;
}

interface Fault {
  /** As it is counted. */
  readonly name: string;
  /** Gives how to end it. */
  begin(place: FaultPlace): Promise<() => Promise<void>>;
}

const FAULTS: readonly [Fault, ...Fault[]] = [
  {
    name: 'times nothing came through',
    async begin({ proxy }) {
      proxy.swallow();
      return async () => proxy.pass();
    },
  },
  {
    name: 'times all connections were forgotten',
    async begin({ proxy }) {
      proxy.forget();
      return async () => {};
    },
  },
  {
    name: 'times some connections were forgotten',
    async begin({ proxy, random }) {
      proxy.forget(random.integer(1, 5));
      return async () => {};
    },
  },
  {
    name: 'times it was slow',
    async begin({ proxy, random }) {
      proxy.delay(random.integer(10, 400));
      return async () => proxy.delay(0);
    },
  },
  {
    name: 'times everything was cut',
    async begin({ proxy }) {
      proxy.cut();
      return async () => {};
    },
  },
  {
    name: 'times the server could not be reached',
    async begin({ proxy }) {
      proxy.refuse();
      return async () => proxy.pass();
    },
  },
  {
    name: 'times the backends were stopped',
    async begin({ sql }) {
      const { rows } = await sql.query<{ pid: number }>(
        `select pid from pg_stat_activity
          where datname = current_database() and application_name not in ('campaign', 'contract tests')`,
      );
      signal(rows, 'SIGSTOP');
      return async () => signal(rows, 'SIGCONT');
    },
  },
];

/** A backend may have ended meanwhile. */
function signal(backends: readonly { readonly pid: number }[], name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const { pid } of backends) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

/**
 * Clerks who write, viewers who read, and a balancer that asks whether the gateway is ready, from the first
 * fault to the last.
 */
class Traffic {
  /** Names of tasks whose creation was answered with 201. */
  readonly acknowledged: string[] = [];
  readonly asked: string[] = [];
  readonly #gateway: StartedGateway;
  readonly #round: CampaignRound;
  /** Its own: which faults come must not depend on how fast the traffic goes. */
  readonly #random: Random;
  readonly #workers: Promise<void>[];
  readonly #failures: unknown[] = [];
  #isStopped = false;
  #written = 0;

  constructor(gateway: StartedGateway, round: CampaignRound) {
    this.#gateway = gateway;
    this.#round = round;
    this.#random = new Random(round.seed, 'traffic');
    this.#workers = [
      ...Array.from({ length: WRITERS }, () => this.#repeat(async () => void (await this.write()))),
      ...Array.from({ length: READERS }, () => this.#repeat(() => this.#read())),
      this.#repeat(async () => void (await this.isReady())),
    ];
    // They are awaited at the end; one that fails before is no unhandled rejection.
    for (const worker of this.#workers) worker.catch((error: unknown) => this.#failures.push(error));
  }

  /** @throws what one of them ran into */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
  }

  /** Whether it was acknowledged. */
  async write(): Promise<boolean> {
    this.#written += 1;
    const name = `task ${this.#round.seed} ${this.#written}`;
    this.asked.push(name);
    const status = await this.#ask('/o/task', HANGS_AFTER_MS, {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    if (status === 201) this.acknowledged.push(name);
    return status === 201;
  }

  async #read(): Promise<void> {
    const path = this.#random.pick(['/o/recs/task', '/o/recs/task?stream=true', '/o/recs/task?limit=3']);
    await this.#ask(path, HANGS_AFTER_MS, { as: 'viewer' });
  }

  async isReady(): Promise<boolean> {
    return (await this.#ask('/readyz', READYZ_HANGS_AFTER_MS, {})) === 200;
  }

  /** @throws what one of them has run into so far */
  assertWell(): void {
    const [failure] = this.#failures;
    if (failure !== undefined) throw failure;
  }

  async #ask(
    path: string,
    hangsAfterMs: number,
    init: Parameters<StartedGateway['fetch']>[1],
  ): Promise<number> {
    const signal = AbortSignal.timeout(hangsAfterMs);
    const response = await this.#gateway.fetch(path, { ...init, signal }).catch((error: unknown) => {
      throw new Error(`${path} was not answered within ${hangsAfterMs} ms: ${String(error)}`);
    });
    // A stream that was cut is an answer too: its reader knows that it is not whole.
    await response.text().catch(() => {
      if (signal.aborted) throw new Error(`${path} was not answered whole within ${hangsAfterMs} ms`);
      this.#round.count('streams cut');
    });
    const { status } = response;
    if (![200, 201, 503].includes(status)) throw new Error(`${path} was answered with ${status}`);
    if (status === 503) expect(response.headers.get('retry-after')).toMatch(/^[1-9]/);
    this.#round.count(status === 503 ? 'requests refused' : 'requests answered');
    return status;
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await work();
      await sleep(20);
    }
  }
}

/**
 * What was acknowledged is there once; what was not is there at most once; and no transaction was left open.
 */
async function expectKept(sql: pg.Pool, { acknowledged, asked }: Traffic): Promise<void> {
  const { rows } = await sql.query<{ name: string; count: number }>(
    `select data ->> 'name' as name, count(*)::int as count
       from records
      where collection = 'task'
      group by 1`,
  );
  const countsByName = new Map(rows.map(({ name, count }) => [name, count]));
  expect(acknowledged.filter((name) => countsByName.get(name) !== 1)).toEqual([]);
  expect(asked.filter((name) => (countsByName.get(name) ?? 0) > 1)).toEqual([]);
  await eventually(async () => {
    const left = await sql.query(
      `select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    );
    return left.rowCount === 0;
  }, BACK_WITHIN_MS);
}
