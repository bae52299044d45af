import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { seedFirstSchool } from '../../src/cli/seed.js';
import { parseConfig } from '../../src/config.js';
import { openServices, type Services } from '../../src/services.js';
import { createTestDatabase } from '../database.js';

jest.setTimeout(60_000);

const SMALL = { students: 36, years: 1, seed: 1, today: '2026-07-15' };

describe('a first start', () => {
  it('of two gateways at once makes one demo school, and both go on with its logins', async () => {
    const database = await createTestDatabase();
    const open = () =>
      openServices({
        config: parseConfig({ DATABASE_URL: database.url }),
        onFault: (_, error) => {
          throw error;
        },
      });
    const gateways: readonly Services[] = await Promise.all([open(), open()]);
    try {
      await Promise.all(gateways.map((services) => seedFirstSchool(services, SMALL)));
      for (const { authenticator, domains } of gateways) {
        expect(domains.top()?.id).toBe('demo');
        const login = { userName: 'viewer', password: 'demo-viewer', domainId: undefined, address: '::1' };
        await expect(authenticator.login(login)).resolves.toMatchObject({ user: { userName: 'viewer' } });
      }
    } finally {
      for (const services of gateways) await services.close();
      await database.drop();
    }
  });
});
