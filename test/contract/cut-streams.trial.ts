import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onEveryServer } from '../spread-databases.js';
import { useGateway } from './gateway.js';

const gateway = useGateway();

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'attendance', 'a' || n, jsonb_build_object('class', '5', 'section', 'A',
       'remark', repeat('r', 400))
     from generate_series(1, 60000) as n`,
  );
});

/** curl's word for a connection that was reset. Of an end that looks whole it says 0. */
const RESET = 56;

/**
 * How a stream that was cut in the middle ends for curl. A socket of Node tells a reset as a plain end where
 * it comes behind bytes that are not read yet.
 */
async function endOfCutStream(version: '1.0' | '1.1', format = 'json'): Promise<number> {
  const url = `${gateway.url}/o/recs/attendance?stream=true&format=${format}`;
  const credential = `authorization: Bearer ${gateway.tokenOf('admin')}`;
  const curl = spawn('curl', ['-sN', `--http${version}`, '--limit-rate', '1M', '-H', credential, url]);
  const ended = once(curl, 'exit');
  await once(curl.stdout, 'data');
  curl.stdout.resume();
  const { rows } = await gateway.sql.query('select current_database() as name');
  // On Citus, the server of the school streams.
  await onEveryServer((client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = $1 and application_name like 'campus% stream' and query like '%attendance%'`,
      [rows[0].name],
    ),
  );
  const [code] = await ended;
  return Number(code);
}

describe('a stream that is cut in the middle', () => {
  it.each(['1.0', '1.1'] as const)('is seen to be by HTTP/%s', async (version) => {
    expect(await endOfCutStream(version)).toBe(RESET);
  });

  it.each(['ndjson', 'csv', 'xlsx', 'parquet'])('is seen to be as %s', async (format) => {
    expect(await endOfCutStream('1.1', format)).toBe(RESET);
  });
});

describe('the end marker', () => {
  const ask = (path: string, accept: string, prefer = 'end-marker') =>
    gateway.fetch(path, { as: 'admin', headers: { accept, prefer } });

  it.each([
    ['/o/recs/attendance?stream=true', 'application/x-ndjson', '{"$end":true}\n', 60_001],
    ['/o/recs/attendance?stream=true&oquery=_id=a1', 'application/x-ndjson', '{"$end":true}\n', 2],
    ['/o/recs/attendance?limit=2', 'application/x-ndjson', '{"$end":true}\n', 3],
    ['/o/recs/attendance?stream=true', 'text/csv', '#end\r\n', 60_002],
    ['/o/recs/attendance?limit=2', 'text/csv', '#end\r\n', 4],
    ['/?report=teachers', 'application/x-ndjson', '{"$end":true}\n', undefined],
    ['/?report=teachers', 'text/csv', '#end\r\n', undefined],
  ])('ends %s as %s for those who ask', async (path, accept, marker, lines) => {
    const response = await ask(path, accept);
    const text = await response.text();
    expect([response.status, text.slice(-marker.length)]).toEqual([200, marker]);
    expect(response.headers.get('preference-applied')).toBe('end-marker');
    if (lines !== undefined) expect(text.split('\n').length - 1).toBe(lines);
  });

  it.each([
    ['application/json', 'end-marker'],
    ['application/x-ndjson', 'return=minimal'],
  ])('is not in %s with Prefer: %s', async (accept, prefer) => {
    const response = await ask('/o/recs/attendance?stream=true&oquery=_id=a1', accept, prefer);
    expect(response.headers.get('preference-applied')).toBe(null);
    expect(await response.text()).not.toContain('$end');
  });
});
