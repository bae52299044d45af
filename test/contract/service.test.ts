import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { reports as registry } from '../../src/school/reports/registry.js';
import { eventually } from '../eventually.js';
import { expectProblem, PASSWORD, useGateway } from './gateway.js';

const gateway = useGateway({
  ...{ LOG_LEVEL: 'info', CORS_ORIGINS: 'https://portal.example', SERVER_TIMING: 'false' },
});

/** Sends bytes as they are, for what no client would send. */
async function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

/** The JSON of an answer; its shape is what the test says. */
async function jsonOf<Shape>(answer: Promise<Response>): Promise<Shape> {
  return JSON.parse(await (await answer).text());
}

/** The lines of the log with this event, once the last request's is there. */
async function logged(event: string, requestId: string | null): Promise<Record<string, unknown>[]> {
  const deadline = Date.now() + 2000;
  for (;;) {
    const lines = gateway.log.map((line): Record<string, unknown> => JSON.parse(line));
    const found = lines.filter((line) => line.event === event && line.requestId === requestId);
    if (found.length > 0 || Date.now() > deadline) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('signing in', () => {
  // The same program gets the same tokens within the minute: each of these is another one.
  let programs = 0;
  const anotherProgram = () => ({ 'user-agent': `program ${programs++}` });
  const login = (body: string, type = 'application/json') =>
    fetch(`${gateway.url}/auth`, {
      method: 'POST',
      headers: { 'content-type': type, ...anotherProgram() },
      body,
    });

  it('takes the query of the contract, JSON and a form', async () => {
    const answers = [
      await fetch(`${gateway.url}/auth?user_name=viewer&password=${encodeURIComponent(PASSWORD)}`, {
        method: 'POST',
        headers: anotherProgram(),
      }),
      await login(JSON.stringify({ user_name: 'viewer', password: PASSWORD })),
      await login(
        `user_name=viewer&password=${encodeURIComponent(PASSWORD)}`,
        'application/x-www-form-urlencoded',
      ),
      await login(
        JSON.stringify({ grant_type: 'password', user_name: 'viewer', password: PASSWORD, domain: 'top' }),
      ),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toEqual({
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: expect.any(String),
        user: {
          _id: 'usr-viewer',
          user_name: 'viewer',
          name: 'The viewer',
          roles: ['viewer'],
          domain: 'top',
        },
      });
    }
  });

  it('gives new tokens for a refresh token, once', async () => {
    const first: { refresh_token: string } = await jsonOf(
      login(JSON.stringify({ user_name: 'viewer', password: PASSWORD })),
    );
    const renewed = await login(
      JSON.stringify({ grant_type: 'refresh_token', refresh_token: first.refresh_token }),
    );
    expect(renewed.status).toBe(200);
    const again = await login(JSON.stringify({ refresh_token: first.refresh_token }));
    expect(again.status).toBe(401);
  });

  it('ends a session, and its token with it', async () => {
    const { access_token: token }: { access_token: string } = await jsonOf(
      login(JSON.stringify({ user_name: 'viewer', password: PASSWORD })),
    );
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${gateway.url}/o/recs/task`, { headers })).status).toBe(200);
    expect((await fetch(`${gateway.url}/auth/logout`, { method: 'POST', headers })).status).toBe(204);
    expect((await fetch(`${gateway.url}/o/recs/task`, { headers })).status).toBe(401);
  });
});

describe('request ids', () => {
  it('are the one sent, where it is sane', async () => {
    const answer = await gateway.fetch('/healthz', { headers: { 'x-request-id': 'trace-1.2:3' } });
    expect(answer.headers.get('x-request-id')).toBe('trace-1.2:3');
  });

  it.each(['a b', '<script>', 'x'.repeat(129)])('are ours instead of %s', async (sent) => {
    const answer = await gateway.fetch('/healthz', { headers: { 'x-request-id': sent } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the log', () => {
  it('has one line a request, with its id, route, principal and no password', async () => {
    const answer = await gateway.fetch('/o/recs/task?oquery=name=a', { as: 'viewer' });
    await answer.text();
    const [line] = await logged('requestEnded', answer.headers.get('x-request-id'));
    expect(line).toMatchObject({
      method: 'GET',
      url: '/o/recs/task?oquery=name=a',
      route: '/o/recs/:collection',
      status: 200,
      principal: 'top/usr-viewer',
      credential: expect.stringMatching(/^token:/),
      operation: '/o/recs/:collection',
      durationMs: expect.any(Number),
    });
  });

  it('shows no password, token or key of an address', async () => {
    const answer = await gateway.fetch('/auth?user_name=viewer&password=hunter2&api_key=cg_hunter3', {
      method: 'POST',
    });
    const [line] = await logged('requestEnded', answer.headers.get('x-request-id'));
    expect(line).toMatchObject({
      url: '/auth?user_name=viewer&password=[redacted]&api_key=[redacted]',
      status: 400,
    });
    expect(gateway.log.join('')).not.toMatch(/hunter|Bearer|correct/);
  });
});

describe('what a browser is told', () => {
  it('comes with every answer, errors too', async () => {
    for (const path of ['/', '/nonsense', '/o/recs/task']) {
      const { headers } = await gateway.fetch(path);
      expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('lets the origins of the setting in, and no other', async () => {
    const from = (origin: string) => gateway.fetch('/healthz', { headers: { origin } });
    expect((await from('https://portal.example')).headers.get('access-control-allow-origin')).toBe(
      'https://portal.example',
    );
    expect((await from('https://evil.example')).headers.get('access-control-allow-origin')).not.toBe(
      'https://evil.example',
    );
  });

  it('varies by origin too where the origin decides', async () => {
    const answer = await gateway.fetch('/o/recs/task', {
      as: 'viewer',
      headers: { origin: 'https://portal.example' },
    });
    expect(answer.headers.get('vary')).toBe(
      'Origin, Accept, Accept-Encoding, Authorization, Prefer, X-Domain',
    );
  });

  it('answers a preflight', async () => {
    const answer = await gateway.fetch('/o/recs/task', {
      method: 'OPTIONS',
      headers: { origin: 'https://portal.example', 'access-control-request-method': 'PATCH' },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH');
  });
});

describe('what is no request', () => {
  it('BREW is answered with 418', async () => {
    expect(await sendRaw('BREW /coffee HTTP/1.1\r\nhost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 418 /);
  });

  it('an unknown method is answered with 405', async () => {
    const answer = await sendRaw('BOIL / HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(answer).toContain('allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  });

  it('noise is answered with 400', async () => {
    expect(await sendRaw('\x16\x03\x01 hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  it('an address with bytes beyond ASCII is answered with what to do', async () => {
    const answer = await sendRaw('GET /o/recs/task?oquery=name=*आशा HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('must be percent-encoded');
  });

  it('an address without end is answered with 400', async () => {
    const answer = await sendRaw(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('too long');
  });
});

describe('GET /', () => {
  it('lists every route of the contract with its parameters', async () => {
    const index: { routes: { method: string; path: string }[] } = await jsonOf(gateway.fetch('/'));
    const openapi: { paths: Record<string, Record<string, unknown>> } = await jsonOf(
      gateway.fetch('/openapi.json'),
    );
    const described = Object.entries(openapi.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const listed = index.routes.map(({ method, path }) => `${method} ${path}`);
    expect(described).toEqual(expect.arrayContaining(listed));
    // The description has the paths of each collection beside.
    const others = described.filter((route) => !listed.includes(route));
    expect(others.filter((route) => !/ \/o\/(?:recs\/)?[a-z_]+(?:\/\{id\})?$/.test(route))).toEqual([]);
    expect(described).toEqual(expect.arrayContaining(['POST /auth', 'GET /o/recs/{collection}', 'POST /o/']));
  });

  it('lists every report with its parameters, and each is there by that name', async () => {
    const { reports }: { reports: { name: string; path: string; parameters: { name: string }[] }[] } =
      await jsonOf(gateway.fetch('/'));
    expect(reports.map(({ name }) => name)).toEqual(registry.map(({ name }) => name));
    expect(reports).toContainEqual(
      expect.objectContaining({
        name: 'daily-unique-sms',
        title: 'Daily unique SMS sent',
        path: '/?report=daily-unique-sms',
        graphql: 'dailyUniqueSms',
        parameters: [expect.objectContaining({ name: 'date', required: false })],
      }),
    );
    for (const { path } of reports) {
      expect([path, (await gateway.fetch(path)).status]).toEqual([path, 401]);
    }
  });

  it('lists nothing that is not served', async () => {
    const index: { routes: { method: string; path: string; parameters: { name: string; in: string }[] }[] } =
      await jsonOf(gateway.fetch('/'));
    for (const { method, path } of index.routes) {
      const response = await gateway.fetch(path.replaceAll(/\{\w+\}/g, 'x'), { method });
      await response.text();
      expect([method, path, response.status === 405]).toEqual([method, path, false]);
      const { detail }: { detail?: string } = response.status === 404 ? { detail: path } : {};
      expect([path, detail]).toEqual([path, undefined]);
    }
  });
});

describe('the documentation', () => {
  it('is a page that loads nothing from elsewhere', async () => {
    const page = await gateway.fetch('/docs');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const text = await page.text();
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(loaded.length).toBeGreaterThan(3);
    for (const path of loaded) {
      expect(path).toMatch(/^\//);
      expect((await gateway.fetch(path)).status).toBe(200);
    }
    expect(page.headers.get('content-security-policy')).not.toContain('http');
  });
});

describe('health', () => {
  it('answers without a credential', async () => {
    expect(await (await gateway.fetch('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await gateway.fetch('/readyz')).json()).toEqual({ status: 'ready' });
  });

  it('counts requests by route, rows and connections', async () => {
    await (await gateway.fetch('/o/recs/task', { as: 'viewer' })).text();
    await gateway.fetch('/nonsense');
    const figures = await (await gateway.fetch('/metrics')).text();
    expect(figures).toContain(
      'campus_http_request_duration_seconds_count{method="GET",route="/o/recs/:collection",status="200"}',
    );
    expect(figures).toContain('campus_errors_total{code="NOT_FOUND"}');
    expect(figures).toContain('campus_database_connections{state="idle"}');
    expect(figures).toContain('campus_rows_streamed_total');
  });
});

describe('500', () => {
  it('shows nothing of our insides, and is in the log in full', async () => {
    await gateway.sql.query(
      'create function broken(collection text) returns boolean language plpgsql immutable as $$ ' +
        `begin raise 'secret of table records_%', collection; end $$`,
    );
    await gateway.sql.query(
      'alter table records_task add constraint broken check (broken(collection)) not valid',
    );
    const answer = await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"a"}',
    });
    const text = await answer.text();
    expect(answer.status).toBe(500);
    expectProblem(answer, text);
    expect(text).not.toContain('secret');
    const [line] = await logged('requestFailed', answer.headers.get('x-request-id'));
    expect(JSON.stringify(line)).toContain('secret of table records_task');
  });
});

describe('maintenance', () => {
  it('answers 503 with Retry-After on every gateway while it is on, health excepted', async () => {
    const turn = async (value: boolean) => {
      await gateway.sql.query(
        `insert into settings (name, value, updated_at) values ('maintenance', to_jsonb($1::boolean), now())
         on conflict (name) do update set value = excluded.value`,
        [value],
      );
      await gateway.sql.query(`select pg_notify(campus_channel('campus_settings'), 'maintenance')`);
      await eventually(async () => (await gateway.fetch('/readyz')).status === (value ? 503 : 200));
    };
    await turn(true);
    const answer = await gateway.fetch('/o/recs/task', { as: 'viewer' });
    expectProblem(answer, await answer.text());
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
    expect((await gateway.fetch('/healthz')).status).toBe(200);
    expect((await gateway.fetch('/readyz')).status).toBe(503);
    await turn(false);
    expect((await gateway.fetch('/o/recs/task', { as: 'viewer' })).status).toBe(200);
  });
});

it('times are left out where settings say so, and a caller that claims TLS is not believed', async () => {
  const answer = await gateway.fetch('/graphql', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
    body: '{"query":"{ me { id } }"}',
  });
  expect(answer.status).toBe(200);
  for (const name of ['server-timing', 'strict-transport-security'])
    expect([name, answer.headers.get(name)]).toEqual([name, null]);
});
