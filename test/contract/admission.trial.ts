/** Who floods the gateway waits for itself; the others are let in by turns. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway({ LOG_LEVEL: 'error', RATE_LIMIT_PER_MINUTE: '100000' });

const FLOOD = 300;

/** How many of a flood are answered when a request that came after it is. */
async function answeredBefore(flood: () => Promise<Response>, other: () => Promise<Response>) {
  let answered = 0;
  const flooding = Array.from({ length: FLOOD }, async () => {
    const response = await flood();
    await response.text();
    answered += 1;
    return response.status;
  });
  // All of them are on their way.
  await new Promise((resolve) => setImmediate(resolve));
  const response = await other();
  await response.text();
  const before = answered;
  return { before, status: response.status, statuses: new Set(await Promise.all(flooding)) };
}

const BODY = JSON.stringify({ name: 'Count the chairs' });

/** A request that has sent its head, and the rest of its body when it is told to. */
class SlowSender {
  #request: ClientRequest | undefined;

  async begin(): Promise<void> {
    this.#request = request(`${gateway.url}/o/task`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${gateway.tokenOf('admin')}`,
        'content-type': 'application/json',
        'content-length': BODY.length,
      },
    });
    await new Promise((resolve) => this.#request?.write(BODY.slice(0, 5), resolve));
  }

  /** The status of the answer. */
  async finish(): Promise<number | undefined> {
    this.#request?.end(BODY.slice(5));
    const [response] = (await once(this.#request as ClientRequest, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  end(): void {
    this.#request?.destroy();
  }
}

const list = () => gateway.fetch('/o/recs/task?stream=true&limit=20', { as: 'clerk' });

const fetchGraphql = (operation: object) =>
  gateway.fetch('/graphql', {
    ...{ as: 'admin', method: 'POST', body: JSON.stringify(operation) },
    headers: { 'content-type': 'application/json' },
  });

describe('a flood', () => {
  it('of one user lets the request of another one go before, and is answered itself', async () => {
    await list();
    const outcome = await answeredBefore(
      () => gateway.fetch('/o/recs/task?stream=true&limit=100', { as: 'teacher' }),
      list,
    );
    expect(outcome).toMatchObject({ status: 200, statuses: new Set([200]) });
    expect(outcome.before).toBeLessThan(FLOOD / 2);
  });

  it('of long lists lets a short read of the same user go before', async () => {
    const outcome = await answeredBefore(
      () => gateway.fetch('/o/recs/task', { as: 'teacher' }),
      () => gateway.fetch('/o/recs/task?limit=5', { as: 'teacher' }),
    );
    expect(outcome).toMatchObject({ status: 200, statuses: new Set([200]) });
    expect(outcome.before).toBeLessThan(FLOOD / 2);
  });

  it('of long lists by GraphQL lets a short read of the same user go before', async () => {
    const query = 'query ($first: Int) { tasks(first: $first) { nodes { name } } }';
    const variables = { first: 1000 };
    // What a document is about to do is known once it was answered.
    await ask(gateway, query, { variables });
    const outcome = await answeredBefore(
      () => fetchGraphql({ query, variables }),
      () => fetchGraphql({ query: '{ tasks(first: 5) { nodes { name } } }' }),
    );
    expect(outcome).toMatchObject({ status: 200, statuses: new Set([200]) });
    expect(outcome.before).toBeLessThan(FLOOD / 2);
  });

  it('of wrong credentials lets those with a right one go before', async () => {
    await list();
    const outcome = await answeredBefore(
      () => gateway.fetch('/o/recs/task', { headers: { authorization: 'Bearer nobody' } }),
      list,
    );
    expect(outcome).toMatchObject({ status: 200, statuses: new Set([401]) });
    expect(outcome.before).toBeLessThan(FLOOD / 2);
  });

  it('of bodies, sent as slowly as may be, holds no places while it sends', async () => {
    const senders = Array.from({ length: 64 }, () => new SlowSender());
    try {
      await Promise.all(senders.map((sender) => sender.begin()));
      const response = await list();
      expect(response.status).toBe(200);
      await response.text();
      expect(
        (await Promise.all(senders.map((sender) => sender.finish()))).filter((code) => code !== 201),
      ).toEqual([]);
    } finally {
      for (const sender of senders) sender.end();
    }
  });
});

describe('more requests of a school than can be answered in time', () => {
  it('are refused before their time is over, with the time to come again; the rest is answered', async () => {
    const holder = await gateway.sql.connect();
    try {
      await holder.query('begin');
      await holder.query('lock table records_task in access exclusive mode');
      const refused: { readonly retryAfter: number; readonly detail: string }[] = [];
      const flooding: Promise<number>[] = [];
      let underWay = 0;
      const ask = async () => {
        underWay += 1;
        const response = await gateway.fetch('/o/recs/task?limit=5', { as: 'teacher' });
        const text = await response.text();
        underWay -= 1;
        if (response.status === 503)
          refused.push({
            retryAfter: Number(response.headers.get('retry-after')),
            detail: JSON.parse(text).detail,
          });
        return response.status;
      };
      // Some of those that were let in are refused for want of a connection.
      const inVain = () => refused.find(({ detail }) => detail.includes('Too many queued requests'));
      await eventually(() => {
        while (underWay < 1_500) flooding.push(ask());
        return refused.length > 50 && inVain() !== undefined;
      });
      await holder.query('rollback');
      expect((await list()).status).toBe(200);
      expect(inVain()?.retryAfter).toBeGreaterThan(0);
      expect(new Set(await Promise.all(flooding))).toEqual(new Set([200, 503]));
    } finally {
      holder.release();
    }
  });
});
