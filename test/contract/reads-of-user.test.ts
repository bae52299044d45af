/** The reads of one user use few connections at the same moment, whatever sends them. */
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { type Role, useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway({ POOL_SIZE: '16' });
const MOST = 2;

/** How many statements of the gateway wait for the collection. */
async function countWaiting(): Promise<number> {
  const { rows } = await gateway.sql.query(
    `select count(*)::int as n from pg_stat_activity
     where datname = current_database() and application_name like 'campus%' and wait_event_type = 'Lock'`,
  );
  return rows[0].n;
}

const graphql = (query: string) => () => ask(gateway, query, { as: 'clerk' });
const counts = (field: string) =>
  Array.from({ length: 14 }, (_, n) => `c${n}: ${field}`.replaceAll('%', `x${n}`)).join(' ');
const rest = (path: string) => () =>
  Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const headers = { prefer: 'count=exact' };
      const answer = await gateway.fetch(path.replaceAll('%', `x${n}`), { as: 'clerk', headers });
      await answer.text();
      expect(answer.status).toBe(200);
    }),
  );
const agent = () =>
  Promise.all(
    Array.from({ length: 12 }, async () => {
      const answer = await gateway.fetch('/mcp', {
        method: 'POST',
        as: 'clerk' satisfies Role,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name: 'search-records', arguments: { collection: 'task', first: 2 } },
        }),
      });
      await answer.text();
      expect(answer.status).toBe(200);
    }),
  );

describe('a user who sends many reads at once uses few connections', () => {
  it.each([
    ['counts', graphql(`{ ${counts('tasksAggregate(where: {name: {contains: "%"}}) { count }')} }`)],
    ['totals of pages', graphql(`{ ${counts('tasks(where: {name: {notContains: "%"}}) { totalCount }')} }`)],
    ['lists by oquery', rest('/o/recs/task?oquery=name=@%&limit=1')],
    ['tools of an agent', agent],
  ])('%s', async (_kind, send) => {
    const locker = await gateway.sql.connect();
    try {
      await locker.query('begin');
      await locker.query('lock table records_task in access exclusive mode');
      const sent = send();
      await eventually(async () => (await countWaiting()) === MOST);
      const other = await gateway.fetch('/o/recs/holiday?limit=1', { as: 'viewer' });
      expect(other.status).toBe(200);
      await sleep(100);
      expect(await countWaiting()).toBe(MOST);
      await locker.query('commit');
      await sent;
    } finally {
      locker.release(true);
    }
  });
});

describe('long workbooks of a user', () => {
  const open = (as: Role) => {
    const headers = { authorization: `Bearer ${gateway.tokenOf(as)}` };
    const request = http.get(`${gateway.url}/o/recs/attendance?format=xlsx`, { agent: false, headers });
    request.on('error', () => undefined);
    return request;
  };

  it('are printed one after the other, beside those of other users', async () => {
    await gateway.sql.query(
      `insert into records (domain, collection, id, data)
       select 'top', 'attendance', 'x' || n, jsonb_build_object('class', '5', 'section', 'A',
         'remark', md5(n::text) || md5((n + 1)::text) || md5((n + 2)::text) || md5((n + 3)::text))
       from generate_series(1, 40000) as n`,
    );
    // Its reader takes nothing.
    const first = open('clerk');
    await once(first, 'response');
    const second = open('clerk');
    let hasBegun = false;
    const begun = once(second, 'response').then(() => {
      hasBegun = true;
    });
    const other = open('viewer');
    await once(other, 'response');
    expect(hasBegun).toBe(false);
    first.destroy();
    await begun;
    for (const request of [second, other]) request.destroy();
  });
});
