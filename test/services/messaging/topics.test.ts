import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServiceError } from '../../../src/base/errors.js';
import { type JsonValue, printExactJson } from '../../../src/base/json/json.js';
import { type TopicMessage, Topics } from '../../../src/services/messaging/topics.js';
import { sql } from '../../../src/store/sql.js';
import { eventually } from '../../eventually.js';
import { ADMIN, SUB, scopeOf } from '../../store/people.js';
import { useTestStore } from '../../store/store.js';

const test = useTestStore();
const opened: Topics[] = [];

afterEach(async () => {
  for (const topics of opened.splice(0)) await topics.close();
});

/** The topics of one gateway. */
function open(topicRoles?: JsonValue): Topics {
  const topics = new Topics({
    database: test.database,
    property: (_domainId, name) => (name === 'topicRoles' ? topicRoles : undefined),
    maxMessageBytes: 100,
    pollMs: 10,
    onFault: () => {},
  });
  opened.push(topics);
  return topics;
}

async function listen(topics: Topics, topic: string, domainId = 'school') {
  const messages: TopicMessage[] = [];
  const { ready, stop } = topics.follow(domainId, topic, (message) => messages.push(message));
  await ready;
  return { messages, stop, heard: () => messages.map(({ message }) => printExactJson(message)) };
}

const aWhile = () => sleep(100);

function codeOf(work: () => void): string | undefined {
  try {
    work();
  } catch (error) {
    return (error as ServiceError).code;
  }
  return undefined;
}

describe('topics', () => {
  it('give each subscriber of every gateway each message once, in order, digits kept', async () => {
    const [here, there] = [open(), open()];
    const listeners = [await listen(here, 'fees'), await listen(here, 'fees'), await listen(there, 'fees')];
    await here.publish(ADMIN, 'fees', { paid: 1 });
    await there.publish(ADMIN, 'fees', 'two');
    for (let n = 3; n <= 150; n++) await here.publish(ADMIN, 'fees', n);
    const expected = ['{"paid":1}', '"two"', ...Array.from({ length: 148 }, (_, n) => String(n + 3))];
    await eventually(() => listeners.every(({ messages }) => messages.length >= 150));
    await aWhile();
    for (const { heard } of listeners) expect(heard()).toEqual(expected);
    expect(listeners[0]?.messages[0]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      domainId: 'school',
      topic: 'fees',
      message: expect.anything(),
      at: expect.any(Date),
      publisher: 'usr-admin',
    });
    expect(listeners[2]?.messages.map(({ id }) => id)).toEqual(listeners[0]?.messages.map(({ id }) => id));
  });

  it('keep to their name and their domain', async () => {
    const topics = open();
    const fees = await listen(topics, 'fees');
    const elsewhere = await listen(topics, 'fees', 'branch');
    await topics.publish(ADMIN, 'fee', 1);
    await topics.publish(scopeOf({ roles: ['admin'], domain: SUB }), 'fees', 2);
    await eventually(() => elsewhere.messages.length === 1);
    await aWhile();
    expect([fees.heard(), elsewhere.heard()]).toEqual([[], ['2']]);
  });

  it('publish with the transaction they are published in, or not at all', async () => {
    const topics = open();
    const { heard } = await listen(topics, 'fees');
    const failing = test.database.transaction(async (within) => {
      await topics.publish(ADMIN, 'fees', 'never', { within });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await test.database.transaction(async (within) => {
      await topics.publish(ADMIN, 'fees', 'kept', { within });
      await aWhile();
      expect(heard()).toEqual([]);
    });
    await eventually(() => heard().length === 1);
    expect(heard()).toEqual(['"kept"']);
  });

  it('go on after the connections were killed', async () => {
    const topics = open();
    const { heard } = await listen(topics, 'fees');
    const publishStubbornly = async (n: number): Promise<void> => {
      await topics.publish(ADMIN, 'fees', n).catch(() => publishStubbornly(n));
    };
    for (let n = 0; n < 10; n++) {
      await publishStubbornly(n);
      // The connection that kills is one of them.
      await test.database
        .query(
          sql`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`,
        )
        .catch(() => {});
    }
    await eventually(() => heard().length >= 10);
    await aWhile();
    expect([...new Set(heard())]).toEqual(Array.from({ length: 10 }, (_, n) => String(n)));
  });

  it('refuse a message that is too long, and say what is allowed', async () => {
    await expect(open().publish(ADMIN, 'fees', 'x'.repeat(99))).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: 'A message has at most 100 bytes of JSON, not 101; publish where to find the rest.',
    });
  });

  it('refuse a text that cannot be stored', async () => {
    await expect(open().publish(ADMIN, 'fees', 'a\u0000b')).rejects.toMatchObject({ code: 'INVALID_VALUE' });
  });

  it.each(['', 'with space', 'line\nfeed', 'x'.repeat(129), 'ü'])('refuse the name %j', async (name) => {
    await expect(open().publish(ADMIN, name, 1)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    expect(codeOf(() => open().assertMayListen(ADMIN, name))).toBe('INVALID_VALUE');
  });

  it('are open to admins, and to the roles that the domain names', () => {
    const topics = open({ notices: ['*'], 'fees.*': ['accountant'], odd: 'viewer' });
    const mayListen = (role: string, topic: string) =>
      codeOf(() => topics.assertMayListen(scopeOf({ roles: [role] }), topic)) ?? 'yes';
    expect(mayListen('admin', 'anything')).toBe('yes');
    expect(mayListen('viewer', 'notices')).toBe('yes');
    expect(mayListen('accountant', 'fees.paid')).toBe('yes');
    expect(mayListen('viewer', 'fees.paid')).toBe('FORBIDDEN');
    expect(mayListen('accountant', 'fees')).toBe('FORBIDDEN');
    expect(mayListen('viewer', 'odd')).toBe('FORBIDDEN');
    expect(mayListen('viewer', 'anything')).toBe('FORBIDDEN');
  });

  it('are no scope of an API key', () => {
    const key = scopeOf({ roles: ['admin'], scopes: { collections: {}, reports: ['*'], scripts: ['*'] } });
    expect(codeOf(() => open().assertMayListen(key, 'fees'))).toBe('FORBIDDEN');
  });

  it('are purged after a day', async () => {
    const topics = open();
    await topics.publish(ADMIN, 'fees', 'old');
    await topics.publish(ADMIN, 'fees', 'new');
    await test.database.query(
      sql`update topic_messages set at = now() - interval '25 hours' where message = '"old"'`,
    );
    await test.store.purge(ADMIN, { removedBefore: new Date(0) });
    const rows = await test.database.query<{ message: string }>(
      sql`select message::text as message from topic_messages where message in ('"old"', '"new"')`,
    );
    expect(rows).toEqual([{ message: '"new"' }]);
  });
});
