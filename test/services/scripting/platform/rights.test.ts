/**
 * A script can do what its user can do, and nothing else: the same answers as by REST, for every role; and it
 * leaves nothing running.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROLES } from '../../../contract/gateway.js';
import { usePlatform } from './platform.js';

const test = usePlatform(() => ({ SCRIPT_WALL_TIME_MS: '5000' }));

const COLLECTIONS = [
  'task',
  'fee_receipt',
  'fee_due',
  'registration',
  'attendance',
  'pltf_user',
  'sms_log',
  'result',
  'fee_head',
  'leave_request',
];

beforeAll(async () => {
  const admin = await test.scopeOf('admin');
  await test.services.domains.create(admin, { id: 'east', name: 'East' });
  await test.services.store.create(admin, 'task', [{ _id: 't1', name: 'of the top', amount: 1 }]);
  await test.services.store.create(await test.scopeOf('admin', 'east'), 'task', [
    { _id: 't2', name: 'of the east', amount: 1 },
  ]);
});

describe.each(ROLES)('a script of the role %s', (role) => {
  it.each(COLLECTIONS)('reads %s as its user does', async (collection) => {
    const answer = await test.gateway.fetch(`/o/recs/${collection}?stream=true`, { as: role });
    const body: unknown = await answer.json();
    const { value, error } = await test.run(
      role,
      `export default platform.db.findStream('${collection}', {}).toArray();`,
    );
    const ids = (records: unknown) => (Array.isArray(records) ? records.map((one) => Object(one)) : []);
    if (answer.ok) expect(ids(value)).toEqual(expect.arrayContaining(ids(body)));
    expect(error?.status ?? 200).toBe(answer.status);
    expect(ids(value)).toHaveLength(answer.ok ? ids(body).length : 0);
  });

  it.each(['task', 'fee_head', 'sms_log', 'pltf_user', 'club'])(
    'writes %s as its user does',
    async (collection) => {
      const answer = await test.gateway.fetch(`/o/${collection}`, {
        as: role,
        method: 'POST',
        body: '{"undeclared": true}',
        headers: { 'content-type': 'application/json' },
      });
      const { error } = await test.run(
        role,
        `await platform.db.create('${collection}', { undeclared: true });`,
      );
      expect(error?.status ?? 201).toBe(answer.status);
    },
  );

  it('does not reach another domain', async () => {
    const run = await test.run(
      role,
      `export default [await platform.db.getCount('task', { _id: 't2' }), await ` +
        `platform.db.getCount('task', { name: 'of the east' })];`,
    );
    if (run.error === undefined) expect(run.value).toEqual([0, 0]);
    else expect(run.error).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('a script that acts with an API key', () => {
  it('keeps to its scopes', async () => {
    const admin = await test.scopeOf('admin');
    const { key } = await test.services.apiKeys.create(admin, {
      name: 'reads',
      scopes: { collections: { task: ['read'] }, scripts: ['*'] },
    });
    const scope = { ...admin, principal: await test.services.authenticator.authenticate(key) };
    expect(await test.value(scope, `export default await platform.db.getCount('task', { _id: 't1' });`)).toBe(
      1,
    );
    for (const code of [
      `await platform.db.getCount('fee_receipt', {});`,
      `await platform.db.create('task', { name: 'x' });`,
      'platform.properties();',
    ]) {
      expect((await test.run(scope, code)).error).toMatchObject({ code: 'FORBIDDEN' });
    }
  });
});

describe('a script that is ended in the middle of a write', () => {
  it('has written nothing, and nothing runs on', async () => {
    const { sql } = test.gateway;
    const locker = await sql.connect();
    try {
      await locker.query('begin');
      await locker.query(
        `select 1 from records where domain = 'top' and collection = 'task' and id = 't1' for update`,
      );
      const result = await test.run(
        'admin',
        `
        await platform.db.createMultiple('task', [{ _id: 'kept', name: 'before' }]);
        await platform.db.updateMany('task', { name: 'of the top' }, { $set: { name: 'never' } });`,
      );
      expect(result.error).toMatchObject({ limit: 'wallTime' });
      const { rows } = await sql.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      expect(rows).toEqual([]);
    } finally {
      await locker.query('rollback');
      locker.release();
    }
    expect(
      await test.value(
        'admin',
        `export default [await platform.db.getCount('task', { name: 'never' }), await ` +
          `platform.db.getCount('task', { _id: 'kept' })];`,
      ),
    ).toEqual([0, 1]);
  });
});
