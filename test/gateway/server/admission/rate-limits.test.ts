import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RateLimits, type RateLimitsOptions } from '../../../../src/gateway/server/admission/rate-limits.js';
import type { Database } from '../../../../src/store/database/database.js';
import { sql } from '../../../../src/store/sql.js';
import { useTestDatabase } from '../../../database.js';
import { eventually } from '../../../eventually.js';

const MINUTE_MS = 60_000;
const NEVER_BY_ITSELF = 3_600_000;

const testDatabase = useTestDatabase();
let database: Database;
/** Ten seconds into the current minute. */
let now: number;

beforeAll(async () => {
  database = testDatabase.database;
});

beforeEach(async () => {
  await database.query(sql`delete from rate_counters`);
  now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 10_000;
});

describe('requests of a caller', () => {
  it('are allowed up to the limit, then refused until the minute is over', async () => {
    await withLimits({ limitPerMinute: 3 }, async (limits) => {
      expect(limits.take('a')).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 50 });
      expect(limits.take('a')).toEqual({ allowed: true, limit: 3, remaining: 1, resetSeconds: 50 });
      now += 40_500;
      expect(limits.take('a')).toEqual({ allowed: true, limit: 3, remaining: 0, resetSeconds: 10 });
      expect(limits.take('a')).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 10 });
      expect(limits.take('b')).toMatchObject({ allowed: true });
      now += 9499;
      expect(limits.take('a')).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 1 });
      now += 1;
      expect(limits.take('a')).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 60 });
    });
  });

  it('are counted together by all gateways once they have exchanged their counts', async () => {
    await withLimits({ limitPerMinute: 10 }, async (one) => {
      await withLimits({ limitPerMinute: 10 }, async (two) => {
        for (let request = 0; request < 4; request += 1) one.take('a');
        for (let request = 0; request < 5; request += 1) two.take('a');
        await one.share();
        await two.share();
        expect(two.take('a')).toMatchObject({ allowed: true, remaining: 0 });
        expect(two.take('a')).toMatchObject({ allowed: false });
        await two.share();
        expect(one.take('a')).toMatchObject({ allowed: true, remaining: 5 });
        await one.share();
        expect(one.take('a')).toMatchObject({ allowed: false });
      });
    });
  });

  it('are counted once, also those that come while counts are exchanged', async () => {
    await withLimits({ limitPerMinute: 1000 }, async (limits) => {
      const sharing: Promise<void>[] = [];
      for (let request = 0; request < 100; request += 1) {
        limits.take('a');
        if (request % 10 === 0) sharing.push(limits.share());
        if (request % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(sharing);
      await limits.share();
      expect(limits.take('a').remaining).toBe(1000 - 101);
      expect(await storedCounts()).toEqual([100]);
    });
  });

  it('are still counted by many gateways that exchange at the same time', async () => {
    await withLimits({ limitPerMinute: 1000 }, async (one) => {
      await withLimits({ limitPerMinute: 1000 }, async (two) => {
        for (let round = 0; round < 20; round += 1) {
          for (const limits of [one, two]) for (const credential of ['a', 'b', 'c']) limits.take(credential);
          await Promise.all([one.share(), two.share()]);
        }
        expect(await storedCounts()).toEqual([40, 40, 40]);
      });
    });
  });

  it('start anew in the next minute, everywhere', async () => {
    await withLimits({ limitPerMinute: 2 }, async (limits) => {
      limits.take('a');
      limits.take('a');
      await limits.share();
      expect(limits.take('a').allowed).toBe(false);
      now += MINUTE_MS;
      expect(limits.take('a')).toMatchObject({ allowed: true, remaining: 1 });
      await limits.share();
      expect(limits.take('a')).toMatchObject({ allowed: true, remaining: 0 });
    });
  });

  it('are decided without the database, and counted when it is back', async () => {
    const faults: unknown[] = [];
    let isOut = true;
    const wayward = Object.assign(Object.create(database), {
      background: {
        ...database.background,
        query: (...args: Parameters<Database['query']>) =>
          isOut ? Promise.reject(new Error('out of reach')) : database.background.query(...args),
      },
    });
    const limits = new RateLimits({
      ...OPTIONS,
      database: wayward,
      onFault: (error) => faults.push(error),
      shareEveryMs: 10,
      now: () => now,
    });
    try {
      limits.take('a');
      limits.take('a');
      await eventually(() => faults.length > 0);
      expect(limits.take('a')).toMatchObject({ allowed: true, remaining: 597 });
      isOut = false;
      await eventually(async () => (await storedCounts())[0] === 3);
      expect(limits.take('a')).toMatchObject({ remaining: 596 });
    } finally {
      isOut = false;
      await limits.close();
    }
  });

  it('of minutes long over are forgotten', async () => {
    await database.query(sql`
      insert into rate_counters (key, window_start, count)
      values ('request:old', now() - interval '10 minutes', 8), ('request:new', now() - interval '1 minute',
        7)`);
    await withLimits({}, (limits) => limits.share());
    expect(await storedCounts()).toEqual([7]);
  });
});

describe('logins', () => {
  beforeEach(async () => {
    // Counted by the minute of the database's clock: not across the end of one.
    const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
    if (leftMs < 5000) await new Promise((resolve) => setTimeout(resolve, leftMs + 100));
  });

  it('of a user from an address are counted at once over all gateways', async () => {
    await withLimits({ loginLimitPerMinute: 10 }, async (one) => {
      await withLimits({ loginLimitPerMinute: 10 }, async (two) => {
        const decisions = await Promise.all(
          Array.from({ length: 25 }, (_, attempt) =>
            (attempt % 2 ? one : two).takeLogin('meena', '192.0.2.1'),
          ),
        );
        expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10);
        for (const { limit, resetSeconds } of decisions) {
          expect(limit).toBe(10);
          expect(resetSeconds).toBeGreaterThanOrEqual(1);
          expect(resetSeconds).toBeLessThanOrEqual(60);
        }
      });
    });
  });

  it('say how many are left', async () => {
    await withLimits({ loginLimitPerMinute: 2 }, async (limits) => {
      expect(await limits.takeLogin('meena', '192.0.2.1')).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limits.takeLogin('meena', '192.0.2.1')).toMatchObject({ allowed: true, remaining: 0 });
      expect(await limits.takeLogin('meena', '192.0.2.1')).toMatchObject({ allowed: false, remaining: 0 });
    });
  });

  it('of many users from one address are throttled, at ten times the limit', async () => {
    await withLimits({ loginLimitPerMinute: 2 }, async (limits) => {
      const allowed: boolean[] = [];
      for (let user = 0; user < 25; user += 1)
        allowed.push((await limits.takeLogin(`user${user}`, '192.0.2.1')).allowed);
      expect(allowed.indexOf(false)).toBe(20);
      expect((await limits.takeLogin('user1', '192.0.2.2')).allowed).toBe(true);
    });
  });

  it('of one user from many addresses are throttled, at ten times the limit', async () => {
    await withLimits({ loginLimitPerMinute: 2 }, async (limits) => {
      const allowed: boolean[] = [];
      for (let host = 0; host < 25; host += 1)
        allowed.push((await limits.takeLogin('meena', `192.0.2.${host}`)).allowed);
      expect(allowed.indexOf(false)).toBe(20);
    });
  });

  it('from one address cannot lock a user out of all others', async () => {
    await withLimits({ loginLimitPerMinute: 2 }, async (limits) => {
      for (let attempt = 0; attempt < 50; attempt += 1) await limits.takeLogin('meena', '192.0.2.1');
      expect((await limits.takeLogin('meena', '192.0.2.2')).allowed).toBe(true);
    });
  });

  it('store no user name: passwords are typed into that field', async () => {
    await withLimits({}, (limits) => limits.takeLogin('my password', '192.0.2.1'));
    expect(JSON.stringify(await storedCounts())).not.toMatch(/my password|192\.0\.2\.1/);
  });

  it.each([
    ['an empty one', ''],
    ['a NUL', '\0'],
    ['a very long one', 'x'.repeat(100_000)],
    ['SQL', "'; drop table rate_counters; --"],
  ])('take any user name: %s', async (_, userName) => {
    await withLimits({}, async (limits) => {
      expect((await limits.takeLogin(userName, '192.0.2.1')).allowed).toBe(true);
    });
  });
});

describe('work that counts as several requests', () => {
  it('may exceed what is left of the minute once', async () => {
    await withLimits({ limitPerMinute: 10 }, async (limits) => {
      limits.spend('a', 8);
      expect(limits.take('a').remaining).toBe(1);
      limits.spend('a', 30);
      expect(() => limits.spend('a', 1)).toThrow('More than 10 requests in a minute');
      expect(limits.take('a').allowed).toBe(false);
      expect(() => limits.spend('a', 0)).not.toThrow();
      expect(limits.take('b').allowed).toBe(true);
    });
  });
});

const OPTIONS = { limitPerMinute: 600, loginLimitPerMinute: 10 };

async function withLimits(
  options: Partial<RateLimitsOptions>,
  work: (limits: RateLimits) => Promise<unknown>,
): Promise<void> {
  const limits = new RateLimits({
    ...OPTIONS,
    database,
    onFault: (error) => {
      throw error;
    },
    shareEveryMs: NEVER_BY_ITSELF,
    now: () => now,
    ...options,
  });
  try {
    await work(limits);
  } finally {
    await limits.close();
  }
}

async function storedCounts(): Promise<readonly number[]> {
  const rows = await database.query<{ count: number }>(sql`select count from rate_counters`);
  return rows.map(({ count }) => count);
}
