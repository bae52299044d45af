/** What is noted of the uses of fields, as it comes to be in the database. */
import { beforeEach, expect, it } from '@jest/globals';
import type { Scope } from '../../../src/base/model/scope.js';
import { FieldMeter } from '../../../src/store/catalog/field-uses.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';

const test = useTestDatabase();
const FIELDS = [{ collection: 'task', field: 'name' }];

beforeEach(async () => {
  await test.database.query(sql`
    insert into domains (id, name) values ('top', 'Top') on conflict do nothing`);
  await test.database.query(sql`truncate field_uses`);
});

function openMeter(faults: unknown[] = []): FieldMeter {
  return new FieldMeter({ database: test.database, onFault: (error) => faults.push(error) });
}

function scopeOf(kind: 'key' | 'token', id: string, domain = 'top'): Scope {
  return {
    call: { requestId: 'request' },
    domain: { id: domain, name: domain, parentId: undefined, timeZone: 'UTC' },
    principal: {
      kind: 'user',
      id: 'usr-1',
      userName: 'one',
      domainId: domain,
      roles: new Set(['admin']),
      credential: { kind, id },
      scopes: undefined,
      attributes: {},
    },
  };
}

async function rows() {
  return await test.database.query<Record<string, string>>(sql`
    select credential, operation, field, (last_used_on = (now() at time zone 'utc')::date)::text as today
    from field_uses order by credential, operation, field`);
}

it('writes a row for each use, whoever signed in, and renews the day of a known one', async () => {
  await test.database.query(sql`
    insert into field_uses (domain, collection, field, credential, operation, last_used_on)
    values ('top', 'task', 'name', 'users', 'List', '2026-01-01')`);
  const meter = openMeter();
  for (const id of ['session-1', 'session-2']) meter.note(scopeOf('token', id), 'List', FIELDS);
  for (let time = 0; time < 3; time++) meter.note(scopeOf('key', 'key-1'), 'List', FIELDS);
  meter.note(scopeOf('key', 'key-1'), '', FIELDS);
  await meter.close();
  expect(await rows()).toEqual([
    { credential: 'key-1', operation: '', field: 'name', today: 'true' },
    { credential: 'key-1', operation: 'List', field: 'name', today: 'true' },
    { credential: 'users', operation: 'List', field: 'name', today: 'true' },
  ]);
});

it('tells so many operations of a credential apart, and counts the others as without a name', async () => {
  const meter = openMeter();
  for (let number = 0; number < 150; number++) {
    meter.note(scopeOf('key', 'key-1'), `Operation${number}`, FIELDS);
  }
  await meter.close();
  const names = (await rows()).map(({ operation }) => operation);
  expect(names).toHaveLength(101);
  expect(names).toContain('');
});

it('keeps no more of a domain than its bound, and renews what is known', async () => {
  await test.database.query(sql`
    insert into field_uses (domain, collection, field, credential, operation, last_used_on)
    select 'top', 'task', 'name', 'key-' || n, 'List', '2026-01-01' from generate_series(1, 49999) n`);
  const meter = openMeter();
  for (const id of ['key-1', 'new-1', 'new-2']) meter.note(scopeOf('key', id), 'List', FIELDS);
  await meter.close();
  const today = (await rows()).filter((row) => row.today === 'true').map(({ credential }) => credential);
  expect(today).toEqual(['key-1', 'new-1']);
});

it('writes again what a database that was away did not take', async () => {
  const faults: unknown[] = [];
  const meter = openMeter(faults);
  await test.database.query(sql`alter table field_uses rename to field_uses_away`);
  meter.note(scopeOf('key', 'key-1'), 'List', FIELDS);
  await meter.flush();
  expect(faults).toHaveLength(1);
  expect(String(faults[0])).toContain('field_uses');
  await test.database.query(sql`alter table field_uses_away rename to field_uses`);
  await meter.close();
  expect(await rows()).toHaveLength(1);
});

it('writes nothing of a domain that is gone', async () => {
  const meter = openMeter();
  meter.note(scopeOf('key', 'key-1', 'gone'), 'List', FIELDS);
  meter.note(scopeOf('key', 'key-1'), 'List', FIELDS);
  await meter.close();
  expect(await rows()).toHaveLength(1);
});

it('forgets what is longer ago than thirty days', async () => {
  await test.database.query(sql`
    insert into field_uses (domain, collection, field, credential, operation, last_used_on)
    select 'top', 'task', 'name', 'users', day, day::date
    from unnest(array['2026-01-31', '2026-02-01']) day`);
  const meter = openMeter();
  await meter.purge(new Date('2026-03-03T12:00:00Z'));
  await meter.close();
  expect((await rows()).map(({ operation }) => operation)).toEqual(['2026-02-01']);
});
