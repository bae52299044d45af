/** A write sent again with its `Idempotency-Key` is the same request, in whatever way the user logged in. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, ask, send } from './graphql.js';

const gateway = useGateway();

async function logIn(userName = 'clerk'): Promise<string> {
  const { login } = await ask(
    gateway,
    'mutation($user: String!) { login(userName: $user, password: "correct horse") { accessToken } }',
    { variables: { user: userName } },
  );
  return login.accessToken;
}

async function create(credential: string, key: string, name = 'Count the chairs') {
  const response = await gateway.fetch('/o/task', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${credential}`,
      'idempotency-key': key,
    },
    body: JSON.stringify({ name }),
  });
  const { _id: id } = (await response.json()) as Answered;
  return { status: response.status, id };
}

async function createKey(verbs: readonly string[]): Promise<{ readonly id: string; readonly key: string }> {
  const { createApiKey } = await ask(
    gateway,
    'mutation($scopes: JSON!) { createApiKey(data: {name: "till", scopes: $scopes}) { id key } }',
    { variables: { scopes: { collections: { task: verbs } } }, as: 'admin' },
  );
  return createApiKey;
}

describe('a write that is sent again', () => {
  it('after a new log-in is done once, and with another body refused', async () => {
    const first = await create(await logIn(), 'again');
    expect(await create(await logIn(), 'again')).toEqual(first);
    expect(await create(await logIn(), 'again', 'Other')).toMatchObject({ status: 409 });
    expect((await create(await logIn('admin'), 'again')).id).not.toBe(first.id);
  });

  it('by GraphQL after a new log-in is done once', async () => {
    const answers = [];
    for (const token of [await logIn(), await logIn()]) {
      const { data } = await send(gateway, {
        query: 'mutation { createTask(data: {name: "By GraphQL"}) { id } }',
        headers: { authorization: `Bearer ${token}`, 'idempotency-key': 'graphql' },
      });
      answers.push(data.createTask.id);
    }
    expect(answers[1]).toBe(answers[0]);
  });

  it('by a key that replaces another is done once, and by a key with other rights apart', async () => {
    const { id, key } = await createKey(['read', 'create']);
    const first = await create(key, 'rotated');
    const { rotateApiKey } = await ask(
      gateway,
      'mutation($id: ID!) { rotateApiKey(id: $id, overlapSeconds: 60) { key } }',
      { variables: { id }, as: 'admin' },
    );
    expect(await create(rotateApiKey.key, 'rotated')).toEqual(first);
    expect(await create(rotateApiKey.key, 'rotated', 'Other')).toMatchObject({ status: 409 });
    const wider = await createKey(['create', 'read', 'update']);
    const other = await create(wider.key, 'rotated');
    expect(other.status).toBe(201);
    expect(other.id).not.toBe(first.id);
  });

  it('is found under the name of its session, where the version before kept it', async () => {
    const first = await create(await logIn(), 'earlier');
    await gateway.sql.query(
      `delete from idempotency_keys where key = 'earlier' and credential like 'user:%'`,
    );
    expect(await create(await logIn(), 'earlier', 'Other')).toMatchObject({ status: 409 });
    expect(await create(await logIn(), 'earlier')).toEqual(first);
    // An older gateway beside this one finds it under the session it was sent by.
    const { rows } = await gateway.sql.query(
      `select count(*)::int as count from idempotency_keys
       where key = 'earlier' and credential like 'token:%' and answer is not null`,
    );
    expect(rows).toEqual([{ count: 2 }]);
  });
});
