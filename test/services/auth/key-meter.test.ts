import { beforeAll, expect, it } from '@jest/globals';
import { KEPT_REQUESTS, KeyMeter } from '../../../src/services/auth/key-meter.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { insertDomains, insertUser } from './gateway.js';

const test = useTestDatabase();
const KEY = '0190a5f2-0000-7000-8000-000000000001';

beforeAll(async () => {
  await insertDomains(test.database);
  await insertUser(test.database, { userName: 'clerk', roles: ['clerk'] });
  await test.database.query(sql`
    insert into api_keys (id, domain_id, user_id, name, prefix, key_hash, scopes, created_by)
    values (${KEY}::uuid, 'top', 'usr-clerk', 'meter', 'cg_abcd', ${Buffer.alloc(32)}, '{}', 'usr-clerk')`);
});

function openMeter(): KeyMeter {
  return new KeyMeter({
    database: test.database,
    onFault: (error) => {
      throw error;
    },
  });
}

function requestOf(number: number) {
  return {
    keyId: KEY,
    requestId: `request-${number}`,
    operation: '/o/recs/:collection',
    status: number === 0 ? 429 : 200,
    isError: number === 0,
    durationMs: 3,
    cost: undefined,
  };
}

it('counts every request of a key, and keeps the latest ones', async () => {
  const meter = openMeter();
  const asked = KEPT_REQUESTS + 500;
  for (let number = 0; number < asked; number++) meter.note(requestOf(number));
  await meter.flush();
  for (let number = asked; number < asked + 3; number++) meter.note(requestOf(number));
  await meter.close();
  const [hours] = await test.database.query<{ requests: number; errors: number; refused: number }>(sql`
    select sum(requests)::int as requests, sum(errors)::int as errors, sum(refused)::int as refused
    from key_usage`);
  expect(hours).toEqual({ requests: asked + 3, errors: 1, refused: 1 });
  const kept = await test.database.query<{ id: string }>(
    sql`select request_id as id from key_requests order by substr(request_id, 9)::int`,
  );
  expect(kept).toHaveLength(KEPT_REQUESTS);
  expect([kept.at(0), kept.at(-1)]).toEqual([
    { id: `request-${asked + 3 - KEPT_REQUESTS}` },
    { id: `request-${asked + 2}` },
  ]);
});

it('keeps the hours of thirty days', async () => {
  const meter = openMeter();
  await test.database.query(sql`
    insert into key_usage (key_id, hour, requests, errors, refused, latency)
    select ${KEY}::uuid, day::timestamptz, 1, 0, 0, '{}'
    from unnest(array['2026-01-31 23:00+00', '2026-02-01 12:00+00']) as day`);
  await meter.purge(new Date('2026-03-03T00:00:00Z'));
  await meter.close();
  const rows = await test.database.query(sql`select hour from key_usage where hour < '2026-03-01'`);
  expect(rows).toEqual([{ hour: new Date('2026-02-01T12:00:00Z') }]);
});
