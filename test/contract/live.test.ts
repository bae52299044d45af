/** What subscribers are told, and what not. */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { createGatewayDatabase, type Role, type StartedGateway, startGateway } from './gateway.js';
import { ask } from './graphql.js';
import {
  aWhile,
  type ConnectOptions,
  connect,
  countSubscriptions,
  insertEntry,
  metric,
  type Subscriber,
  type Subscription,
} from './live.js';

let database: TestDatabase;
let gateway: StartedGateway;
let otherGateway: StartedGateway;
const subscribers: Subscriber[] = [];

beforeAll(async () => {
  database = await createGatewayDatabase();
  const settings = { CHANGE_POLL_MS: '20', IMPORT_ROLES: 'admin,clerk' };
  gateway = await startGateway(database.url, settings);
  otherGateway = await startGateway(database.url, settings);
});

afterEach(async () => {
  for (const subscriber of subscribers.splice(0)) subscriber.dispose();
  await eventually(async () => (await countSubscriptions(gateway)) === 0);
});

afterAll(async () => {
  await gateway?.close();
  await otherGateway?.close();
  await database?.drop();
});

function subscriberOf(as: Role, options: ConnectOptions = {}): Subscriber {
  const subscriber = connect(gateway, { as, ...options });
  subscribers.push(subscriber);
  return subscriber;
}

const on = (query: string, as: Role = 'admin') => subscriberOf(as).subscribe(query);

const TASKS = 'subscription { taskChanged { operation id version record { name amount } } }';

describe('taskChanged', () => {
  it('tells of a create, an update and a removal, after their commit, with the record as it is', async () => {
    const { events } = await on(
      'subscription { taskChanged { __typename operation id version changedAt record { id name ' +
        'amount manager { id record { userName } } } } }',
      'clerk',
    );
    await ask(
      gateway,
      'mutation { createTask(data: { id: "t-1", name: "Chalk", amount: "12.50", manager: { id: ' +
        '"usr-clerk" } }) { id } }',
    );
    await eventually(() => events.length === 1);
    await ask(gateway, 'mutation { updateTask(id: "t-1", data: { amount: "13.10" }) { id } }');
    await eventually(() => events.length === 2);
    await ask(gateway, 'mutation { deleteTask(id: "t-1") { id } }');
    await eventually(() => events.length === 3);
    const record = { id: 't-1', name: 'Chalk', manager: { id: 'usr-clerk', record: { userName: 'clerk' } } };
    const changedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(events).toEqual([
      {
        __typename: 'TaskChange',
        operation: 'CREATED',
        id: 't-1',
        version: 1,
        changedAt,
        record: { ...record, amount: '12.50' },
      },
      {
        __typename: 'TaskChange',
        operation: 'UPDATED',
        id: 't-1',
        version: 2,
        changedAt,
        record: { ...record, amount: '13.10' },
      },
      { __typename: 'TaskChange', operation: 'DELETED', id: 't-1', version: 3, changedAt, record: null },
    ]);
  });

  it('keeps aliases and reads a record selected twice', async () => {
    const { events } = await on(
      'subscription { news: taskChanged { what: operation a: record { name } b: record { id } } }',
    );
    await ask(gateway, 'mutation { createTask(data: { id: "t-2", name: "Board" }) { id } }');
    await eventually(() => events.length === 1);
    expect(events).toEqual([{ what: 'CREATED', a: { name: 'Board' }, b: { id: 't-2' } }]);
  });

  it('tells of the operations asked for, and of records that match where and oquery after the change', async () => {
    const { events } = await on(
      (
        'subscription { taskChanged(operations: [UPDATED, DELETED], where: { amount: { gt: "100" } }, ' +
        'oquery: "name==Re") { operation id } }'
      ).replace('gt', 'greaterThan'),
    );
    await ask(
      gateway,
      `mutation {
        a: createTask(data: { id: "m-1", name: "Repair", amount: "50" }) { id }
        b: createTask(data: { id: "m-2", name: "Repair", amount: "500" }) { id }
        c: updateTask(id: "m-1", data: { amount: "150" }) { id }
        d: updateTask(id: "m-2", data: { name: "Buy" }) { id }
        e: deleteTask(id: "m-1") { id }
        f: deleteTask(id: "m-2") { id }
      }`,
    );
    await eventually(() => events.length > 0);
    await aWhile();
    // m-1 was removed before its update could be read.
    expect(events.filter(({ operation }) => operation === 'DELETED')).toEqual([
      { operation: 'DELETED', id: 'm-1' },
    ]);
  });

  it('tells what REST, another gateway and the bare database commit, once each', async () => {
    const { events } = await on(TASKS);
    await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      body: '{"_id":"r-1","name":"by REST"}',
      headers: { 'content-type': 'application/json' },
    });
    await ask(otherGateway, 'mutation { createTask(data: { id: "r-2", name: "elsewhere" }) { id } }');
    await gateway.sql.query(
      `insert into records (domain, collection, id, data)
       values ('top', 'task', 'r-3', '{"name":"by hand"}')`,
    );
    await insertEntry(gateway, { collection: 'task', id: 'r-3', operation: 'created' });
    await eventually(() => events.length === 3);
    await aWhile();
    expect(events.map(({ id, record }) => [id, record.name])).toEqual([
      ['r-1', 'by REST'],
      ['r-2', 'elsewhere'],
      ['r-3', 'by hand'],
    ]);
  });

  it('says nothing of what was rolled back', async () => {
    const { events } = await on(TASKS);
    const response = await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      body: '[{"_id":"x-1","name":"fine"},{"_id":"x-1","name":"twice"}]',
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    await ask(gateway, 'mutation { createTask(data: { id: "x-2", name: "after" }) { id } }');
    await eventually(() => events.length === 1);
    await aWhile();
    expect(events.map(({ id }) => id)).toEqual(['x-2']);
  });

  it('gives a load of a thousand records, each once and in order', async () => {
    const { events } = await on(TASKS);
    const records = Array.from({ length: 1000 }, (_, n) => ({ _id: `load-${n}`, name: `Task ${n}` }));
    await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      body: JSON.stringify(records),
      headers: { 'content-type': 'application/json' },
    });
    await eventually(() => events.length >= 1000);
    await aWhile();
    expect(events.map(({ id }) => id)).toEqual(records.map(({ _id }) => _id));
  });

  it('reads a change once for all subscribers who are the same caller and ask for the same', async () => {
    const several = await Promise.all([1, 2, 3].map(async () => subscriberOf('clerk')));
    const subscriptions: Subscription[] = [];
    for (const subscriber of several) subscriptions.push(await subscriber.subscribe(TASKS));
    const reads: string[] = [];
    const { database: store } = gateway.app.services;
    const original = store.query.bind(store);
    const spy = jest.spyOn(store, 'query').mockImplementation(async (sql, options) => {
      if (sql.text.includes('is_removed')) reads.push(sql.text);
      return await original(sql, options);
    });
    try {
      await ask(gateway, 'mutation { createTask(data: { id: "shared", name: "Shared" }) { id } }');
      await eventually(() => subscriptions.every(({ events }) => events.length === 1));
    } finally {
      spy.mockRestore();
    }
    expect(reads).toHaveLength(1);
  });
});

describe('recordChanged', () => {
  it('tells of any collection, as JSON', async () => {
    const { events } = await on(
      'subscription { recordChanged(collection: "task", where: { name: { startsWith: "Exact" } }) { ' +
        'operation id record { collection version data } } }',
    );
    await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      body: '{"_id":"e-1","name":"Exactly","amount":1250.25,"created_on":"2026-04-01T00:00:00.000Z"}',
      headers: { 'content-type': 'application/json' },
    });
    await eventually(() => events.length === 1);
    expect(events).toEqual([
      {
        operation: 'CREATED',
        id: 'e-1',
        record: {
          collection: 'task',
          version: 1,
          data: { name: 'Exactly', amount: 1250.25, created_on: '2026-04-01T00:00:00.000Z' },
        },
      },
    ]);
  });

  it('tells a subscriber of its own domain alone', async () => {
    await gateway.sql.query(
      `insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top') on conflict do nothing`,
    );
    await gateway.sql.query(`select pg_notify(campus_channel('campus_domains'), 'branch')`);
    await eventually(() => gateway.app.services.domains.find('branch') !== undefined);
    const own = await on(TASKS);
    const branch = await subscriberOf('admin', {
      params: { authorization: `Bearer ${gateway.tokenOf('admin')}`, 'X-Domain': 'branch' },
    }).subscribe(TASKS);
    const headers = { 'x-domain': 'branch' };
    await ask(gateway, 'mutation { createTask(data: { id: "b-1", name: "There" }) { id } }', {
      as: 'admin',
      headers,
    });
    await ask(gateway, 'mutation { createTask(data: { id: "b-2", name: "Here" }) { id } }');
    await eventually(() => own.events.length > 0 && branch.events.length > 0);
    await aWhile();
    expect(own.events.map(({ id }) => id)).toEqual(['b-2']);
    expect(branch.events.map(({ id }) => id)).toEqual(['b-1']);
  });

  it('takes the credential where other servers take it', async () => {
    const token = gateway.tokenOf('admin');
    const headers = { Authorization: `Bearer ${token}` };
    for (const params of [{ headers }, { token }, { authToken: `Bearer ${token}` }]) {
      await subscriberOf('admin', { params }).subscribe(TASKS);
    }
  });

  it('sends the rows a role may see, removals included, and no others', async () => {
    const query =
      'subscription { recordChanged(collection: "leave_request") { operation id record { data } } }';
    const teacher = await on(query, 'teacher');
    const accountant = await on(query, 'accountant');
    const clerk = await on(query, 'clerk');
    const leave = (id: string, user: string) =>
      `createRecord(collection: "leave_request", data: { _id: "${id}", name: "usr-${user}", kind: ` +
      '"staff", from: "2026-12-01", to: "2026-12-02", status: "pending" }) { id }';
    const haveHeard = (times: number) =>
      clerk.events.length === 2 * times &&
      [teacher, accountant].every(({ events }) => events.length === times);
    await ask(gateway, `mutation { a: ${leave('l-1', 'teacher')} b: ${leave('l-2', 'accountant')} }`);
    // Of a record that is removed before a subscriber's read, that subscriber hears the removal alone.
    await eventually(() => haveHeard(1));
    await ask(
      gateway,
      'mutation { a: deleteRecord(collection: "leave_request", id: "l-1") { id } b: ' +
        'deleteRecord(collection: "leave_request", id: "l-2") { id } }',
    );
    await eventually(() => haveHeard(2));
    await aWhile();
    const told = ({ events }: { readonly events: readonly { operation: string; id: string }[] }) =>
      events.map(({ operation, id }) => `${operation} ${id}`);
    expect(told(teacher)).toEqual(['CREATED l-1', 'DELETED l-1']);
    expect(told(accountant)).toEqual(['CREATED l-2', 'DELETED l-2']);
  });

  it('leaves hidden fields out of the whole record', async () => {
    const { events } = await on(
      'subscription { recordChanged(collection: "registration") { record { data } } }',
      'viewer',
    );
    await ask(
      gateway,
      'mutation { createRecord(collection: "registration", data: { _id: "s-1", sequence: "GV-1", ' +
        'name: "Asha", class: "5", section: "A", session: "2026-27", admitted_on: "2026-04-01", ' +
        'guardian_phone: "+919800000000" }) { id } }',
    );
    await eventually(() => events.length === 1);
    expect(events[0].record.data).toMatchObject({ name: 'Asha' });
    expect(Object.keys(events[0].record.data)).not.toContain('guardian_phone');
  });
});

describe('rights that change', () => {
  it('end a subscription that is no longer allowed, and leave what still is', async () => {
    const subscriber = subscriberOf('viewer');
    const tasks = await subscriber.subscribe(TASKS);
    const users = await subscriber.subscribe(
      'subscription { recordChanged(collection: "registration") { id } }',
    );
    await ask(
      gateway,
      'mutation { updateRecord(collection: "pltf_user", id: "usr-viewer", data: { roles: ["clerk"] ' +
        '}) { id } }',
    );
    await ask(
      gateway,
      'mutation { createRecord(collection: "registration", data: { _id: "s-2", sequence: "GV-2", ' +
        'name: "Ravi", class: "5", section: "A", session: "2026-27", admitted_on: "2026-04-01" }) { id ' +
        '} }',
    );
    await eventually(() => users.events.length === 1);
    await ask(
      gateway,
      'mutation { updateRecord(collection: "pltf_user", id: "usr-viewer", data: { roles: ["guest"] ' +
        '}) { id } }',
    );
    await ask(gateway, 'mutation { createTask(data: { name: "unseen" }) { id } }');
    await eventually(() => tasks.isDone);
    expect(tasks.errors).toEqual([
      expect.objectContaining({ extensions: expect.objectContaining({ code: 'FORBIDDEN', status: 403 }) }),
    ]);
    await ask(
      gateway,
      'mutation { updateRecord(collection: "pltf_user", id: "usr-viewer", data: { roles: ["viewer"] ' +
        '}) { id } }',
    );
  });
});

describe('topic', () => {
  it('gives what is published on any gateway, to whom the domain lets', async () => {
    const { services } = gateway.app;
    const scope = {
      domain: services.domains.get('top'),
      principal: {
        kind: 'system',
        id: 'test',
        userName: 'test',
        domainId: 'top',
        roles: new Set(['admin']),
        credential: { kind: 'system', id: 'test' },
        scopes: undefined,
        attributes: {},
      },
      call: { requestId: 'test' },
    } as const;
    await services.domains.setProperty(scope, { name: 'topicRoles', value: { notices: ['viewer'] } });
    const { events } = await on(
      'subscription { topic(name: "notices") { __typename id topic said: message publishedAt } }',
      'viewer',
    );
    await services.topics.publish(scope, 'notices', { holiday: true });
    await otherGateway.app.services.topics.publish(scope, 'notices', null);
    await services.topics.publish(scope, 'others', 'not for them');
    await eventually(() => events.length === 2);
    await aWhile();
    expect(events.map(({ topic, said }) => [topic, said])).toEqual([
      ['notices', { holiday: true }],
      ['notices', null],
    ]);
    await services.domains.setProperty(scope, { name: 'topicRoles', value: undefined });
  });
});

describe('reportChanged', () => {
  it('tells at most once a second that what a report reads has changed', async () => {
    const { events } = await on(
      'subscription { reportChanged(report: "strength") { report collections changedAt } }',
      'admin',
    );
    const create = (n: number) =>
      ask(
        gateway,
        `mutation { createRecord(collection: "registration", data: { sequence: "GV-1-${n}", name: ` +
          '"S", class: "5", section: "A", session: "2026-27", admitted_on: "2026-04-01" }) { id } }',
      );
    const startedAt = Date.now();
    for (let n = 0; Date.now() - startedAt < 2_500; n++) await create(n);
    await ask(gateway, 'mutation { createTask(data: { name: "none of its business" }) { id } }');
    await aWhile();
    await eventually(() => events.length >= 3);
    // At 0, 1 and 2 seconds, and once more for what came after.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect([3, 4]).toContain(events.length);
    expect(events[0]).toEqual({
      report: 'strength',
      collections: ['registration'],
      changedAt: expect.any(String),
    });
  });
});

describe('importChanged', () => {
  const watching = (id?: string) =>
    `subscription { importChanged${id === undefined ? '' : `(id: "${id}")`} {
      id state createdBy counts { rows created } } }`;

  async function take(through: StartedGateway, as: Role, csv: string, domain = 'top'): Promise<string> {
    const response = await through.fetch('/imports?collection=task&name=tasks.csv', {
      method: 'POST',
      body: csv,
      as,
      headers: { 'x-domain': domain },
    });
    const { id } = (await response.json()) as { readonly id: string };
    return id;
  }

  async function reach(id: string, state: string): Promise<void> {
    await eventually(async () => {
      const { rows } = await gateway.sql.query('select state from imports where id = $1::uuid', [id]);
      return rows[0]?.state === state;
    });
  }

  it('tells how an import is, then how another gateway gets on with it, and ends with it', async () => {
    const id = await take(otherGateway, 'clerk', 'name\nby file\nand another\n');
    await reach(id, 'ready');
    const watched = await on(watching(id), 'clerk');
    await eventually(() => watched.events.length > 0);
    expect(watched.events[0]).toMatchObject({ id, state: 'READY', createdBy: 'usr-clerk' });
    const started = await otherGateway.fetch(`/imports/${id}/run`, { method: 'POST', as: 'clerk' });
    expect(started.status).toBe(202);
    await eventually(() => watched.isDone);
    expect(watched.errors).toEqual([]);
    expect(watched.events.at(-1)).toMatchObject({ state: 'DONE', counts: { rows: 2, created: 2 } });
    const again = subscriberOf('admin').attempt(watching(id));
    await eventually(() => again.isDone);
    expect(again.events).toMatchObject([{ state: 'DONE' }]);
  });

  it('tells an admin of every import of the domain, others of their own', async () => {
    const [everybodys, own, none] = [
      await on(watching(), 'admin'),
      await on(watching(), 'clerk'),
      await on(watching(), 'viewer'),
    ];
    const ids = [
      await take(gateway, 'admin', 'name\nof the admin\n'),
      await take(otherGateway, 'clerk', 'name\nof the clerk\n'),
    ];
    await take(gateway, 'admin', 'name\nelsewhere\n', 'branch');
    const told = ({ events }: Subscription) => [...new Set(events.map(({ id }) => id))].sort();
    await eventually(() => told(everybodys).length === 2 && told(own).length === 1);
    for (const id of ids) await reach(id, 'ready');
    await eventually(() => everybodys.events.filter(({ state }) => state === 'READY').length >= 2);
    await aWhile();
    expect(told(everybodys)).toEqual(ids);
    expect(told(own)).toEqual(ids.slice(1));
    expect([none.events, none.isDone]).toEqual([[], false]);
  });

  it('is refused for an import that its caller may not read, also when that comes later', async () => {
    const id = await take(gateway, 'admin', 'name\nof the admin\n');
    await reach(id, 'ready');
    for (const as of ['clerk', 'viewer'] as const) {
      const refused = subscriberOf(as).attempt(watching(id));
      await eventually(() => refused.isDone);
      expect(refused.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND', status: 404 } }]);
      expect(refused.events).toEqual([]);
    }
    const become = (role: string) =>
      ask(
        gateway,
        `mutation { updateRecord(collection: "pltf_user", id: "usr-viewer", data: { roles: ["${role}"] })
        { id } }`,
      );
    await become('admin');
    const watched = await on(watching(id), 'viewer');
    await eventually(() => watched.events.length > 0);
    await become('viewer');
    await gateway.fetch(`/imports/${id}/cancel`, { method: 'POST', as: 'admin' });
    await eventually(() => watched.isDone);
    expect(watched.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect(watched.events.map(({ state }) => state)).not.toContain('CANCELLED');
  });

  it('tells after an outage what has changed meanwhile', async () => {
    const id = await take(gateway, 'admin', 'name\nof the admin\n');
    await reach(id, 'ready');
    const watched = await on(watching(id));
    await eventually(() => watched.events.length > 0);
    // The change is committed with the end of every connection that could hear of it.
    await gateway.sql.query(
      `with ended as (
         select pg_terminate_backend(pid)
         from pg_stat_activity
         where datname = current_database() and application_name like 'campus-gateway%'
       ), counted as (select count(*) from ended)
       update imports
       set state = 'cancelled', updated_at = now()
       from counted
       where id = $1::uuid`,
      [id],
    );
    await eventually(() => watched.isDone);
    expect(watched.events.at(-1)).toMatchObject({ state: 'CANCELLED' });
  });
});

describe('a live connection', () => {
  it('survives the loss of every connection of the database', async () => {
    const { events } = await on(TASKS);
    for (let n = 0; n < 5; n++) {
      await gateway.sql.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() ' +
          `and application_name like 'campus-gateway%'`,
      );
      await eventually(async () => (await gateway.fetch('/readyz')).status === 200);
      const create = async (): Promise<unknown> =>
        ask(gateway, `mutation { createTask(data: { id: "lost-${n}", name: "Lost ${n}" }) { id } }`).catch(
          async () => {
            await aWhile();
            return undefined;
          },
        );
      await create();
      await gateway.sql.query('select 1');
    }
    const { rows } = await gateway.sql.query<{ id: string }>(
      `select record_id as id from audit_entries where record_id like 'lost-%' order by id`,
    );
    await eventually(() => events.length >= rows.length);
    await aWhile();
    expect(events.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(rows.length).toBeGreaterThan(0);
  });

  it('goes on when a collection is registered, and new subscriptions know it', async () => {
    const subscriber = subscriberOf('admin');
    const { events } = await subscriber.subscribe(TASKS);
    await ask(
      gateway,
      'mutation { registerCollection(definition: { name: "gadget", fields: [{ name: "label", type: ' +
        '"text" }] }) { name } }',
    );
    const gadgets = await subscriber.subscribe('subscription { gadgetChanged { record { label } } }');
    await ask(
      gateway,
      'mutation { createTask(data: { id: "still", name: "Still" }) { id } createGadget(data: { ' +
        'label: "New" }) { id } }',
    );
    await eventually(() => events.length === 1 && gadgets.events.length === 1);
    expect(gadgets.events).toEqual([{ record: { label: 'New' } }]);
    await ask(gateway, 'mutation { dropCollection(name: "gadget") }');
    await insertEntry(gateway, { collection: 'gadget', id: 'g-1', operation: 'updated' });
    await eventually(() => gadgets.isDone);
    expect(gadgets.errors[0]?.extensions.code).toBe('GONE');
  });

  it('shows in the metrics', async () => {
    // Figures are shared for a second, so these might be of the test before.
    await sleep(1_000);
    const before = await metric(gateway, 'campus_live_events_total');
    const { events } = await on(TASKS);
    // Those of the tests before close a moment after their subscriptions have ended.
    await expectEventually(() => metric(gateway, 'campus_live{what="connections"}'), 1);
    await ask(gateway, 'mutation { createTask(data: { name: "Counted" }) { id } }');
    await eventually(() => events.length === 1);
    await expectEventually(() => metric(gateway, 'campus_live_events_total'), before + 1);
  });
});

describe('Server-Sent Events', () => {
  async function open(query: string, as: Role | undefined = 'admin') {
    const ending = new AbortController();
    const response = await gateway.fetch('/graphql', {
      as,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
      signal: ending.signal,
    });
    return { response, end: () => ending.abort() };
  }

  it('carry the events of one subscription, which ends with its answer', async () => {
    const { response, end } = await open(TASKS);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-request-id')).not.toBeNull();
    await eventually(async () => (await countSubscriptions(gateway)) === 1);
    await ask(
      otherGateway,
      'mutation { createTask(data: { id: "sse-1", name: "Chalk", amount: "1.50" }) { id } }',
    );
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('\n\n')) text += (await reader?.read())?.value ?? '';
    expect(text).toMatch(/^event: next\ndata: \{"data":\{"taskChanged":\{"operation":"CREATED","id":"sse-1"/);
    expect(text).toContain('"amount":"1.50"');
    end();
    await eventually(async () => (await countSubscriptions(gateway)) === 0);
  });

  it.each([
    ['subscription { nothing }', 'Cannot query field'],
    ['{ tasks { totalCount } }', 'Send a query by POST /graphql'],
    ['subscription { topic(name: "secret") { message } }', 'FORBIDDEN'],
  ])('say why there is nothing to hear: %s', async (query, reason) => {
    const { response } = await open(query, 'viewer');
    const text = await response.text();
    expect(text).toMatch(/^event: next\ndata: \{"errors":\[.*\]\}\n\nevent: complete\ndata:\n\n$/);
    expect(text).toContain(reason);
  });

  it('need a credential, and leave JSON to callers who prefer it', async () => {
    const accept = 'application/json, text/event-stream';
    const answered = await gateway.fetch(`/graphql?query=${encodeURIComponent('{ me { userName } }')}`, {
      as: 'admin',
      headers: { accept },
    });
    expect(await answered.json()).toEqual({ data: { me: { userName: 'admin' } } });
    const refused = await gateway.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: TASKS }),
    });
    expect(refused.status).toBe(401);
  });

  it('count as connections of their user', async () => {
    const most = 10;
    const opened = await Promise.all(Array.from({ length: most + 1 }, () => open(TASKS, 'clerk')));
    await eventually(async () => (await countSubscriptions(gateway)) === most);
    for (const { end } of opened) end();
  });

  it('end with the reason when their user may no longer log in, and the gateway goes on', async () => {
    const { response } = await open(TASKS, 'accountant');
    await eventually(async () => (await countSubscriptions(gateway)) === 1);
    await ask(
      gateway,
      'mutation { updateRecord(collection: "pltf_user", id: "usr-accountant", data: { active: false }) ' +
        '{ id } }',
    );
    const [next = '', ...others] = (await response.text()).split('\n\n');
    expect(next).toMatch(
      /^event: next\ndata: \{"errors":\[\{"message":".+","extensions":\{"code":44\d\d\}\}\]\}$/,
    );
    expect(others).toEqual(['event: complete\ndata:', '']);
    expect((await gateway.fetch('/readyz')).status).toBe(200);
  });
});
