import { once } from 'node:events';
import http from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { type Role, useGateway } from './gateway.js';

const gateway = useGateway({
  MAX_STREAMS_PER_CREDENTIAL: '2',
  STREAM_STALL_MS: '6000',
  LOG_LEVEL: 'info',
});

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'attendance', 'a' || n, jsonb_build_object('class', '5', 'section', 'A',
       'remark', repeat('r', 400))
     from generate_series(1, 60000) as n`,
  );
});

/** A reader that takes nothing beyond what the buffers on the way hold, once there is a place for it. */
async function stall(role: Role): Promise<http.IncomingMessage> {
  let response = await tryToStall(role);
  await eventually(async () => {
    if (response.statusCode === 200) return true;
    response.destroy();
    response = await tryToStall(role);
    return false;
  });
  return response;
}

async function tryToStall(role: Role): Promise<http.IncomingMessage> {
  const request = http.get(`${gateway.url}/o/recs/attendance?stream=true`, {
    agent: false,
    headers: { authorization: `Bearer ${gateway.tokenOf(role)}` },
  });
  // Node 24 tells the request, too, that its answer was cut.
  request.on('error', () => undefined);
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('no response');
  response.pause();
  response.on('error', () => undefined);
  return response;
}

async function statusOf(role: Role, path: string): Promise<number> {
  const response = await gateway.fetch(path, { as: role });
  await response.body?.cancel();
  return response.status;
}

describe('reports', () => {
  const bytesOf = async (path: string) => {
    const response = await gateway.fetch(path, { as: 'admin' });
    return { status: response.status, bytes: (await response.text()).length };
  };

  beforeAll(async () => {
    await gateway.sql.query(
      `insert into records (domain, collection, id, data)
       select 'top', 'leave_request', 'l' || n, jsonb_build_object(
         'created_on', case when n <= 600 then '2026-07-06' else '2026-07-07' end || 'T06:00:00.000Z',
         'kind', 'student', 'name', jsonb_build_object('value', 's' || n), 'from', '2026-07-06',
         'to', '2026-07-06', 'status', 'pending', 'reason', repeat('r', 400)
       )
       from generate_series(1, 6000) as n`,
    );
  });

  it('are no streams while they are short', async () => {
    const path = '/?report=leave-requests&date=2026-07-06';
    const answers = await Promise.all(Array.from({ length: 12 }, () => bytesOf(path)));
    for (const { status, bytes } of answers) {
      expect(status).toBe(200);
      expect(bytes).toBeGreaterThan(256 * 1024);
    }
  });

  it('are streams when they are long', async () => {
    const path = '/?report=leave-requests&date=2026-07-07';
    const { status, bytes } = await bytesOf(path);
    expect(status).toBe(200);
    expect(bytes).toBeGreaterThan(2 * 1024 * 1024);
    const stalled = [await stall('admin'), await stall('admin')];
    expect((await bytesOf(path)).status).toBe(429);
    for (const response of stalled) response.destroy();
  });
});

describe('readers that take nothing', () => {
  it('are so many a credential, leave others alone, and are cut after a while', async () => {
    const stalled = [await stall('admin'), await stall('admin')];
    // The head of an answer may come before its place is taken.
    await expectEventually(() => statusOf('admin', '/o/recs/attendance?stream=true'), 429);
    const refused = await gateway.fetch('/o/recs/attendance?stream=true', { as: 'admin' });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({ detail: expect.stringMatching(/2 streams/) });
    expect(await statusOf('admin', '/o/recs/attendance?limit=1')).toBe(200);
    expect(await statusOf('clerk', '/o/recs/attendance?stream=true')).toBe(200);

    // Who reads on before the gateway has given up gets the whole answer.
    const cuts = () => gateway.log.filter((line) => line.includes('STREAM_STALL_MS')).length;
    await expectEventually(cuts, stalled.length);
    expect(await statusOf('admin', '/o/recs/attendance?stream=true')).toBe(200);
    for (const response of stalled) {
      let tail = '';
      await (async () => {
        for await (const chunk of response) tail = String(chunk).slice(-2);
      })().catch(() => undefined);
      expect(response.complete).toBe(false);
      expect(tail).not.toBe('}]');
    }
  });
});
