import { once } from 'node:events';
import http from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectEventually } from '../expect-eventually.js';
import { LiveMemory } from '../live-memory.js';
import { activityView, onEveryServer } from '../spread-databases.js';
import { useGateway } from './gateway.js';

const gateway = useGateway();
const RECORDS = 300_000;
const LOOK_EVERY_BYTES = 8 * 1024 * 1024;

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'attendance', 'a' || n, jsonb_build_object(
       'created', to_char(timestamp '2026-04-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       'student', jsonb_build_object('value', 's' || n % 1500, 'label', 'Student ' || n % 1500),
       'class', (n % 12)::text, 'section', 'A', 'status', 'present', 'remark', repeat('r', 40))
     from generate_series(1, $1) as n`,
    [RECORDS],
  );
  await gateway.sql.query('analyze records_attendance');
});

/** The answer, not read yet: paused until somebody reads it. */
async function open(path: string): Promise<http.IncomingMessage> {
  const request = http.get(gateway.url + path, {
    agent: false,
    headers: { authorization: `Bearer ${gateway.tokenOf('admin')}` },
  });
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  // A connection that is reset is told to the request too.
  request.on('error', () => undefined);
  if (!response) throw new Error('no response');
  return response;
}

/** Statements over attendance that Postgres is busy with, or holds open for a stream. */
async function countQueries(): Promise<number> {
  const { rows } = await gateway.sql.query<{ found: number }>(
    `select count(*)::int as found from ${activityView()}
     where datname = current_database() and application_name like 'campus%' and query like '%records%'
       and query not like '%rate_counters%' and (state = 'active' or state like 'idle in transaction%')`,
  );
  return rows[0]?.found ?? 0;
}

/** As soon as there is none, and at the latest after a second. */
async function countQueriesWithinASecond(): Promise<number> {
  const deadline = Date.now() + 1000;
  let running = await countQueries();
  while (running > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    running = await countQueries();
  }
  return running;
}

describe('a stream of 300,000 records', () => {
  it('arrives whole, its first byte long before its last, in little memory', async () => {
    const memory = new LiveMemory();
    const startedAt = performance.now();
    const response = await open('/o/recs/attendance?stream=true');
    let firstByteMs = 0;
    let length = 0;
    let lookAt = LOOK_EVERY_BYTES;
    let commas = 0;
    let tail = '';
    for await (const chunk of response) {
      if (length === 0) firstByteMs = performance.now() - startedAt;
      const bytes: Buffer = chunk;
      length += bytes.length;
      commas += bytes.toString('latin1').split('"_id"').length - 1;
      tail = (tail + bytes.subarray(-3).toString('latin1')).slice(-3);
      if (length >= lookAt) {
        lookAt += LOOK_EVERY_BYTES;
        memory.look();
      }
    }
    const totalMs = performance.now() - startedAt;
    expect(tail.endsWith('}]')).toBe(true);
    // A chunk may end within an "_id".
    expect(commas).toBeGreaterThan(RECORDS * 0.99);
    expect(firstByteMs).toBeLessThan(totalMs / 4);
    expect(memory.mostMib).toBeLessThan(24);
  });

  it.each(['csv', 'xlsx', 'parquet'])(
    'arrives as %s in little memory, its first byte before its last',
    async (format) => {
      const memory = new LiveMemory();
      let chunks = 0;
      const response = await open(`/o/recs/attendance?format=${format}`);
      for await (const chunk of response) {
        chunks += Number(chunk.length > 0);
        if (chunks % 40 === 1) memory.look();
      }
      expect(response.complete).toBe(true);
      expect(chunks).toBeGreaterThan(10);
      expect(memory.mostMib).toBeLessThan(32);
    },
  );

  it('waits for a slow reader, and Postgres with it', async () => {
    const response = await open('/o/recs/attendance?stream=true');
    response.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const read = response.socket.bytesRead;
    await new Promise((resolve) => setTimeout(resolve, 300));
    // What the kernel's buffers and ours hold, of some 70 MB.
    expect(response.socket.bytesRead).toBe(read);
    expect(read).toBeLessThan(8 * 1024 * 1024);
    response.destroy();
  });

  it('ends its query within a second when the reader goes away', async () => {
    const response = await open('/o/recs/attendance?stream=true&sort=remark');
    await once(response, 'readable');
    response.read();
    await expectEventually(countQueries, 1);
    response.destroy();
    expect(await countQueriesWithinASecond()).toBe(0);
  });

  it('ends a query that has not answered yet when the caller goes away', async () => {
    const request = http.get(
      `${gateway.url}/o/recs/attendance?oquery=remark=*nothing%20like%20it,remark=!*x`,
      {
        agent: false,
        headers: { authorization: `Bearer ${gateway.tokenOf('admin')}` },
      },
    );
    request.on('error', () => undefined);
    await expectEventually(countQueries, 1);
    request.destroy();
    expect(await countQueriesWithinASecond()).toBe(0);
  });

  it('cuts the connection when it fails on the way, instead of looking whole', async () => {
    const response = await open('/o/recs/attendance?stream=true');
    response.pause();
    const failed = new Promise<unknown>((resolve) => {
      response.once('error', resolve);
      response.once('end', () => resolve(undefined));
    });
    // Ends the statement from outside, as an operator or a crash would.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { rows } = await gateway.sql.query('select current_database() as name');
    // On Citus, the server of the school streams.
    await onEveryServer((client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = $1 and application_name like 'campus%' and query like '%attendance%'
           and pid <> pg_backend_pid()`,
        [rows[0].name],
      ),
    );
    let text = '';
    response.on('data', (chunk) => {
      text = String(chunk).slice(-10);
    });
    response.resume();
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    expect(text.endsWith('}]')).toBe(false);
    expect(response.complete).toBe(false);
    expect((await gateway.fetch('/o/recs/attendance?limit=1', { as: 'admin' })).status).toBe(200);
  });
});
