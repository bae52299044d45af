/** Requests that hold every connection for long do not hold up the work in the background. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from '@jest/globals';
import { expectEventually } from '../expect-eventually.js';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';
import { connect } from './live.js';

/** Longer than requests wait for a connection before they are refused, and than the work is apart. */
const HELD_MS = 6_000;

const gateway = useGateway({ POOL_SIZE: '1', LOG_LEVEL: 'error', CHANGE_POLL_MS: '50' });
const held = `where domain = 'top' and collection = 'task' and id = 'held'`;
const subscribers: { dispose(): void }[] = [];
afterAll(() => {
  for (const subscriber of subscribers) subscriber.dispose();
});

it('no work in the background fails while a request holds the only connection', async () => {
  await ask(gateway, 'mutation { createTask(data: {id: "held", name: "A"}) { id } }', { as: 'admin' });
  await ask(
    gateway,
    `mutation {
      createWebhook(data: {
        name: "w", url: "https://hook.invalid/", events: [{collection: "task", operations: ["deleted"]}]
      }) { secret }
    }`,
    { as: 'admin' },
  );
  const subscriber = connect(gateway);
  subscribers.push(subscriber);
  const { events } = await subscriber.subscribe('subscription { taskChanged { id } }');
  const writer = await gateway.sql.connect();
  try {
    await writer.query('begin');
    await writer.query(`select from records ${held} for update`);
    const waiting = ask(
      gateway,
      `mutation @transaction {
        createTask(data: {id: "before", name: "A"}) { id }
        updateTask(id: "held", data: {name: "B"}) { id }
      }`,
      { as: 'admin' },
    );
    await sleep(HELD_MS);
    await writer.query('commit');
    await waiting;
  } finally {
    writer.release(true);
  }
  await expectEventually(() => events.map(({ id }) => id).sort(), ['before', 'held']);
  expect(gateway.log.filter((line) => /requestFailed|backgroundFault/.test(line))).toEqual([]);
});
