import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../free-port.js';
import {
  createGatewayDatabase,
  expectProblem,
  type StartedGateway,
  startGateway,
  useGateway,
} from './gateway.js';

const TOKEN = 'figures-for-prometheus';
const FIGURE = 'campus_http_requests_in_flight';

describe('/metrics with METRICS_TOKEN', () => {
  const gateway = useGateway({ METRICS_TOKEN: TOKEN });
  const ask = (authorization?: string) =>
    gateway.fetch('/metrics', { headers: authorization === undefined ? {} : { authorization } });

  it.each([undefined, 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`])(
    'is not for %s',
    async (sent) => {
      const response = await ask(sent);
      expect(response.status).toBe(401);
      const text = await response.text();
      expectProblem(response, text);
      expect(text).toContain('METRICS_TOKEN');
    },
  );

  it('is not for a user either', async () => {
    expect((await gateway.fetch('/metrics', { as: 'admin' })).status).toBe(401);
  });

  it('is for who has the token', async () => {
    const response = await ask(`Bearer ${TOKEN}`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(FIGURE)]);
  });
});

describe('/metrics with METRICS_PORT', () => {
  let gateway: StartedGateway;
  let drop: () => Promise<void>;
  let figures: string;
  beforeAll(async () => {
    const database = await createGatewayDatabase();
    drop = database.drop;
    const port = await freePort();
    figures = `http://127.0.0.1:${port}`;
    gateway = await startGateway(database.url, { METRICS_PORT: String(port) });
  });
  afterAll(async () => {
    await gateway.close();
    await drop();
  });

  it('is there, and not on the other port', async () => {
    const there = await fetch(`${figures}/metrics`);
    expect([there.status, await there.text()]).toEqual([200, expect.stringContaining(FIGURE)]);
    expect((await gateway.fetch('/metrics', { as: 'admin' })).status).toBe(404);
    for (const index of ['/', '/openapi.json']) {
      expect(await (await gateway.fetch(index)).text()).not.toContain('"/metrics"');
    }
  });

  it('is alone there', async () => {
    const other = await fetch(`${figures}/o/recs/task`);
    expect(other.status).toBe(404);
    expectProblem(other, await other.text());
    expect((await fetch(`${figures}/metrics`, { method: 'POST' })).status).toBe(405);
  });
});
