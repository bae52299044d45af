/** A pooler between the gateway and its database: one that keeps sessions serves, any other is refused. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase } from '../../src/store/database/database.js';
import { sql } from '../../src/store/sql.js';
import type { TestDatabase } from '../database.js';
import { expectEventually } from '../expect-eventually.js';
import { hasPooler, type Pooler, startPooler } from '../pooler.js';
import { createGatewayDatabase, type StartedGateway, startGateway } from './gateway.js';
import { ask } from './graphql.js';
import { connect } from './live.js';

/** Said in the name of what is skipped. */
const needsPooler = hasPooler() ? describe : describe.skip;

needsPooler('PgBouncer (skipped where there is no program pgbouncer)', () => {
  let database: TestDatabase;
  let pooler: Pooler;
  let gateway: StartedGateway;

  beforeAll(async () => {
    database = await createGatewayDatabase();
    pooler = await startPooler(database.url, 'session');
    gateway = await startGateway(pooler.url, { CHANGE_POLL_MS: '20' });
  });

  afterAll(async () => {
    await gateway?.close();
    await pooler?.stop();
    await database?.drop();
  });

  it('in session mode serves writes, lists, transactions and live data', async () => {
    const subscriber = connect(gateway, { as: 'admin' });
    const { events } = await subscriber.subscribe('subscription { taskChanged { id } }');
    await ask(
      gateway,
      'mutation @transaction { a: createTask(data: { id: "t-1", name: "Chalk" }) { id }' +
        ' b: createTask(data: { id: "t-2", name: "Duster" }) { id } }',
    );
    await expectEventually(() => events, [{ id: 't-1' }, { id: 't-2' }]);
    subscriber.dispose();
    const listed = await gateway.fetch('/o/recs/task?sort=name', { as: 'viewer' });
    expect((await listed.json()) as { _id: string }[]).toMatchObject([{ _id: 't-1' }, { _id: 't-2' }]);
  });

  it('in session mode lets a statement be ended', async () => {
    const opened = await openDatabase({ url: pooler.url, poolSize: 2, statementTimeoutMs: 60_000 });
    try {
      const signal = AbortSignal.timeout(200);
      const ended = opened.query(sql`select 'ended' from pg_sleep(50)`, { signal });
      await expect(ended).rejects.toMatchObject({ name: 'TimeoutError' });
      const running = sql`select 1 from pg_stat_activity
        where query like '%pg_sleep(50)' and state = 'active'`;
      expect(await opened.query(running)).toEqual([]);
    } finally {
      await opened.close();
    }
  });

  for (const mode of ['transaction', 'statement'] as const) {
    it(`in ${mode} mode is refused with the reason, in one line`, async () => {
      const loose = await startPooler(database.url, mode);
      try {
        await expect(
          openDatabase({ url: loose.url, poolSize: 1, statementTimeoutMs: 1_000 }),
        ).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          message: expect.stringMatching(/^At 127.0.0.1:\d+ a pooler answers that keeps no session .*$/),
        });
      } finally {
        await loose.stop();
      }
    });
  }
});
