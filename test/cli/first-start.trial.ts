import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { seedFirstSchool, seedSchool } from '../../src/cli/seed-command.js';
import { StoppedBySignal } from '../../src/cli/stop-signal.js';
import { openServices, type Services } from '../../src/gateway/compose/services.js';
import { parseConfig } from '../../src/gateway/config/config.js';
import { DEMO_USERS } from '../../src/school/demo/demo-options.js';
import { sql } from '../../src/store/sql.js';
import { createTestDatabase } from '../database.js';

const progress = { show() {}, note() {}, stop() {} };
const SMALL = { students: 36, years: 1, seed: 1, today: '2026-07-15', progress };

async function withServices(url: string, work: (services: Services) => Promise<void>): Promise<void> {
  const services = await openServices({
    config: parseConfig({ DATABASE_URL: url }),
    onFault: (_, error) => {
      throw error;
    },
  });
  await work(services).finally(() => services.close());
}

async function withDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const database = await createTestDatabase();
  await work(database.url).finally(() => database.drop());
}

async function expectLogin({ authenticator, domains }: Services): Promise<void> {
  expect(domains.top()?.id).toBe('demo');
  for (const { userName } of DEMO_USERS) {
    const login = { userName, password: `demo-${userName}`, domainId: undefined, address: '::1' };
    await expect(authenticator.login(login)).resolves.toMatchObject({ user: { userName } });
  }
}

/** Stops the seed when its first, second, … sign of life has come. */
async function seedUntil(services: Services, signs: number): Promise<'made' | 'stopped'> {
  const stopping = new AbortController();
  let seen = 0;
  const sign = () => {
    seen += 1;
    if (seen === signs) stopping.abort(new StoppedBySignal('SIGINT'));
  };
  try {
    const progress = { show: sign, note: sign, stop() {} };
    await seedSchool(services, { ...SMALL, signal: stopping.signal, progress });
    return 'made';
  } catch (fault) {
    if (fault instanceof StoppedBySignal) return 'stopped';
    throw fault;
  }
}

async function countRows(services: Services): Promise<unknown> {
  const [counts] = await services.database.query(sql`
    select (select count(*)::int from domains) as domains, (select count(*)::int from records) as records,
      (select count(*)::int from credentials) as credentials`);
  return counts;
}

describe('a first start', () => {
  it('of two gateways at once makes one demo school, and both go on with its logins', async () => {
    await withDatabase((url) =>
      withServices(url, (one) =>
        withServices(url, async (other) => {
          await Promise.all([one, other].map((services) => seedFirstSchool(services, SMALL)));
          await expectLogin(one);
          await expectLogin(other);
        }),
      ),
    );
  });

  it('that is stopped leaves nothing, whenever that is, and the next one makes the school', async () => {
    await withDatabase((url) =>
      withServices(url, async (services) => {
        for (let signs = 1; (await seedUntil(services, signs)) === 'stopped'; signs += 4) {
          expect(await countRows(services)).toEqual({ domains: 0, records: 0, credentials: 0 });
        }
        await expectLogin(services);
      }),
    );
  });

  it('says in lines how far it is where there is no terminal', async () => {
    const lines: string[] = [];
    const write = jest.spyOn(process.stderr, 'write').mockImplementation((line) => {
      lines.push(String(line));
      return true;
    });
    try {
      await withDatabase((url) =>
        withServices(url, async (services) => {
          await seedSchool(services, { ...SMALL, progress: undefined });
        }),
      );
    } finally {
      write.mockRestore();
    }
    expect(lines).toEqual(
      expect.arrayContaining(['campus: planning the school\n', 'campus: building the indexes\n']),
    );
  });
});
