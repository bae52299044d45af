import { describe, expect, it } from '@jest/globals';
import { loadTokenKeys } from '../../../src/services/auth/service-secret.js';
import { useTestDatabase } from '../../database.js';

const testDatabase = useTestDatabase();

describe('the secret of access tokens', () => {
  it('is made once, however many gateways start at the same time', async () => {
    const { database } = testDatabase;
    const keys = await Promise.all(
      Array.from({ length: 10 }, () => loadTokenKeys(database, { tokenSecret: undefined })),
    );
    const secrets = new Set(keys.map(([key]) => key?.secret.toString()));
    expect(secrets.size).toBe(1);
    const [again] = await loadTokenKeys(database, { tokenSecret: undefined });
    expect([...secrets]).toEqual([again?.secret.toString()]);
    expect(again?.secret.toString()).toMatch(/^[\w-]{43}$/);
  });

  it('is the configured one where there is one', async () => {
    const { database } = testDatabase;
    const tokenSecret = 'a-secret-of-the-test-that-is-long-enough';
    const [key] = await loadTokenKeys(database, { tokenSecret });
    expect(key?.secret.toString()).toBe(tokenSecret);
    expect(key?.id).toMatch(/^[\w-]{8}$/);
  });
});
