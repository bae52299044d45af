/** A stop that is announced: balancers hear of it while everything is answered still. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { createGatewayDatabase, expectProblem, startGateway } from './gateway.js';
import { connect } from './live.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createGatewayDatabase();
});

afterAll(async () => {
  await database.drop();
});

function startDelayed(delayMs: number) {
  return startGateway(database.url, { SHUTDOWN_DELAY_MS: String(delayMs), LOG_LEVEL: 'info' });
}

const CHANGED = 'subscription { taskChanged { id } }';

describe('a stop with a delay', () => {
  it('answers, and keeps live data, while /readyz sends balancers elsewhere; then it ends', async () => {
    const gateway = await startDelayed(4_000);
    const subscription = await connect(gateway).subscribe(CHANGED);
    const stopped = gateway.close();
    await eventually(async () => (await gateway.fetch('/readyz')).status === 503);

    const notReady = await gateway.fetch('/readyz');
    expectProblem(notReady, await notReady.text());
    expect((await gateway.fetch('/healthz')).status).toBe(200);
    const created = await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      body: '{"_id":"late","name":"written while the gateway is left"}',
    });
    expect([created.status, created.headers.get('connection')]).toEqual([201, 'close']);
    expect((await gateway.fetch('/o/recs/task/late', { as: 'viewer' })).status).toBe(200);
    // Who subscribes now may be sent here by a balancer that has not heard yet.
    const later = await connect(gateway).subscribe(CHANGED);
    await gateway.fetch('/o/recs/task/late', {
      method: 'PATCH',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      body: '{"amount":1}',
    });
    await eventually(() => later.events.length === 1);
    expect(subscription.events).toContainEqual({ id: 'late' });

    await stopped;
    for (const { closed } of [subscription, later]) expect(closed?.code).toBe(1001);
    await expect(gateway.fetch('/healthz')).rejects.toThrow();
    const events = gateway.log.map((line) => JSON.parse(line).event);
    expect(events.filter((event) => /^stop/.test(event))).toEqual(['stopAnnounced', 'stopping', 'stopped']);
  });

  it('is not put off twice when it is asked for again', async () => {
    const gateway = await startDelayed(1_000);
    await Promise.all([gateway.app.close(), gateway.app.close(), gateway.close()]);
    expect(gateway.log.filter((line) => line.includes('"stopAnnounced"'))).toHaveLength(1);
  });
});
