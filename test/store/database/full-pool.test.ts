import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';

const test = useTestDatabase();
const SIZE = 2;
const FULL = {
  code: 'UNAVAILABLE',
  retryAfterSeconds: 2,
  message:
    `All ${SIZE} connections to the database (POOL_SIZE) are in use by requests that take long; try ` +
    'again later.',
};
const ONE = sql`select 1 as one`;

let database: Database;
beforeEach(async () => {
  database = await openDatabase({ url: test.url, poolSize: SIZE, statementTimeoutMs: 30_000 });
});
afterEach(() => database.close());

/** Holds every connection by statements that run on; what is answered ends them. */
async function holdAll(): Promise<() => Promise<void>> {
  const end = new AbortController();
  const held = Array.from({ length: SIZE }, () =>
    database.query(sql`select pg_sleep(25)`, { signal: end.signal }).catch(() => {}),
  );
  await sleep(100);
  return async () => {
    end.abort();
    await Promise.all(held);
  };
}

/** What came first: the answer, or the end of a time in which long statements still run. */
async function outcomeOf(asked: Promise<unknown>): Promise<unknown> {
  const outcome = await Promise.race([
    asked.then(
      () => 'done',
      (error: unknown) => error,
    ),
    sleep(6_000, 'still waiting', { ref: false }),
  ]);
  return outcome;
}

describe('connections that are all held by long statements', () => {
  it('are what a refusal names, soon, of queries, transactions and models', async () => {
    const end = await holdAll();
    try {
      const asked = [
        database.query(ONE),
        database.transaction((transaction) => transaction.query(ONE)),
        database.prisma.domain.count(),
      ];
      for (const outcome of await Promise.all(asked.map(outcomeOf))) expect(outcome).toMatchObject(FULL);
      // Who comes now need not find out anew.
      await expect(Promise.race([database.query(ONE), sleep(500, 'waited')])).rejects.toMatchObject(FULL);
      await expect(database.background.query(ONE)).resolves.toEqual([{ one: 1 }]);
    } finally {
      await end();
    }
    await expect(database.query(ONE)).resolves.toEqual([{ one: 1 }]);
    expect(database.isReachable).toBe(true);
  });

  it('are told apart from those for streams', async () => {
    const end = new AbortController();
    const read = async () => {
      for await (const _batch of database.stream(sql`select pg_sleep(25)::text from generate_series(1, 2)`, {
        signal: end.signal,
      }));
    };
    const held = Array.from({ length: SIZE }, () => read().catch(() => {}));
    await sleep(100);
    try {
      await expect(outcomeOf(read())).resolves.toMatchObject({
        code: 'UNAVAILABLE',
        message:
          `All ${SIZE} connections for streamed answers (POOL_SIZE) are in use by requests that take ` +
          'long; try again later.',
      });
      await expect(database.query(ONE)).resolves.toEqual([{ one: 1 }]);
    } finally {
      end.abort();
      await Promise.all(held);
    }
  });
});

describe('a line for connections', () => {
  it('is waited in as long as it moves', async () => {
    const asked = Array.from({ length: 12 }, () => database.query(sql`select pg_sleep(0.6)`));
    await expect(Promise.all(asked)).resolves.toHaveLength(12);
  });

  it('is counted, and leaves no connection behind', async () => {
    const asked = Array.from({ length: 50 }, (_, n) =>
      n % 3 === 0 ? database.query(sql`select 1 / ${0}::int`).catch(() => {}) : database.query(ONE),
    );
    expect(database.pool.waitingCount).toBe(50 - SIZE);
    await Promise.all(asked);
    expect(database.pool).toMatchObject({ waitingCount: 0, totalCount: SIZE, idleCount: SIZE });
  });
});
