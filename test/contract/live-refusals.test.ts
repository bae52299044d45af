/** What a WebSocket is refused, and how each refusal is told. */

import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import type { TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { createGatewayDatabase, ROLES, type Role, type StartedGateway, startGateway } from './gateway.js';
import { ask } from './graphql.js';
import { connect, countSubscriptions, openRaw, type RawSocket, type Subscriber, socketUrl } from './live.js';

let database: TestDatabase;
let gateway: StartedGateway;
const opened: (() => void)[] = [];

beforeAll(async () => {
  database = await createGatewayDatabase();
  gateway = await startGateway(database.url, {
    CHANGE_POLL_MS: '20',
    LIVE_CONNECTIONS_PER_CREDENTIAL: '3',
    LIVE_SUBSCRIPTIONS_PER_CONNECTION: '2',
    LIVE_INIT_TIMEOUT_MS: '300',
    LIVE_QUEUE_BYTES: '1000000',
    BODY_LIMIT_BYTES: '200000',
  });
});

afterEach(async () => {
  for (const close of opened.splice(0)) close();
  await eventually(async () => (await countSubscriptions(gateway)) === 0);
});

afterAll(async () => {
  await gateway?.close();
  await database?.drop();
});

function subscriberOf(as: Role = 'admin', params?: Record<string, unknown>): Subscriber {
  const subscriber = connect(gateway, { as, ...(params && { params }) });
  opened.push(() => subscriber.dispose());
  return subscriber;
}

async function raw(options: Parameters<typeof openRaw>[1] = {}): Promise<RawSocket> {
  const socket = await openRaw(gateway, options);
  opened.push(() => socket.webSocket.terminate());
  return socket;
}

/** A bare socket that has said who it is. */
async function rawAs(role: Role): Promise<RawSocket> {
  const socket = await raw();
  await greet(socket, gateway.tokenOf(role));
  return socket;
}

async function greet(socket: RawSocket, token: string): Promise<void> {
  socket.send({ type: 'connection_init', payload: { Authorization: `Bearer ${token}` } });
  await eventually(() => socket.messages.length === 1);
  expect(JSON.parse(socket.messages[0] ?? '')).toEqual({ type: 'connection_ack' });
}

/** How a subscription is refused: the error's code and text. */
async function refusal(query: string, as: Role = 'viewer', variables?: Record<string, unknown>) {
  const subscription = subscriberOf(as).attempt(query, variables);
  await eventually(() => subscription.isDone);
  const [error] = subscription.errors;
  expect(error?.extensions.requestId).toEqual(expect.any(String));
  return { code: error?.extensions.code, status: error?.extensions.status, message: error?.message };
}

const TASKS = 'subscription { taskChanged { id } }';

describe('a connection is refused', () => {
  it.each([
    ['without a credential', undefined, 4401, /needs a credential/],
    ['with a wrong token', { Authorization: 'Bearer nonsense' }, 4401, /wrong, expired or revoked/],
    ['with another scheme', { Authorization: 'Basic YTpi' }, 4401, /needs a credential/],
    ['with a credential that is no text', { Authorization: 7 }, 4401, /needs a credential/],
  ])('%s', async (_how, params, code, reason) => {
    const socket = await raw();
    socket.send({ type: 'connection_init', payload: params });
    await eventually(() => socket.closed !== undefined);
    expect(socket.closed).toEqual({ code, reason: expect.stringMatching(reason) });
    expect(socket.messages).toEqual([]);
  });

  it('in a domain that is not the caller’s', async () => {
    const { closed } = await attemptIn({
      Authorization: `Bearer ${gateway.tokenOf('viewer')}`,
      'X-Domain': 'other',
    });
    expect(closed).toEqual({ code: 4403, reason: expect.stringMatching(/Only an admin of the top domain/) });
  });

  it('when it says nothing for a while', async () => {
    const socket = await raw();
    await eventually(() => socket.closed !== undefined);
    expect(socket.closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
  });

  it('when it subscribes before it says who it is', async () => {
    const socket = await raw();
    socket.send({ id: '1', type: 'subscribe', payload: { query: TASKS } });
    await eventually(() => socket.closed !== undefined);
    expect(socket.closed?.code).toBe(4401);
  });

  it('when it speaks no protocol of ours', async () => {
    const socket = await raw({ protocol: '' });
    await eventually(() => socket.closed !== undefined);
    expect(socket.closed?.code).toBe(4406);
  });

  it('when a message is no message, or too large', async () => {
    const nonsense = await raw();
    nonsense.send('{');
    await eventually(() => nonsense.closed !== undefined);
    expect(nonsense.closed?.code).toBe(4400);
    const large = await raw();
    large.send('x'.repeat(200_001));
    await eventually(() => large.closed !== undefined);
    expect(large.closed?.code).toBe(1009);
  });

  it('over the number one user may have, by whatever credentials', async () => {
    for (let n = 0; n < 3; n++) await rawAs('clerk');
    const create = 'mutation ($s: JSON!) { createApiKey(data: {name: "k", scopes: $s}) { key } }';
    const scopes = { collections: { task: ['read'] } };
    const { createApiKey } = await ask(gateway, create, { variables: { s: scopes }, as: 'clerk' });
    const { closed } = await attemptIn({ Authorization: `Bearer ${createApiKey.key}` });
    expect(closed).toEqual({ code: 4429, reason: 'A user has at most 3 connections' });
    await rawAs('viewer');
  });

  it('by HTTP where the hooks of every request refuse it', async () => {
    const status = await new Promise((resolve, reject) => {
      const socket = new WebSocket(socketUrl(gateway), ['graphql-transport-ws'], {
        headers: { authorization: 'Bearer nonsense' },
      });
      socket.on('unexpected-response', (_request, response) => {
        response.resume();
        resolve(response.statusCode);
      });
      socket.on('open', () => reject(new Error('it was opened')));
      socket.on('error', () => {});
    });
    expect(status).toBe(401);
  });

  it('by HTTP where the gateway has as many as it takes, until one ends', async () => {
    const full = await startGateway(database.url, { LIVE_CONNECTIONS: '1' });
    try {
      const first = await openRaw(full);
      await greet(first, full.tokenOf('viewer'));
      await expect(upgrade(full)).resolves.toBe(503);
      first.webSocket.terminate();
      await eventually(async () => (await upgrade(full)) === 101);
    } finally {
      await full.close();
    }
  });

  it('when it is the oldest that has not said who it is, and others need its place', async () => {
    const full = await startGateway(database.url, { LIVE_CONNECTIONS: '4', LIVE_INIT_TIMEOUT_MS: '60000' });
    try {
      const silent = [await openRaw(full), await openRaw(full), await openRaw(full)];
      const known = await openRaw(full);
      await greet(known, full.tokenOf('viewer'));
      await eventually(() => silent.filter(({ closed }) => closed).length === 2);
      expect(silent.map(({ closed }) => closed?.code)).toEqual([1013, 1013, undefined]);
      expect(known.closed).toBeUndefined();
    } finally {
      await full.close();
    }
  });

  /** The status a request for a WebSocket is answered with. */
  function upgrade({ url }: { readonly url: string }): Promise<number | undefined> {
    return new Promise((resolve) => {
      const socket = new WebSocket(socketUrl({ url }), ['graphql-transport-ws']);
      socket.on('unexpected-response', (_request, response) => {
        response.resume();
        resolve(response.statusCode);
      });
      socket.on('open', () => {
        socket.terminate();
        resolve(101);
      });
      socket.on('error', () => {});
    });
  }

  it('at a path that takes none: it is answered as any request', async () => {
    const status = await new Promise((resolve) => {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/healthz`);
      socket.on('unexpected-response', (_request, response) => {
        response.resume();
        resolve(response.statusCode);
      });
      socket.on('error', () => {});
    });
    expect(status).toBe(200);
  });

  async function attemptIn(params: Record<string, unknown>) {
    const subscription = subscriberOf('admin', params).attempt(TASKS);
    await eventually(() => subscription.isDone);
    return { closed: subscription.closed };
  }
});

describe('messages', () => {
  const KINDS: readonly (readonly [string, (socket: RawSocket) => void])[] = [
    ['pings', (socket) => socket.send({ type: 'ping' })],
    ['completions', (socket) => socket.send({ id: '1', type: 'complete' })],
    ['ping frames', (socket) => socket.webSocket.ping()],
    ['pong frames', (socket) => socket.webSocket.pong()],
  ];

  it.each(KINDS)(
    'that are %s have no answer before the caller is known, and only some may come',
    async (_kind, send) => {
      const socket = await raw();
      let pongs = 0;
      socket.webSocket.on('pong', () => {
        pongs += 1;
      });
      for (let count = 0; count < 6; count++) send(socket);
      await eventually(() => socket.closed !== undefined);
      expect([socket.closed?.code, socket.messages, pongs]).toEqual([4429, [], 0]);
    },
  );

  it('are answered in their order', async () => {
    const socket = await rawAs('viewer');
    let pongs = 0;
    socket.webSocket.on('pong', () => {
      pongs += 1;
    });
    socket.webSocket.ping();
    for (let n = 0; n < 50; n++) socket.send({ type: 'ping', payload: { n } });
    await eventually(() => socket.messages.length === 51);
    const answers = socket.messages.slice(1).map((message) => JSON.parse(message));
    expect(answers).toEqual(Array.from({ length: 50 }, (_, n) => ({ type: 'pong', payload: { n } })));
    expect([pongs, socket.closed]).toEqual([1, undefined]);
  });

  it('count as requests of the user, and some over the rate end the connection', async () => {
    // Without the requests that other tests of this minute made from the same address.
    const own = await createGatewayDatabase();
    const slow = await startGateway(own.url, { RATE_LIMIT_PER_MINUTE: '30' });
    try {
      for (const [index, [kind, send]] of KINDS.entries()) {
        const socket = await openRaw(slow);
        await greet(socket, slow.tokenOf(ROLES[index] ?? 'viewer'));
        for (let count = 0; count < 120; count++) send(socket);
        await eventually(() => socket.closed !== undefined);
        expect([kind, socket.closed]).toEqual([
          kind,
          { code: 4429, reason: 'More than 30 messages in a minute (RATE_LIMIT_PER_MINUTE)' },
        ]);
      }
    } finally {
      await slow.close();
      await own.drop();
    }
  });

  it('that a sender leaves behind are dropped with its connection', async () => {
    const { hostname, port } = new URL(gateway.url);
    const upgrade =
      'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
      'Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';
    const pings = Buffer.concat(Array(20_000).fill(Buffer.from([0x89, 0x80, 1, 2, 3, 4])));
    const socket = net.connect(Number(port), hostname).on('error', () => undefined);
    socket.write(upgrade);
    await once(socket, 'data');
    const open = await countConnections();
    socket.end(pings);
    await once(socket.resume(), 'close');
    // One turn of the event loop for each frame that is parsed by itself.
    for (let turn = 0; turn < 5_000; turn++) await new Promise(setImmediate);
    expect([open, await countConnections()]).toEqual([1, 0]);
  });

  async function countConnections(): Promise<number | undefined> {
    const live = await gateway.app.server.metrics.registry.getSingleMetric('campus_live')?.get();
    return live?.values.find(({ labels }) => labels.what === 'connections')?.value;
  }

  it('that are large are not collected before the caller is known', async () => {
    const socket = await raw();
    socket.webSocket.send('x'.repeat(150_000), { fin: false });
    await eventually(() => socket.closed !== undefined);
    expect(socket.closed?.code).toBe(1009);
  });
});

describe('a connection may say who it is', () => {
  it('in the header Authorization of its request', async () => {
    const socket = await raw({ headers: { authorization: `Bearer ${gateway.tokenOf('viewer')}` } });
    socket.send({ type: 'connection_init' });
    await eventually(() => socket.messages.length === 1);
    expect(socket.closed).toBeUndefined();
  });
});

describe('a subscription is refused', () => {
  it.each<[string, string, Role, string, number]>([
    [
      'to a collection the role does not read',
      'subscription { receiptChanged: feeReceiptChanged { id } }',
      'teacher',
      'FORBIDDEN',
      403,
    ],
    [
      'that selects a hidden field',
      'subscription { registrationChanged { record { guardianPhone } } }',
      'viewer',
      'FORBIDDEN',
      403,
    ],
    [
      'that filters by a hidden field',
      'subscription { registrationChanged(oquery: "guardian_phone=1") { id } }',
      'viewer',
      'FORBIDDEN',
      403,
    ],
    [
      'to a collection that is not there',
      'subscription { recordChanged(collection: "tusk") { id } }',
      'viewer',
      'NOT_FOUND',
      404,
    ],
    [
      'with a malformed filter',
      'subscription { recordChanged(collection: "task", oquery: "=") { id } }',
      'viewer',
      'MALFORMED_FILTER',
      400,
    ],
    ['to a topic of admins', 'subscription { topic(name: "secret") { id } }', 'viewer', 'FORBIDDEN', 403],
    ['to a topic without a name', 'subscription { topic(name: "") { id } }', 'admin', 'INVALID_VALUE', 400],
    [
      'to a report of another role',
      'subscription { reportChanged(report: "fee-defaulters") { report } }',
      'viewer',
      'FORBIDDEN',
      403,
    ],
    [
      'to a report that is not there',
      'subscription { reportChanged(report: "fees") { report } }',
      'admin',
      'NOT_FOUND',
      404,
    ],
    ['that does not parse', 'subscription {', 'viewer', 'GRAPHQL_PARSE_FAILED', 400],
    [
      'that does not validate',
      'subscription { taskChanged { nothing } }',
      'viewer',
      'GRAPHQL_VALIDATION_FAILED',
      400,
    ],
    [
      'with two root fields',
      'subscription { a: taskChanged { id } b: taskChanged { id } }',
      'viewer',
      'GRAPHQL_VALIDATION_FAILED',
      400,
    ],
    ['that is a query', '{ tasks { totalCount } }', 'viewer', 'MALFORMED_REQUEST', 400],
    ['that is a mutation', 'mutation { deleteTask(id: "1") { id } }', 'clerk', 'MALFORMED_REQUEST', 400],
    [
      'that costs too much',
      'subscription { registrationChanged { record { attendanceRecords(first: 1000) { nodes { ' +
        'student { record { attendanceRecords(first: 1000) { nodes { id } } } } } } } } }',
      'admin',
      'LIMIT_EXCEEDED',
      400,
    ],
    [
      'that is too deep',
      'subscription { recordChanged(collection: "task") { record { ' +
        `${'... { '.repeat(3)} id ${'}'.repeat(3)} } } registrationChanged { record { ` +
        'attendanceRecords { nodes { student { record { attendanceRecords { nodes { student { record { ' +
        'attendanceRecords { nodes { student { record { id } } } } } } } } } } } } } } }',
      'admin',
      'LIMIT_EXCEEDED',
      400,
    ],
  ])('%s', async (_what, query, as, code, status) => {
    expect(await refusal(query, as)).toMatchObject({ code, status });
  });

  it('whose filter lost its variable', async () => {
    const query = 'subscription ($where: TaskWhereInput) { taskChanged(where: $where) { id } }';
    expect(await refusal(query)).toMatchObject({ code: 'INVALID_VALUE', status: 400 });
  });

  it('over the number one connection may have, and after one has ended no more', async () => {
    const subscriber = subscriberOf('viewer');
    const first = await subscriber.subscribe(TASKS);
    await subscriber.subscribe(TASKS);
    const third = subscriber.attempt(TASKS);
    await eventually(() => third.isDone);
    expect(third.errors[0]).toMatchObject({
      message: 'A connection has at most 2 subscriptions at once (LIVE_SUBSCRIPTIONS_PER_CONNECTION).',
      extensions: { code: 'LIMIT_EXCEEDED' },
    });
    first.stop();
    await eventually(async () => (await countSubscriptions(gateway)) === 1);
    await subscriber.subscribe(TASKS);
  });

  it('as an operation by HTTP, which says where to send it', async () => {
    const response = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: TASKS }),
    });
    const { errors } = (await response.json()) as { errors: { message: string }[] };
    expect(errors[0]?.message).toMatch(/WebSocket to \/graphql/);
  });
});

describe('a connection ends', () => {
  it('when its session does', async () => {
    const login = async () => {
      const response = await gateway.fetch('/auth?user_name=teacher&password=correct%20horse', {
        method: 'POST',
      });
      return ((await response.json()) as { access_token: string }).access_token;
    };
    const token = await login();
    const subscriber = subscriberOf('teacher', { Authorization: `Bearer ${token}` });
    const subscription = await subscriber.subscribe(TASKS);
    await ask(gateway, 'mutation { logout }', {
      as: undefined,
      headers: { authorization: `Bearer ${token}` },
    });
    await eventually(() => subscription.isDone);
    expect(subscription.closed).toEqual({ code: 4403, reason: expect.stringMatching(/expired or revoked/) });
  });

  it('when its reader is too slow, without keeping what it does not read', async () => {
    const slow = await rawAs('clerk');
    slow.send({
      id: '1',
      type: 'subscribe',
      payload: { query: 'subscription { recordChanged(collection: "task") { record { data } } }' },
    });
    await eventually(async () => (await countSubscriptions(gateway)) === 1);
    await sleep(150);
    slow.webSocket.pause();
    const quick = await subscriberOf('viewer').subscribe(
      'subscription { recordChanged(collection: "task") { record { data } } }',
    );
    // The metrics may be a second old.
    await eventually(async () => (await countSubscriptions(gateway)) === 2);
    // More than the buffers of the network take.
    const note = 'x'.repeat(9_000);
    let created = 0;
    for (; created < 5_000 && (await countSubscriptions(gateway)) === 2; created += 10) {
      const body = JSON.stringify(Array.from({ length: 10 }, () => ({ name: 'Long', note })));
      await gateway.fetch('/o/task', {
        method: 'POST',
        as: 'clerk',
        body,
        headers: { 'content-type': 'application/json' },
      });
    }
    await eventually(async () => (await countSubscriptions(gateway)) === 1);
    slow.webSocket.resume();
    await eventually(() => slow.closed !== undefined);
    // The close frame comes after megabytes the network holds; who does not read them in time is cut.
    expect([1013, 1006]).toContain(slow.closed?.code);
    await eventually(() => quick.events.length === created);
    const ended = gateway.app.server.metrics.registry.getSingleMetric('campus_live_connections_ended_total');
    expect(JSON.stringify(await ended?.get())).toMatch(/1013|1006/);
  });

  it('under maintenance', async () => {
    const subscription = await subscriberOf('viewer').subscribe(TASKS);
    await gateway.sql.query(
      `insert into settings (name, value, updated_at) values ('maintenance', 'true', now())
       on conflict (name) do update set value = 'true'`,
    );
    await gateway.sql.query(`select pg_notify(campus_channel('campus_settings'), 'maintenance')`);
    await eventually(() => subscription.isDone);
    expect(subscription.closed).toEqual({ code: 1013, reason: 'The service is down for maintenance' });
    await gateway.sql.query(`update settings set value = 'false' where name = 'maintenance'`);
    await gateway.sql.query(`select pg_notify(campus_channel('campus_settings'), 'maintenance')`);
    await eventually(async () => (await gateway.fetch('/readyz')).status === 200);
  });

  it('with 1001 when the gateway stops, within its grace', async () => {
    const stopping = await startGateway(database.url, { SHUTDOWN_GRACE_MS: '3000' });
    const subscription = await connect(stopping, { as: 'admin' }).subscribe(TASKS);
    const startedAt = Date.now();
    await stopping.close();
    expect(Date.now() - startedAt).toBeLessThan(2_500);
    await eventually(() => subscription.isDone);
    expect(subscription.closed).toEqual({ code: 1001, reason: 'This gateway is shutting down' });
  });

  it('when the time of its token is over', async () => {
    const short = await startGateway(database.url, { ACCESS_TOKEN_TTL_SECONDS: '2' });
    try {
      const response = await short.fetch('/auth?user_name=admin&password=correct%20horse', {
        method: 'POST',
      });
      const { access_token: token } = (await response.json()) as { access_token: string };
      const subscriber = connect(short, { params: { Authorization: `Bearer ${token}` } });
      const subscription = await subscriber.subscribe(TASKS);
      await eventually(() => subscription.isDone);
      expect(subscription.closed?.code).toBe(4403);
    } finally {
      await short.close();
    }
  });
});

describe('the messages', () => {
  it('keep every digit of a number', async () => {
    const socket = await rawAs('clerk');
    socket.send({
      id: 'digits',
      type: 'subscribe',
      payload: { query: 'subscription { recordChanged(collection: "task") { record { data } } }' },
    });
    await eventually(async () => (await countSubscriptions(gateway)) === 1);
    await sleep(150);
    await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      body: '{"name":"Exactly","amount":12345678901234567890.125,"created_on":"2026-04-01T00:00:00.000Z"}',
      headers: { 'content-type': 'application/json' },
    });
    await eventually(() => socket.messages.length === 2);
    expect(socket.messages[1]).toMatch(
      /^\{"id":"digits","type":"next","payload":\{"data":\{"recordChanged":\{"record":\{"data":\{.*"amount": ?12345678901234567890\.125.*\}\}\}\}\}\}$/,
    );
  });

  it('that flood in without being read are held back, and end nothing else', async () => {
    const other = await rawAs('viewer');
    const flood = await rawAs('clerk');
    flood.webSocket.pause();
    for (let n = 0; n < 10_000; n++) flood.send({ type: 'ping', payload: { n, text: 'x'.repeat(100) } });
    other.send({ type: 'ping' });
    await eventually(() => other.messages.length === 2);
    flood.webSocket.resume();
    await eventually(() => flood.closed !== undefined || flood.messages.length === 10_001);
  });

  it('answer a ping', async () => {
    const socket = await rawAs('clerk');
    socket.send({ type: 'ping', payload: { n: 1 } });
    await eventually(() => socket.messages.length === 2);
    expect(JSON.parse(socket.messages[1] ?? '')).toEqual({ type: 'pong', payload: { n: 1 } });
  });
});
