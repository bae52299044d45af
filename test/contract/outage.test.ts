import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type EmbeddedServer,
  startEmbeddedServer,
} from '../../src/store/database/embedded/embedded-server.js';
import { applyMigrations } from '../../src/store/database/migrations.js';
import { expectEventually } from '../expect-eventually.js';
import { expectProblem, type StartedGateway, startGateway } from './gateway.js';

let directory: string;
let database: EmbeddedServer;
let gateway: StartedGateway;

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'campus-outage-'));
  database = await startEmbeddedServer({ dataDirectory: directory });
  await applyMigrations({ url: database.url });
  gateway = await startGateway(database.url, { SHUTDOWN_GRACE_MS: '3000', LOG_LEVEL: 'info' });
});

afterAll(async () => {
  await gateway.close();
  await database.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('a database that goes away and comes back', () => {
  it('is answered with 503 and Retry-After meanwhile, and found again without a restart', async () => {
    expect((await gateway.fetch('/o/recs/task', { as: 'viewer' })).status).toBe(200);
    await database.stop();

    const answers = [
      await gateway.fetch('/o/recs/task', { as: 'viewer' }),
      await gateway.fetch('/o/recs/task/a', { as: 'viewer' }),
      await gateway.fetch('/readyz'),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expectProblem(answer, await answer.text());
    }
    expect((await gateway.fetch('/healthz')).status).toBe(200);

    database = await startEmbeddedServer({ dataDirectory: directory });
    const deadline = Date.now() + 10_000;
    let status = 0;
    while (status !== 200 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      status = (await gateway.fetch('/o/recs/task', { as: 'viewer' })).status;
    }
    expect(status).toBe(200);
    await expectEventually(async () => (await gateway.fetch('/readyz')).status, 200);
    const created = await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"after the outage"}',
    });
    expect(created.status).toBe(201);
  });
});

describe('a full disk', () => {
  it('refuses changes with 503, is reported, and keeps nobody from reading', async () => {
    await database.stop();
    // No disk has as much, so that this one counts as full.
    database = await startEmbeddedServer({ dataDirectory: directory, diskReserveBytes: Number.MAX_VALUE });
    await expectEventually(async () => (await gateway.fetch('/readyz')).json(), {
      status: 'ready',
      database: 'read-only',
      disk: 'full',
    });
    const refused = await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"too much"}',
    });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('its disk is full') });
    expect((await gateway.fetch('/o/recs/task', { as: 'viewer' })).status).toBe(200);
    const told = gateway.log.filter((line) => line.includes('"isDiskFull":true'));
    expect(told).toHaveLength(1);
    await database.stop();
    database = await startEmbeddedServer({ dataDirectory: directory });
    await expectEventually(async () => (await gateway.fetch('/readyz')).json(), { status: 'ready' });
  });
});

describe('a stop', () => {
  it('lets what is under way finish, and refuses what is new with 503 and Connection: close', async () => {
    await gateway.sql.query(
      'create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1); ' +
        'return new; end $$',
    );
    await gateway.sql.query(
      `create trigger slow before insert on records_task for each row execute function slow()`,
    );
    const agent = new http.Agent({ keepAlive: true });
    const kept = await get('/healthz', agent);
    expect(kept.status).toBe(200);
    const underWay = gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"under way"}',
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const stopped = gateway.app.close();
    await new Promise((resolve) => setTimeout(resolve, 100));

    for (const connection of [agent, new http.Agent()]) {
      const refused = await get('/o/recs/task', connection);
      expect(refused).toMatchObject({
        status: 503,
        headers: {
          connection: 'close',
          'retry-after': '5',
          'content-type': 'application/problem+json; charset=utf-8',
        },
      });
    }
    const finished = await underWay;
    expect(finished.status).toBe(201);
    expect(await finished.json()).toMatchObject({ name: 'under way' });
    await stopped;
    await expect(get('/healthz', new http.Agent())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

function get(
  path: string,
  agent: http.Agent,
): Promise<{ status: number | undefined; headers: http.IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${gateway.tokenOf('viewer')}` };
    http
      .get(gateway.url + path, { agent, headers }, (response) => {
        response.resume();
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers }));
      })
      .on('error', reject);
  });
}
