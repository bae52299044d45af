/**
 * Records that are created at the same time by requests of their own share statements, and each is answered
 * as if it had come alone.
 */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';
import { type Answered, ask, send } from './graphql.js';

const gateway = useGateway({ POOL_SIZE: '8' });

beforeAll(async () => {
  const definition = {
    name: 'entry',
    labelField: 'title',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'code', type: 'text', unique: true },
      { name: 'secret', type: 'text' },
      { name: 'day', type: 'datetime', format: 'date' },
      { name: 'of', type: 'reference', target: 'entry' },
      { name: 'by', type: 'reference', target: 'pltf_user' },
      { name: 'was', type: 'reference', target: 'entry', mustExist: false },
    ],
    uniqueTogether: [{ name: 'of_day', parts: [{ path: 'of.value' }, { path: 'day' }] }],
    access: {
      clerk: { verbs: ['read', 'create'], hiddenFields: ['secret'] },
      teacher: { verbs: ['create'] },
      admin: { verbs: ['read', 'create', 'update', 'delete'] },
    },
  };
  const query = 'mutation ($definition: JSON!) { registerCollection(definition: $definition) { name } }';
  await ask(gateway, query, { variables: { definition } });
});

beforeEach(async () => {
  await gateway.sql.query(`delete from records where collection = 'entry'`);
  await gateway.sql.query('delete from audit_entries');
  await gateway.sql.query(
    `insert into records (domain, collection, id, data) values
      ('top', 'entry', 'one', '{"title": "One", "code": "taken"}'), ('top', 'entry', 'untitled', '{}')`,
  );
});

async function create(record: object, as: Role = 'admin', headers: Readonly<Record<string, string>> = {}) {
  const response = await gateway.fetch('/o/entry', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(record),
    as,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answered };
}

const together = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

describe('records that are created at the same time', () => {
  it('are stored by fewer transactions than they are, each with an audit entry of its own', async () => {
    const answers = await together(40, (index) => create({ _id: `e-${index}`, title: `${index}` }));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 201));
    const { rows } = await gateway.sql.query(
      `select record_id, request_id, principal, credential, operation, to_version, request_operation,
         transaction_id
       from audit_entries where collection = 'entry'`,
    );
    expect(new Set(rows.map((row) => row.transaction_id)).size).toBeLessThan(40);
    const requestIds = new Map(rows.map((row) => [row.record_id, row.request_id]));
    for (const [index, { headers, body }] of answers.entries()) {
      expect(body).toMatchObject({ _id: `e-${index}`, title: `${index}` });
      expect(requestIds.get(`e-${index}`)).toBe(headers.get('x-request-id'));
    }
    expect(rows[0]).toMatchObject({
      principal: 'usr-admin',
      credential: expect.stringMatching(/^token:/),
      operation: 'created',
      to_version: 1,
      request_operation: '/o/:collection',
    });
  });

  it('say who made each, and show each caller what it may read', async () => {
    const roles = ['admin', 'clerk', 'teacher'] as const;
    const answers = await together(30, (index) => {
      const role = roles[index % 3] ?? 'admin';
      return create({ _id: `e-${index}`, title: 'T', ...(role === 'admin' && { secret: 's' }) }, role);
    });
    for (const [index, { status, body }] of answers.entries()) {
      expect(status).toBe(201);
      const { created_on: createdOn, ...shown } = body;
      const role = roles[index % 3];
      if (role === 'teacher') expect(body).toEqual({ _id: `e-${index}` });
      else {
        expect(createdOn).toEqual(expect.any(String));
        expect(shown).toEqual({ _id: `e-${index}`, title: 'T', ...(role === 'admin' && { secret: 's' }) });
      }
    }
    const { rows } = await gateway.sql.query(
      `select record_id, principal from audit_entries where collection = 'entry'`,
    );
    const principals = new Map(rows.map((row) => [row.record_id, row.principal]));
    for (const index of answers.keys())
      expect(principals.get(`e-${index}`)).toBe(`usr-${roles[index % 3] ?? ''}`);
  });

  it('are given the labels of what they point at, those that were sent staying', async () => {
    const answers = await together(20, (index) =>
      create(
        index % 2 === 0
          ? { of: 'one', day: `2026-04-${10 + index}`, by: { value: 'usr-admin', note: 'n' }, was: 'gone' }
          : {
              of: { value: 'untitled' },
              day: `2026-04-${10 + index}`,
              by: { value: 'usr-clerk', label: 'Me' },
            },
      ),
    );
    for (const [index, { body }] of answers.entries()) {
      expect(body).toMatchObject(
        index % 2 === 0
          ? {
              of: { value: 'one', label: 'One' },
              by: { value: 'usr-admin', label: 'The admin', note: 'n' },
              was: { value: 'gone' },
            }
          : { of: { value: 'untitled' }, by: { value: 'usr-clerk', label: 'Me' } },
      );
      if (index % 2 === 1) expect(body.of).not.toHaveProperty('label');
    }
  });

  it('are refused each by its own fault, which keeps no other from being stored', async () => {
    const answers = await together(24, (index) => {
      if (index % 4 === 0) return create({ _id: `e-${index}`, code: 'taken' });
      if (index % 4 === 1) return create({ _id: `e-${index}`, of: 'nobody' });
      if (index % 4 === 2) return create({ _id: `e-${index}`, of: `e-${index}`, day: '2026-04-01' });
      return create({ _id: `e-${index}`, code: `c-${index}` });
    });
    for (const [index, { status, body }] of answers.entries()) {
      if (index % 4 === 0) {
        expect({ status, body }).toMatchObject({ status: 409, body: { errors: [{ pointer: '/code' }] } });
      } else if (index % 4 === 1) {
        const errors = [{ pointer: '/of', sent: 'nobody' }];
        expect({ status, body }).toMatchObject({ status: 400, body: { errors } });
      } else expect([index, status]).toEqual([index, 201]);
    }
    const records = await gateway.sql.query(
      `select id from records where collection = 'entry' and id like 'e-%'`,
    );
    const entries = await gateway.sql.query(`select id from audit_entries where collection = 'entry'`);
    expect([records.rowCount, entries.rowCount]).toEqual([12, 12]);
  });

  it('let one of several with the same unique value be stored', async () => {
    const answers = await together(12, (index) => create({ code: `same-${index % 3}` }));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
  });

  it('do not wait for one that has to wait', async () => {
    const other = await gateway.sql.connect();
    try {
      await other.query('begin');
      await other.query(
        `insert into records (domain, collection, id, data) values ('top', 'entry', 'x', '{"code": "held"}')`,
      );
      let isHeldAnswered = false;
      const held = create({ code: 'held' }).then((answer) => {
        isHeldAnswered = true;
        return answer;
      });
      const answers = await together(20, (index) => create({ code: `free-${index}` }));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
      expect(isHeldAnswered).toBe(false);
      await other.query('rollback');
      expect((await held).status).toBe(201);
    } finally {
      other.release(true);
    }
  });

  it('are stored once by each Idempotency-Key, beside those without one', async () => {
    const answers = await together(20, (index) =>
      create({ title: 'Once' }, 'admin', index % 2 === 0 ? { 'idempotency-key': `key-${index % 4}` } : {}),
    );
    expect(new Set(answers.map(({ body }) => body._id)).size).toBe(12);
  });

  it('show an explained operation its own record alone', async () => {
    const query = 'mutation ($data: JSON!) { createRecord(collection: "entry", data: $data) { id } }';
    const explain = async (index: number) => {
      const response = await gateway.fetch('/graphql', {
        method: 'POST',
        as: 'admin',
        headers: { 'content-type': 'application/json', 'x-include-extensions': 'explain' },
        body: JSON.stringify({ query, variables: { data: { title: `own-${index}` } } }),
      });
      return JSON.stringify(((await response.json()) as Answered).extensions.explain);
    };
    const explained = await together(8, explain);
    for (const [index, text] of explained.entries()) {
      expect(text.match(/own-\d/g)).toEqual(expect.arrayContaining([`own-${index}`]));
      expect(new Set(text.match(/own-\d/g))).toEqual(new Set([`own-${index}`]));
    }
  });

  it('have their time told in Server-Timing of each operation', async () => {
    const query = 'mutation ($data: JSON!) { createRecord(collection: "entry", data: $data) { id } }';
    const answers = await together(10, () =>
      send(gateway, { as: 'admin', query, variables: { data: { title: 'T' } } }),
    );
    for (const { headers } of answers)
      expect(headers.get('server-timing')).toMatch(/\bdb;dur=(?!0(?:[,;]|$))/);
  });
});
