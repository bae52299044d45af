import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { withDeadline } from '../../../src/store/database/deadline.js';
import { useTestDatabase } from '../../database.js';

describe('work with a deadline', () => {
  const test = useTestDatabase();

  async function connected<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: test.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  it('gives what the work gives', async () => {
    const { rows } = await connected((client) =>
      withDeadline(client, 5_000, () => client.query('select 1 as one')),
    );
    expect(rows).toEqual([{ one: 1 }]);
  });

  it('fails with a SilenceError, and its connection is closed, where the server says nothing in time', async () => {
    const silent = createServer(() => {});
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'nobody', database: 'none' });
    client.on('error', () => {});
    await expect(withDeadline(client, 200, () => client.connect())).rejects.toMatchObject({
      name: 'SilenceError',
      code: 'ETIMEDOUT',
    });
    expect(client.connection.stream.destroyed).toBe(true);
    silent.close();
  });

  it('does not take a busy process for a silent server', async () => {
    const told = await connected((client) =>
      withDeadline(client, 500, async () => {
        const first = await client.query('select 1 as one');
        blockFor(1_200);
        // Some turns of the event loop, as an answer in several parts takes.
        await sleep(1);
        const second = await client.query('select 2 as two');
        return [...first.rows, ...second.rows];
      }),
    );
    expect(told).toEqual([{ one: 1 }, { two: 2 }]);
  });
});

/** Keeps the only thread busy. */
function blockFor(durationMs: number): void {
  const end = performance.now() + durationMs;
  while (performance.now() < end);
}
