/**
 * The worst of the hostile texts through every door: none is a fault of ours, and none fails in PostgreSQL.
 */
import { beforeAll, expect, it } from '@jest/globals';
import { ATTEMPTS, prepareForAttempts } from '../hostile-attempts.js';
import { watchStatementErrors } from '../statement-errors.js';
import { useGateway } from './gateway.js';

const gateway = useGateway({ FEDERATION: 'true' });

beforeAll(async () => {
  await prepareForAttempts(gateway);
});

it('a statement that fails is seen by the watch', async () => {
  const errors = await watchStatementErrors(String(gateway.sql.options.connectionString));
  await expect(gateway.sql.query("select '\\u0000'::jsonb, 1 / 0")).rejects.toThrow();
  expect(await errors.list()).toEqual([expect.stringContaining('ERROR: ')]);
});

for (const text of ['a\0b', '\ud800', '\\u0000', '1e999999', '']) {
  it(`${JSON.stringify(text)} is answered by every door`, async () => {
    const errors = await watchStatementErrors(String(gateway.sql.options.connectionString));
    const faults: string[] = [];
    for (const { door, send } of ATTEMPTS) {
      const status = await send(gateway, text);
      if (status >= 500) faults.push(`${door}: ${status}`);
      const failed = await errors.list();
      if (failed.length > 0 && faults.length === 0) faults.push(`${door}: ${failed.join('; ')}`);
    }
    expect(faults).toEqual([]);
  });
}
