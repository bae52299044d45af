/** Webhooks: what is told, to whom, signed, again and again, and only to where it may be. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { PASSWORD, type Role, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];
/** What the address outside answers. */
let answer: { status: number; body?: string; headers?: Record<string, string> } = { status: 204 };

let underWay = 0;
/** How many deliveries were there at the same time. */
let mostAtOnce = 0;

/** Requests to `/hang`, which are answered when they are released. */
const hanging: ServerResponse[] = [];
let isReleased = false;

function release(): void {
  isReleased = true;
  for (const response of hanging.splice(0)) response.writeHead(204).end();
}

const receiver = createServer((request, response) => {
  underWay += 1;
  mostAtOnce = Math.max(mostAtOnce, underWay);
  response.once('close', () => {
    underWay -= 1;
  });
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    received.push({ path: request.url ?? '', headers: request.headers, body });
    if (request.url === '/hang' && !isReleased) {
      hanging.push(response);
      return;
    }
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const { port } = receiver.address() as AddressInfo;
const outside = `http://127.0.0.1:${port}`;

const gateway = useGateway({
  SCRIPT_REQUEST_PRIVATE_HOSTS: `127.0.0.1:${port}`,
  WEBHOOK_ROLES: 'clerk,viewer',
  LOG_LEVEL: 'debug',
});

afterAll(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

/** How many changes of it the audit trail has. */
async function changesOf(webhookId: string): Promise<number> {
  const { rows } = await gateway.sql.query(
    `select count(*)::int as count from audit_entries where collection = '$webhook' and record_id = $1`,
    [webhookId],
  );
  return rows[0].count;
}

beforeEach(async () => {
  answer = { status: 204 };
  await gateway.sql.query('delete from webhooks');
  received.length = 0;
  mostAtOnce = 0;
});

const CREATE =
  'mutation ($data: CreateWebhookInput!) { createWebhook(data: $data) { secret webhook { id } } }';
const ALL = ['created', 'updated', 'deleted'];

async function create(data: object = {}, as: Role = 'admin'): Promise<{ id: string; secret: string }> {
  const wanted = {
    ...{ name: 'ledger', url: `${outside}/hook`, events: [{ collection: 'task', operations: ALL }] },
    ...data,
  };
  const { createWebhook } = await ask(gateway, CREATE, { variables: { data: wanted }, as });
  return { id: createWebhook.webhook.id, secret: createWebhook.secret };
}

async function deliveriesOf(id: string, fields = 'state'): Promise<Answered[]> {
  const query = `query ($id: ID!) { webhookDeliveries(id: $id, first: 100) { nodes { ${fields} } } }`;
  return (await ask(gateway, query, { variables: { id } })).webhookDeliveries.nodes;
}

const createTask = (id: string, data: object = {}) =>
  ask(gateway, 'mutation ($data: JSON!) { createRecord(collection: "task", data: $data) { id } }', {
    variables: { data: { _id: id, name: 'Chairs', ...data } },
  });

const told = (all: Answered[]) => all.map(({ state, event }) => [state, event.recordId]);

const bodies = () => received.map(({ body }) => JSON.parse(body));

/** How many deliveries to its address failed since one arrived. */
const failuresOf = async (id: string): Promise<number> =>
  (await gateway.sql.query('select failures from webhooks where id = $1', [id])).rows[0].failures;

/** As if the time of every delivery that waits had come. */
const hasten = () => gateway.sql.query('update webhook_deliveries set next_attempt_at = now()');

describe('a webhook', () => {
  it('is told of what was committed, in the words of the record as its owner reads it', async () => {
    await create();
    await createTask('w-1', { amount: 5 });
    await expectEventually(() => received.length, 1);
    await ask(gateway, 'mutation { updateRecord(collection: "task", id: "w-1", data: {amount: 6}) { id } }');
    await expectEventually(() => received.length, 2);
    await ask(gateway, 'mutation { deleteRecord(collection: "task", id: "w-1") { id } }');
    await expectEventually(() => received.length, 3);
    const [created, updated, deleted] = bodies();
    expect(created).toMatchObject({
      ...{ type: 'record.created', collection: 'task', recordId: 'w-1', version: 1, domain: 'top' },
      ...{ by: 'usr-admin', record: { _id: 'w-1', name: 'Chairs', amount: 5 } },
    });
    expect(updated).toMatchObject({ type: 'record.updated', version: 2, record: { amount: 6 } });
    expect(deleted).toMatchObject({ type: 'record.deleted', recordId: 'w-1', version: 3 });
    expect(deleted).not.toHaveProperty('record');
    expect(received[0]).toMatchObject({ path: '/hook', headers: { 'content-type': 'application/json' } });
  });

  it('is signed over id, time and body by a secret that is shown once', async () => {
    const { id, secret } = await create();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await createTask('signed');
    await expectEventually(() => received.length, 1);
    const [{ headers, body }] = received as [Received];
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    expect(headers['webhook-signature']).toBe(expected);
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    const { rows } = await gateway.sql.query('select secret from webhooks');
    expect(rows[0].secret).toMatch(/^cge1\./);
    const rotate = 'mutation ($id: ID!) { rotateWebhookSecret(id: $id) }';
    const { rotateWebhookSecret } = await ask(gateway, rotate, { variables: { id } });
    expect(rotateWebhookSecret).toMatch(/^whsec_/);
    expect(rotateWebhookSecret).not.toBe(secret);
    expect(gateway.log.join('')).not.toContain('whsec_');
  });

  it('is told of the collections, operations and records it asked for alone', async () => {
    const events = [{ collection: 'task', operations: ['created'], oquery: 'amount=>100' }];
    const { id } = await create({ events });
    await createTask('small', { amount: 1 });
    await createTask('large', { amount: 200 });
    await ask(
      gateway,
      'mutation { updateRecord(collection: "task", id: "large", data: {amount: 300}) { id } }',
    );
    await ask(gateway, 'mutation { createRecord(collection: "fee_head", data: {name: "Bus"}) { id } }');
    await expectEventually(
      () => deliveriesOf(id).then((all) => all.map(({ state }) => state).sort()),
      ['delivered', 'skipped'],
    );
    expect(bodies().map(({ recordId }) => recordId)).toEqual(['large']);
  });

  it('never tells its owner what that may not read, now or later', async () => {
    const events = [{ collection: 'pltf_user', operations: ALL }];
    const invite =
      'mutation { inviteUser(data: {userName: "guest", name: "G", roles: ["viewer"]}) { userId link } }';
    const { userId, link } = (await ask(gateway, invite)).inviteUser;
    await ask(gateway, 'mutation ($t: String!) { useAccountLink(token: $t, password: "correct horse") }', {
      variables: { t: link.split('#')[1] },
    });
    const login = 'mutation { login(userName: "guest", password: "correct horse") { accessToken } }';
    const headers = { authorization: `Bearer ${(await ask(gateway, login)).login.accessToken}` };
    const data = { name: 'staff', url: outside, events };
    const made = await send(gateway, { query: CREATE, variables: { data }, headers });
    const { id } = made.data.createWebhook.webhook;
    await ask(
      gateway,
      'mutation { updateRecord(collection: "pltf_user", id: "usr-clerk", data: {phone: "+919876543210"}) { id } }',
    );
    await expectEventually(() => received.length, 1);
    expect(received[0]?.body).toContain('The clerk');
    expect(received[0]?.body).not.toMatch(/phone|\+91|employee_code|"user_name"/);
    await ask(gateway, 'mutation ($id: ID!) { setUserActive(userId: $id, isActive: false) { id } }', {
      variables: { id: userId },
    });
    await expectEventually(
      () => deliveriesOf(id).then((all) => all.map(({ state }) => state)),
      ['skipped', 'delivered'],
    );
    expect(received).toHaveLength(1);
  });

  it('is told nothing of what was rolled back, or came before it was made', async () => {
    await createTask('before');
    const { id } = await create();
    await send(gateway, {
      as: 'admin',
      query:
        'mutation @transaction { createRecord(collection: "task", data: {_id: "undone", name: "x"}) { id } ' +
        'updateRecord(collection: "task", id: "nobody", data: {name: "x"}) { id } }',
    });
    await createTask('after');
    await expectEventually(() => deliveriesOf(id, 'state event').then(told), [['delivered', 'after']]);
  });

  it('is told each of many changes once', async () => {
    const { id } = await create();
    const records = Array.from({ length: 60 }, (_, at) => ({ _id: `many-${at}`, name: 'Many' }));
    await ask(gateway, 'mutation ($r: [JSON!]!) { createRecords(collection: "task", data: $r) { id } }', {
      variables: { r: records },
    });
    await expectEventually(() => received.length, 60);
    expect(new Set(bodies().map(({ recordId }) => recordId)).size).toBe(60);
    expect(await deliveriesOf(id)).toHaveLength(60);
  });
});

describe('a delivery', () => {
  it('is tried again, later each time, until the answer is 2xx', async () => {
    answer = { status: 500, body: 'out of order' };
    const { id } = await create();
    await createTask('retried');
    const fields = 'state attempts status answer problem';
    const failed = { attempts: 1, status: 500, answer: 'out of order', problem: 'The answer was 500.' };
    await expectEventually(() => deliveriesOf(id, fields), [{ ...failed, state: 'waiting' }]);
    const waitOf = async () =>
      (
        await gateway.sql.query(
          `select round(extract(epoch from next_attempt_at - attempted_at))::int as seconds
           from webhook_deliveries`,
        )
      ).rows[0].seconds;
    expect(await waitOf()).toBe(10);
    await hasten();
    await expectEventually(() => deliveriesOf(id, fields), [{ ...failed, attempts: 2, state: 'waiting' }]);
    await expectEventually(waitOf, 30);
    answer = { status: 200 };
    await hasten();
    await expectEventually(() => deliveriesOf(id, 'state attempts'), [{ state: 'delivered', attempts: 3 }]);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });

  it('is given up after a day, and sent again by hand', async () => {
    answer = { status: 503 };
    const { id } = await create();
    await createTask('given-up');
    await eventually(async () => (await deliveriesOf(id)).length === 1 && received.length === 1);
    await gateway.sql.query('update webhook_deliveries set attempts = 11, next_attempt_at = now()');
    await expectEventually(() => deliveriesOf(id, 'state attempts'), [{ state: 'failed', attempts: 12 }]);
    answer = { status: 200 };
    const [{ id: delivery }] = (await deliveriesOf(id, 'id')) as [Answered];
    await ask(gateway, 'mutation ($id: ID!) { replayWebhookDelivery(id: $id) { state } }', {
      variables: { id: delivery },
    });
    await expectEventually(
      () => deliveriesOf(id, 'state attempts problem'),
      [{ state: 'delivered', attempts: 1, problem: null }],
    );
  });

  it('is sent again with all others that failed, when the address answers again', async () => {
    const replay = 'mutation ($id: ID!) { replayWebhookDeliveries(id: $id) }';
    const replayed = async (of: string) =>
      (await ask(gateway, replay, { variables: { id: of } })).replayWebhookDeliveries;
    answer = { status: 503 };
    const { id } = await create();
    for (const task of ['down-1', 'down-2', 'down-3']) await createTask(task);
    const isTried = async () =>
      (await deliveriesOf(id, 'problem')).filter(({ problem }) => problem !== null).length === 3;
    await eventually(isTried);
    await gateway.sql.query(
      "update webhook_deliveries set state = 'failed', attempts = 12 where event ->> 'recordId' = 'down-1'",
    );
    const other = await create({
      name: 'other',
      url: `${outside}/other`,
      events: [{ collection: 'class', operations: ALL }],
    });
    expect(await replayed(other.id)).toBe(0);
    answer = { status: 204 };
    expect(await replayed(id)).toBe(3);
    await expectEventually(
      () => deliveriesOf(id, 'state attempts'),
      Array.from({ length: 3 }, () => ({ state: 'delivered', attempts: 1 })),
    );
    expect(await replayed(id)).toBe(0);
    const asClerk = { query: replay, variables: { id }, as: 'clerk' } as const;
    expect(await codesOf(gateway, asClerk)).toEqual(['NOT_FOUND']);
  });

  it('does not wait for those to an address that does not answer', async () => {
    const silent = await create({ name: 'silent', url: `${outside}/hang` });
    const other = await create({ name: 'other', url: `${outside}/other` });
    for (let task = 0; task < 8; task++) await createTask(`beside-${task}`);
    const eight = (state: string) => Array.from({ length: 8 }, () => ({ state }));
    await expectEventually(() => deliveriesOf(other.id), eight('delivered'));
    expect(received.filter(({ path }) => path === '/hang')).toHaveLength(4);
    expect(await deliveriesOf(silent.id)).toEqual(eight('waiting'));
    const stored = await gateway.sql.query(
      `select state, count(*)::int as count
       from webhook_deliveries where webhook_id = $1 group by 1 order by 1`,
      [silent.id],
    );
    expect(stored.rows).toEqual(['sending', 'waiting'].map((state) => ({ state, count: 4 })));
    release();
    await expectEventually(() => deliveriesOf(silent.id), eight('delivered'));
  });

  it('is made again where the gateway that sent it died', async () => {
    const { id } = await create();
    await gateway.sql.query(
      `insert into webhook_deliveries (webhook_id, event, state, attempts)
       values ($1, '{"type": "test", "at": "", "by": ""}', 'sending', 1)`,
      [id],
    );
    await expectEventually(() => deliveriesOf(id, 'state attempts'), [{ state: 'delivered', attempts: 2 }]);
  });

  it('does not wait for addresses that fail and do not answer, however many they are', async () => {
    isReleased = false;
    const failing: string[] = [];
    for (let at = 0; at < 8; at++)
      failing.push((await create({ name: `failing-${at}`, url: `${outside}/hang` })).id);
    await gateway.sql.query('update webhooks set failures = 3');
    const other = await create({ name: 'other', url: `${outside}/other` });
    await createTask('beside-failing-1');
    await expectEventually(() => deliveriesOf(other.id), [{ state: 'delivered' }]);
    await createTask('beside-failing-2');
    await expectEventually(() => deliveriesOf(other.id), Array(2).fill({ state: 'delivered' }));
    expect(received.filter(({ path }) => path === '/hang').length).toBeLessThanOrEqual(3);
    release();
    for (const id of failing)
      await expectEventually(() => deliveriesOf(id), Array(2).fill({ state: 'delivered' }));
  });

  it('follows no redirect', async () => {
    answer = { status: 302, headers: { location: `${outside}/elsewhere` } };
    const { id } = await create();
    await createTask('redirected');
    await expectEventually(() => deliveriesOf(id, 'state status'), [{ state: 'waiting', status: 302 }]);
    expect(received.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('is changed only as it was read, where that is asked for', async () => {
    const { id } = await create();
    const read = async () =>
      (await ask(gateway, '{ webhooks { id name isPaused etag } }')).webhooks.find(
        (one: Answered) => one.id === id,
      );
    const change = `mutation ($id: ID!, $data: UpdateWebhookInput!, $etag: String) {
      updateWebhook(id: $id, data: $data, ifMatch: $etag) { name isPaused etag } }`;
    const { etag } = await read();
    const paused = await ask(gateway, change, { variables: { id, data: { isPaused: true }, etag } });
    expect(paused.updateWebhook.etag).not.toBe(etag);
    const stale = { query: change, variables: { id, data: { name: 'mine' }, etag }, as: 'admin' } as const;
    const before = await changesOf(id);
    expect(await codesOf(gateway, stale)).toEqual(['VERSION_CONFLICT']);
    expect(await changesOf(id)).toBe(before);
    expect(await read()).toEqual({ id, name: 'ledger', isPaused: true, etag: paused.updateWebhook.etag });
    const fresh = { id, data: { name: 'mine' }, etag: paused.updateWebhook.etag };
    expect((await ask(gateway, change, { variables: fresh })).updateWebhook.name).toBe('mine');
    const gone = { ...stale, variables: { ...fresh, id: '00000000-0000-4000-8000-000000000000' } };
    expect(await codesOf(gateway, gone)).toEqual(['NOT_FOUND']);
  });

  it('waits while the webhook is paused', async () => {
    const { id } = await create();
    const pause =
      'mutation ($id: ID!, $is: Boolean!) { updateWebhook(id: $id, data: {isPaused: $is}) { isPaused } }';
    await ask(gateway, pause, { variables: { id, is: true } });
    await createTask('paused');
    await expectEventually(() => deliveriesOf(id, 'state attempts'), [{ state: 'waiting', attempts: 0 }]);
    expect(received).toEqual([]);
    await ask(gateway, pause, { variables: { id, is: false } });
    await expectEventually(() => deliveriesOf(id), [{ state: 'delivered' }]);
  });

  it('follows at once when the address, which failed, has taken one', async () => {
    answer = { status: 503 };
    const { id } = await create();
    for (const name of ['first', 'second', 'third', 'fourth']) await createTask(`out-${name}`);
    await expectEventually(() => deliveriesOf(id, 'attempts'), Array(4).fill({ attempts: 1 }));
    await eventually(async () => (await failuresOf(id)) === 4);
    await gateway.sql.query(`update webhook_deliveries set next_attempt_at = now() + interval '1 hour'`);
    answer = { status: 204 };
    await createTask('out-fifth');
    await expectEventually(() => deliveriesOf(id), Array(5).fill({ state: 'delivered' }));
    expect(await failuresOf(id)).toBe(0);
  });

  it('tries an address that fails once a minute, and the others follow when that has taken it', async () => {
    answer = { status: 503 };
    const { id } = await create();
    for (const name of ['first', 'second', 'third']) await createTask(`probe-${name}`);
    await eventually(async () => (await failuresOf(id)) === 3);
    const isFailing = async () => (await ask(gateway, '{ webhooks { isFailing } }')).webhooks;
    expect(await isFailing()).toEqual([{ isFailing: true }]);
    const aMinuteLater = () =>
      gateway.sql.query(`update webhooks set tried_at = tried_at - interval '1 minute'`);
    await gateway.sql.query(`update webhook_deliveries set next_attempt_at = now() + interval '1 hour' * id`);
    const timesOf = async () =>
      (await gateway.sql.query('select attempts, next_attempt_at from webhook_deliveries order by id')).rows;
    const before = await timesOf();
    await aMinuteLater();
    await expectEventually(() => failuresOf(id), 4);
    const waiting = Array(3).fill({ state: 'waiting', problem: 'The answer was 503.' });
    await expectEventually(() => deliveriesOf(id, 'state problem'), waiting);
    expect(await timesOf()).toEqual(before);
    expect(received).toHaveLength(4);

    answer = { status: 204 };
    await aMinuteLater();
    await expectEventually(() => deliveriesOf(id), Array(3).fill({ state: 'delivered' }));
    expect(await failuresOf(id)).toBe(0);
    expect(await isFailing()).toEqual([{ isFailing: false }]);
  });

  it('is the only one that tries an address that fails', async () => {
    answer = { status: 503 };
    const { id } = await create();
    await gateway.sql.query('update webhooks set failures = 3');
    for (const name of ['first', 'second', 'third']) await createTask(`alone-${name}`);
    await expectEventually(() => deliveriesOf(id, 'attempts'), Array(3).fill({ attempts: 1 }));
    expect(mostAtOnce).toBe(1);
  });

  it('that failed alone keeps its time when others arrive', async () => {
    answer = { status: 500 };
    const { id } = await create();
    await createTask('alone');
    await expectEventually(() => failuresOf(id), 1);
    answer = { status: 204 };
    await createTask('arrives');
    await expectEventually(() => failuresOf(id), 0);
    expect(await deliveriesOf(id, 'state attempts')).toEqual([
      { state: 'delivered', attempts: 1 },
      { state: 'waiting', attempts: 1 },
    ]);
    const { rows } = await gateway.sql.query(
      `select next_attempt_at - attempted_at = interval '10 seconds' as "isInItsTime"
       from webhook_deliveries where state = 'waiting'`,
    );
    expect(rows).toEqual([{ isInItsTime: true }]);
  });

  it('as a test is sent at once, and answered with what came of it', async () => {
    const { id } = await create({ url: `${outside}/tested` });
    const test = 'mutation ($id: ID!) { testWebhook(id: $id) { state status attempts event } }';
    expect((await ask(gateway, test, { variables: { id } })).testWebhook).toMatchObject({
      ...{ state: 'delivered', status: 204, attempts: 1, event: { type: 'test', by: 'usr-admin' } },
    });
    expect(bodies()).toMatchObject([{ type: 'test', domain: 'top' }]);
  });

  it.each([
    [
      'a private address',
      'https://10.0.0.1/x',
      /may not reach 10.0.0.1: its address is not one of the public/,
    ],
    ['this machine by another port', `http://127.0.0.1:${port + 1}/`, /webhooks may not reach port/],
    ['this machine in hexadecimal', 'http://0x7f.1/', /may not reach 127.0.0.1/],
    ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data', /may not reach 169/],
    ['this machine by name', 'http://localhost/', /may not reach localhost/],
    ['another port', 'https://example.org:22/', /may not reach port 22; allowed: /],
  ])('is refused when it is saved, and never reaches %s', async (_, url, problem) => {
    const data = { name: 'x', url, events: [{ collection: 'task', operations: ALL }] };
    const { id } = await create();
    const change =
      'mutation ($id: ID!, $data: UpdateWebhookInput!) { updateWebhook(id: $id, data: $data) { id } }';
    for (const [query, variables] of [
      [CREATE, { data }],
      [change, { id, data: { url } }],
    ] as const) {
      const { errors } = await send(gateway, { query, variables, as: 'admin' });
      expect(errors).toMatchObject([
        { message: expect.stringMatching(problem), extensions: { code: 'INVALID_VALUE' } },
      ]);
    }
    // It was saved while it was allowed.
    await gateway.sql.query('update webhooks set url = $1 where id = $2', [url, id]);
    const test = 'mutation ($id: ID!) { testWebhook(id: $id) { state status answer problem } }';
    const { testWebhook } = await ask(gateway, test, { variables: { id } });
    expect(testWebhook).toEqual({
      ...{ state: 'waiting', status: null, answer: null },
      problem: expect.stringMatching(problem),
    });
    expect(received).toEqual([]);
  });
});

describe('webhooks', () => {
  let key: string;
  beforeAll(async () => {
    const scopes = { collections: { task: ['read'] }, reports: [], scripts: [] };
    const query = 'mutation ($s: JSON!) { createApiKey(data: {name: "k", scopes: $s}) { key } }';
    key = (await ask(gateway, query, { variables: { s: scopes } })).createApiKey.key;
  });

  it('are for the roles of WEBHOOK_ROLES, and for no API key', async () => {
    const data = { name: 'x', url: outside, events: [{ collection: 'task', operations: ALL }] };
    for (const [as, code] of [
      ['teacher', 'FORBIDDEN'],
      ['accountant', 'FORBIDDEN'],
    ] as const) {
      expect([as, await codesOf(gateway, { query: CREATE, variables: { data }, as })]).toEqual([as, [code]]);
      expect(await codesOf(gateway, { query: '{ webhooks { id } }', as })).toEqual([code]);
    }
    const headers = { authorization: `Bearer ${key}` };
    expect(await codesOf(gateway, { query: CREATE, variables: { data }, headers })).toEqual(['FORBIDDEN']);
    const may = async (as: Role) =>
      (await ask(gateway, '{ me { mayHaveWebhooks } }', { as })).me.mayHaveWebhooks;
    expect([await may('clerk'), await may('teacher')]).toEqual([true, false]);
  });

  it('of others are seen and changed by admins alone', async () => {
    const { id } = await create({}, 'clerk');
    const doors = [
      'mutation ($id: ID!) { updateWebhook(id: $id, data: {isPaused: true}) { id } }',
      'mutation ($id: ID!) { rotateWebhookSecret(id: $id) }',
      'mutation ($id: ID!) { testWebhook(id: $id) { id } }',
      'query ($id: ID!) { webhookDeliveries(id: $id) { nodes { id } } }',
      'mutation ($id: ID!) { removeWebhook(id: $id) }',
    ];
    expect((await ask(gateway, '{ webhooks { id } }', { as: 'viewer' })).webhooks).toEqual([]);
    for (const query of doors)
      expect(await codesOf(gateway, { query, variables: { id }, as: 'viewer' })).toEqual(['NOT_FOUND']);
    expect((await ask(gateway, '{ webhooks { id userId } }')).webhooks).toEqual([
      { id, userId: 'usr-clerk' },
    ]);
    for (const query of doors)
      expect(await codesOf(gateway, { query, variables: { id }, as: 'admin' })).toEqual([]);
    expect((await ask(gateway, '{ webhooks { id } }')).webhooks).toEqual([]);
  });

  it.each([
    ['no address', { url: 'nonsense' }, 'INVALID_VALUE'],
    ['another scheme', { url: 'ftp://example.org/' }, 'INVALID_VALUE'],
    ['a password in it', { url: 'https://a:b@example.org/' }, 'INVALID_VALUE'],
    ['a part behind #', { url: 'https://example.org/#x' }, 'INVALID_VALUE'],
    ['an address that is too long', { url: `https://example.org/${'x'.repeat(2000)}` }, 'INVALID_VALUE'],
    ['no name', { name: ' ' }, 'INVALID_VALUE'],
    ['no events', { events: [] }, 'INVALID_VALUE'],
    ['no operation', { events: [{ collection: 'task', operations: [] }] }, 'INVALID_VALUE'],
    ['an unknown operation', { events: [{ collection: 'task', operations: ['read'] }] }, 'INVALID_VALUE'],
    ['an unknown collection', { events: [{ collection: 'nothing', operations: ALL }] }, 'NOT_FOUND'],
    [
      'a filter that cannot be read',
      { events: [{ collection: 'task', operations: ALL, oquery: 'amount' }] },
      'MALFORMED_FILTER',
    ],
  ])('are refused with %s', async (_, data, code) => {
    const wanted = { name: 'x', url: outside, events: [{ collection: 'task', operations: ALL }], ...data };
    expect(await codesOf(gateway, { query: CREATE, variables: { data: wanted }, as: 'admin' })).toEqual([
      code,
    ]);
  });

  it('are refused of a collection or field that their owner may not read', async () => {
    const refused = [
      { collection: 'fee_receipt', operations: ALL },
      { collection: 'pltf_user', operations: ALL, oquery: 'phone==+91' },
    ];
    for (const event of refused) {
      const data = { name: 'x', url: outside, events: [event] };
      expect(await codesOf(gateway, { query: CREATE, variables: { data }, as: 'viewer' })).toEqual([
        'FORBIDDEN',
      ]);
    }
  });

  it('are twenty a user at most', async () => {
    for (let made = 0; made < 20; made += 1) await create();
    const data = { name: 'x', url: outside, events: [{ collection: 'task', operations: ALL }] };
    expect(await codesOf(gateway, { query: CREATE, variables: { data }, as: 'admin' })).toEqual([
      'LIMIT_EXCEEDED',
    ]);
  });
});

it('what is done to a webhook stands in the audit trail', async () => {
  const { id } = await create();
  const variables = { id };
  const mutations = [
    'mutation ($id: ID!) { updateWebhook(id: $id, data: {isPaused: true}) { id } }',
    'mutation ($id: ID!) { rotateWebhookSecret(id: $id) }',
    'mutation ($id: ID!) { removeWebhook(id: $id) }',
  ];
  for (const mutation of mutations) await ask(gateway, mutation, { variables });
  const { auditTrail } = await ask(
    gateway,
    'query ($id: ID!) { auditTrail(collection: "$webhook", recordId: $id) { operation principal } }',
    { variables },
  );
  expect(auditTrail.map(({ operation, principal }: Answered) => `${operation} by ${principal}`)).toEqual(
    ['deleted', 'rotated', 'updated', 'created'].map((operation) => `${operation} by usr-admin`),
  );
});

describe('a delivery that waits', () => {
  const staff = [{ collection: 'pltf_user', operations: ALL, oquery: '_id=usr-teacher' }];
  /** A session of its own, because one ends for good when its user is deactivated. */
  const asClerk = async (query: string, variables: object) => {
    const login = `mutation { login(userName: "clerk", password: "${PASSWORD}") { accessToken } }`;
    const { accessToken } = (await ask(gateway, login)).login;
    return (await send(gateway, { query, variables, headers: { authorization: `Bearer ${accessToken}` } }))
      .data;
  };
  const setRoles = (roles: readonly string[]) =>
    ask(gateway, 'mutation ($r: [String!]!) { setUserRoles(userId: "usr-clerk", roles: $r) { id } }', {
      variables: { r: roles },
    });
  const setActive = (is: boolean) =>
    ask(gateway, 'mutation ($is: Boolean!) { setUserActive(userId: "usr-clerk", isActive: $is) { id } }', {
      variables: { is },
    });
  const replay = (id: string) =>
    ask(gateway, 'mutation ($id: ID!) { replayWebhookDelivery(id: $id) { state } }', { variables: { id } });
  // A change that changes nothing is no event.
  let phones = 0;
  const setPhone = () =>
    ask(
      gateway,
      `mutation {
        updateRecord(collection: "pltf_user", id: "usr-teacher", data: {phone: "+91987654321${phones++}"}) { id }
      }`,
    );

  /** A delivery of the clerk's webhook whose first attempt has failed. */
  async function failedOnce(): Promise<{ id: string; delivery: string }> {
    answer = { status: 503 };
    const data = { name: 'staff', url: `${outside}/hook`, events: staff };
    const { id } = (await asClerk(CREATE, { data })).createWebhook.webhook;
    await setPhone();
    await eventually(async () => (await deliveriesOf(id, 'status'))[0]?.status === 503);
    expect(received[0]?.body).toContain('+91');
    received.length = 0;
    answer = { status: 204 };
    return { id, delivery: (await deliveriesOf(id, 'id'))[0]?.id };
  }

  /** Without those of the changes of the clerk, which are not asked for. */
  async function othersOf(id: string, fields = 'state'): Promise<Answered[]> {
    const all = await deliveriesOf(id, `${fields} event`);
    return all.filter(({ event }) => event.recordId !== 'usr-clerk').map(({ event: _, ...rest }) => rest);
  }

  afterEach(async () => {
    await setActive(true);
    await setRoles(['clerk']);
  });

  it('is not sent once its owner may not log in any more, by a retry or a replay', async () => {
    const { id, delivery } = await failedOnce();
    await setActive(false);
    await hasten();
    await expectEventually(() => othersOf(id, 'state body'), [{ state: 'skipped', body: null }]);
    await replay(delivery);
    await expectEventually(() => othersOf(id), [{ state: 'skipped' }]);
    await ask(gateway, 'mutation ($id: ID!) { testWebhook(id: $id) { state } }', { variables: { id } });
    expect(received).toEqual([]);
    await setActive(true);
    await replay(delivery);
    await expectEventually(() => othersOf(id), [{ state: 'skipped' }, { state: 'delivered' }]);
  });

  it.each([
    ['the role that may have webhooks', ['accountant']],
    ['every role', []],
  ])('is not sent once its owner has lost %s', async (_, roles) => {
    const { id } = await failedOnce();
    await setRoles(roles);
    await hasten();
    await expectEventually(() => othersOf(id), [{ state: 'skipped' }]);
    expect(received).toEqual([]);
  });

  it('has no field that was hidden from its owner meanwhile, when sent or listed', async () => {
    const { id, delivery } = await failedOnce();
    await setRoles(['viewer']);
    const list = 'query ($id: ID!) { webhookDeliveries(id: $id) { nodes { body event } } }';
    const { nodes } = (await asClerk(list, { id })).webhookDeliveries;
    const { body } = nodes.find(({ event }: Answered) => event.recordId === 'usr-teacher');
    expect(body).toContain('"name"');
    expect(body).not.toContain('+91');
    await hasten();
    await expectEventually(() => othersOf(id), [{ state: 'delivered' }]);
    expect(received[0]?.body).toContain('"name"');
    expect(received[0]?.body).not.toMatch(/\+91|employee_code|"user_name"/);
    // A delivery that arrived is replayed with the present rights too, wherever it goes by now.
    const change = 'mutation ($id: ID!, $url: String!) { updateWebhook(id: $id, data: {url: $url}) { id } }';
    await ask(gateway, change, { variables: { id, url: `${outside}/other` } });
    await replay(delivery);
    await expectEventually(() => received.map(({ path }) => path), ['/hook', '/other']);
    expect(received[1]?.body).not.toContain('+91');
  });

  it('is tried again after a fault of the gateway', async () => {
    const { id } = await create();
    const { rows } = await gateway.sql.query(
      `insert into webhook_deliveries (webhook_id, event) values ($1, '{}') returning id::text as id`,
      [id],
    );
    const problem = 'The gateway failed; its log has details.';
    await expectEventually(
      () => deliveriesOf(id, 'state attempts problem'),
      [{ state: 'waiting', attempts: 1, problem }],
    );
    const event = { type: 'test', at: new Date().toISOString(), by: 'usr-admin' };
    await gateway.sql.query(
      'update webhook_deliveries set event = $2, next_attempt_at = now() where id = $1',
      [rows[0].id, event],
    );
    await expectEventually(() => deliveriesOf(id), [{ state: 'delivered' }]);
  });

  it('waits for the key of its secret, which is reported', async () => {
    const { id } = await create();
    const rekey = (from: string, to: string) =>
      gateway.sql.query('update webhooks set secret = replace(secret, $1, $2)', [from, to]);
    const [, keyId = ''] = (await gateway.sql.query('select secret from webhooks')).rows[0].secret.split('.');
    await rekey(`.${keyId}.`, '.lostkey0.');
    await createTask('without-key');
    await eventually(async () => (await deliveriesOf(id)).length === 1);
    await eventually(async () => gateway.log.join('').includes('ENCRYPTION_SECRET does not contain'));
    const health = async () => (await ask(gateway, '{ health { secretsWithoutKey } }')).health;
    expect(await health()).toEqual({ secretsWithoutKey: 1 });
    const metrics = await (await gateway.fetch('/metrics')).text();
    expect(metrics).toMatch(/^campus_secrets_without_key 1$/m);
    expect(await deliveriesOf(id, 'state attempts')).toEqual([{ state: 'waiting', attempts: 0 }]);
    await rekey('.lostkey0.', `.${keyId}.`);
    await expectEventually(() => deliveriesOf(id), [{ state: 'delivered' }]);
    expect(await health()).toEqual({ secretsWithoutKey: 0 });
  });

  it('is ended by 410, which pauses the webhook', async () => {
    answer = { status: 410 };
    const { id } = await create();
    await createTask('gone-1');
    await expectEventually(() => deliveriesOf(id, 'state attempts'), [{ state: 'failed', attempts: 1 }]);
    expect((await ask(gateway, '{ webhooks { isPaused } }')).webhooks).toEqual([{ isPaused: true }]);
    expect(await changesOf(id)).toBe(2);
    await createTask('gone-2');
    await expectEventually(() => deliveriesOf(id), [{ state: 'waiting' }, { state: 'failed' }]);
    expect(received).toHaveLength(1);
  });
});
