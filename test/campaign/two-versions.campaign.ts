/**
 * An upgrade without a pause, and one that is taken back: the version before the newest migration and today's
 * work on one database at the same time.
 */
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import pg from 'pg';
import { type StartedGateway, startGateway } from '../contract/gateway.js';
import { connect } from '../contract/live.js';
import { createTestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { campaign } from './campaign.js';
import {
  buildEarlierVersion,
  type EarlierBuild,
  type EarlierGateway,
  findEarlierVersion,
} from './earlier-build.js';

const commit = await findEarlierVersion();
let build: EarlierBuild;

/** Creates a record at each of two gateways, changes it at the other, and finds it at both. */
async function workAtBoth(gateway: StartedGateway, earlier: EarlierGateway, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${gateway.tokenOf('admin')}`, 'content-type': 'application/json' };
  const send = async (url: string, method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect({ path, status: answer.ok, text: answer.ok ? '' : text }).toEqual({
      path,
      status: true,
      text: '',
    });
    return JSON.parse(text);
  };
  const subscribers = [gateway, { url: earlier.url, tokenOf: gateway.tokenOf }].map((one) => connect(one));
  const heard = await Promise.all(
    subscribers.map(
      async (one) => (await one.subscribe('subscription { taskChanged { id version } }')).events,
    ),
  );
  const [one, other] = [gateway.url, earlier.url];
  const ids: string[] = [];
  for (let number = 0; number < 20; number++) {
    const [here, there] = number % 2 === 0 ? [one, other] : [other, one];
    const id = `${name}-${number}`;
    ids.push(id);
    await send(here, 'POST', '/o/task', { _id: id, name, amount: number });
    await send(there, 'PATCH', `/o/recs/task/${id}`, { amount: number + 1 });
    await send(here, 'PATCH', `/o/recs/task/${id}`, { amount: number + 2 });
  }
  const listed = await Promise.all(
    [one, other].map((url) => send(url, 'GET', `/o/recs/task?oquery=name=${name}&sort=amount`)),
  );
  expect(listed[0]).toEqual(listed[1]);
  expect(listed[0].map((task: { _id: string }) => task._id)).toEqual(ids);
  const reports = await Promise.all([one, other].map((url) => send(url, 'GET', '/?report=strength')));
  expect(reports[0].rows).toEqual(reports[1].rows);
  // Changes that follow each other at once may be told of as one.
  for (const events of heard) {
    await expectEventually(() => lastVersions(events), Object.fromEntries(ids.map((id) => [id, 3])));
  }
  for (const subscriber of subscribers) subscriber.dispose();
  return 3 * ids.length;
}

async function readAt(url: string, { tokenOf }: StartedGateway): Promise<number> {
  const headers = { authorization: `Bearer ${tokenOf('admin')}` };
  return (await fetch(`${url}/o/recs/task?limit=1`, { headers })).status;
}

function lastVersions(events: readonly unknown[]): Record<string, number> {
  return Object.fromEntries(
    (events as readonly { id: string; version: number }[]).map(({ id, version }) => [id, version]),
  );
}

const needsHistory = commit === undefined ? describe.skip : describe;

needsHistory('two versions (skipped in a clone without history)', () => {
  beforeAll(async () => {
    build = await buildEarlierVersion(commit ?? '');
  }, 600_000);

  afterAll(async () => {
    await build?.remove();
  });

  campaign('two versions work on one database', async ({ count, index }) => {
    const database = await createTestDatabase();
    try {
      // As the earlier version would make it.
      await withClient(database.url, (client) =>
        client.query('drop schema public cascade; create schema public; drop schema campus_jobs cascade'),
      );
      let earlier = await build.start(database.url);
      const gateway = await startGateway(database.url, { CHANGE_POLL_MS: '20' });
      try {
        // The domain was added past both of them.
        await gateway.sql.query(`select pg_notify(campus_channel('campus_domains'), '')`);
        await eventually(async () => (await readAt(earlier.url, gateway)) === 200);
        count('writes during the upgrade', await workAtBoth(gateway, earlier, `upgrade${index}`));
        await earlier.stop();
        // The upgrade is taken back: the earlier version meets a database that has been migrated.
        earlier = await build.start(database.url);
        count('writes after it was taken back', await workAtBoth(gateway, earlier, `back${index}`));
      } finally {
        await gateway.close();
        await earlier.stop();
      }
    } finally {
      await database.drop();
    }
  });
});

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
