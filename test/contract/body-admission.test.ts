import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import WebSocket from 'ws';
import { eventually } from '../eventually.js';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway({
  ANONYMOUS_BODY_LIMIT_BYTES: '2000',
  BODY_MAX_MEMBERS: '5000',
  BODY_ROOM_BYTES: '1000000',
  STREAM_STALL_MS: '8000',
});

const JSON_BODY = { 'content-type': 'application/json' };
const FORM_BODY = { 'content-type': 'application/x-www-form-urlencoded' };

/** What is answered to a request that announces 900,000 bytes and sends none of them. */
async function answerToHead(line: string, headers: readonly string[] = []): Promise<string> {
  const { port, hostname } = new URL(gateway.url);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect');
    const announced = ['content-type: application/json', 'content-length: 900000', ...headers];
    socket.write(`${line} HTTP/1.1\r\nhost: localhost\r\n${announced.join('\r\n')}\r\n\r\n`);
    const [head] = await once(socket, 'data');
    return String(head).split('\r\n', 1)[0] ?? '';
  } finally {
    socket.destroy();
  }
}

function members(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 0])));
}

async function post(path: string, body: string, options: { headers?: object; as?: 'clerk' | 'admin' } = {}) {
  const { headers = JSON_BODY, as } = options;
  const response = await gateway.fetch(path, { method: 'POST', headers: { ...headers }, body, as });
  return { status: response.status, text: await response.text() };
}

describe('a body that is not needed', () => {
  it.each([
    ['POST /o/task', 401],
    ['PUT /o/recs/task/a', 401],
    ['PATCH /o/recs/task/a', 401],
    ['DELETE /o/recs/task/a', 401],
    ['POST /o/recs/task', 401],
    ['POST /o/recs/fee_concession', 401],
    ['POST /auth/logout', 401],
    ['POST /scripts/none/run', 401],
    ['POST /x/none', 404],
    ['POST /none', 404],
    ['DELETE /none', 404],
    ['POST /healthz', 405],
    ['PUT /auth', 405],
    ['PUT /graphql', 405],
    ['DELETE /graphql', 405],
    ['OPTIONS /o/task', 204],
    ['OPTIONS /auth', 204],
  ])('is not waited for: %s -> %i', async (line, status) => {
    expect(await answerToHead(line)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it.each(['POST /o/task', 'POST /auth', 'POST /graphql', 'POST /none'])(
    'is not waited for with a wrong credential: %s',
    async (line) => {
      expect(await answerToHead(line, ['authorization: Bearer wrong'])).toMatch(/^HTTP\/1.1 401 /);
    },
  );
});

describe('a caller that waits for 100 Continue', () => {
  const EXPECT = 'expect: 100-continue';

  it.each([
    ['POST /o/task', [], 401],
    ['POST /o/task', ['authorization: Bearer wrong'], 401],
    ['POST /none', [], 404],
    ['POST /healthz', [], 405],
    ['POST /auth', [], 413],
    ['POST /graphql', [], 413],
    ['POST /files', [], 401],
  ])('is refused without it: %s %j -> %i', async (line, headers, status) => {
    expect(await answerToHead(line, [EXPECT, ...headers])).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('is told to send a body that will be read', async () => {
    const authorization = `authorization: Bearer ${gateway.tokenOf('admin')}`;
    for (const line of ['POST /o/task', 'POST /graphql']) {
      expect(await answerToHead(line, [EXPECT, authorization])).toMatch(/^HTTP\/1.1 100 /);
    }
  });

  it('is answered as others are', async () => {
    const body = '{"name":"expected"}';
    const request = http.request(`${gateway.url}/o/task`, {
      method: 'POST',
      headers: {
        ...JSON_BODY,
        authorization: `Bearer ${gateway.tokenOf('admin')}`,
        expect: '100-continue',
        'content-length': body.length,
      },
    });
    request.on('continue', () => request.end(body));
    request.flushHeaders();
    const [response]: http.IncomingMessage[] = await once(request, 'response');
    expect(response?.statusCode).toBe(201);
    response?.resume();
  });
});

describe('large bodies at the same time', () => {
  function hold(as: 'admin' | 'clerk' | 'viewer', sentBytes: number): http.ClientRequest {
    const holder = http.request(`${gateway.url}/o/task`, {
      method: 'POST',
      agent: false,
      headers: {
        ...JSON_BODY,
        authorization: `Bearer ${gateway.tokenOf(as)}`,
        'content-length': 900_000,
      },
    });
    holder.on('error', () => undefined);
    holder.write(`{"name":"held"${' '.repeat(sentBytes)}`);
    return holder;
  }

  it('wait until there is room for what has arrived, and small ones do not', async () => {
    let holder: http.ClientRequest | undefined;
    const stay = () => {
      holder = hold('admin', 890_000);
      // On a busy machine it may be refused as too slow before the others come.
      holder.once('response', stay);
    };
    stay();
    try {
      const large = () => post('/o/task', `{"name":"large"${' '.repeat(300_000)}}`, { as: 'clerk' });
      await eventually(async () => (await large()).status === 503);
      expect((await post('/o/task', '{"name":"small"}', { as: 'clerk' })).status).toBe(201);
      const waiting = large();
      holder?.destroy();
      expect((await waiting).status).toBe(201);
    } finally {
      holder?.destroy();
    }
  });

  it('are not kept out by bodies that are announced and do not arrive', async () => {
    const holders = [hold('admin', 100), hold('admin', 100), hold('clerk', 100), hold('clerk', 100)];
    try {
      const { status } = await post('/o/task', `{"name":"large"${' '.repeat(300_000)}}`, { as: 'clerk' });
      expect(status).toBe(201);
    } finally {
      for (const holder of holders) holder.destroy();
    }
  });

  it('are refused when they arrive too slowly', async () => {
    const holder = hold('clerk', 100_000);
    const [answer]: http.IncomingMessage[] = await once(holder, 'response');
    expect(answer?.statusCode).toBe(400);
    expect(await text(answer as http.IncomingMessage)).toContain('STREAM_MIN_BYTES_PER_SECOND');
    holder.destroy();
  });

  it('are refused unread to callers who may not send them', async () => {
    const holder = hold('viewer', 10);
    const [answer]: http.IncomingMessage[] = await once(holder, 'response');
    expect(answer?.statusCode).toBe(403);
    holder.destroy();
  });
});

describe('a caller who may write no records', () => {
  let key: string;
  beforeAll(async () => {
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "k", scopes: $s}) { key } }',
      { variables: { s: { collections: { '*': ['read'] } } } },
    );
    key = createApiKey.key;
  });

  it.each(['/graphql', '/mcp'])('sends no large body to %s', async (path) => {
    expect(await answerToHead(`POST ${path}`, [`authorization: Bearer ${key}`])).toMatch(/^HTTP\/1.1 413 /);
    const writer = [`authorization: Bearer ${gateway.tokenOf('clerk')}`, 'expect: 100-continue'];
    expect(await answerToHead(`POST ${path}`, writer)).toMatch(/^HTTP\/1.1 100 /);
  });

  it('nor one in chunks, whose length is not announced, but small ones', async () => {
    const headers = { ...JSON_BODY, authorization: `Bearer ${key}` };
    const sent = async (bytes: number) => {
      const body = new Blob([`{"query":"{ __typename }"${' '.repeat(bytes)}}`]).stream();
      const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
      const response = await fetch(`${gateway.url}/graphql`, init);
      await response.text();
      return response.status;
    };
    expect([await sent(70_000), await sent(10_000)]).toEqual([413, 200]);
  });
});

describe('a caller without a credential', () => {
  it.each(['POST /auth', 'POST /graphql'])('is told by the length alone: %s -> 413', async (line) => {
    expect(await answerToHead(line)).toMatch(/^HTTP\/1.1 413 /);
  });

  it.each([
    ['/auth', JSON_BODY, `{"user_name":"${'a'.repeat(3000)}"}`],
    ['/auth', FORM_BODY, `user_name=${'a'.repeat(3000)}`],
    ['/graphql', JSON_BODY, `{"query":"{ __typename } # ${'a'.repeat(3000)}"}`],
  ])('has small bodies: %s %o', async (path, headers, body) => {
    const { status, text } = await post(path, body, { headers });
    expect(status).toBe(413);
    expect(text).toContain('2000 bytes');
    expect(text).toContain('ANONYMOUS_BODY_LIMIT_BYTES');
  });

  it('has small bodies in chunks too', async () => {
    const chunks = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 10; index++) controller.enqueue(Buffer.from(' '.repeat(1000)));
        controller.close();
      },
    });
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: JSON_BODY,
      body: chunks,
      duplex: 'half',
    });
    expect(response.status).toBe(413);
  });

  it('may sign in, by REST and by GraphQL', async () => {
    const login = 'user_name=viewer&password=correct+horse';
    expect((await post('/auth', login, { headers: FORM_BODY })).status).toBe(200);
    const query = 'mutation { login(userName: "viewer", password: "correct horse") { user { userName } } }';
    expect(JSON.parse((await post('/graphql', JSON.stringify({ query }))).text)).toEqual({
      data: { login: { user: { userName: 'viewer' } } },
    });
  });

  it('says who it is before it sends much by a WebSocket', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { a: 'a'.repeat(3000) } }));
    const [code, reason] = await once(socket, 'close');
    expect([code, String(reason)]).toEqual([1009, expect.stringContaining('bytes')]);
  });
});

describe('a body of many members', () => {
  it.each([
    ['/o/task', members(6000), 5000],
    ['/o/task', `[${'1,'.repeat(6000)}1]`, 5000],
    ['/o/recs/task', members(1500), 1000],
    ['/graphql', `{"query":"{ __typename }","variables":${members(6000)}}`, 5000],
  ])('is refused before it is parsed: %s', async (path, body, limit) => {
    const { status, text } = await post(path, body, { as: 'clerk' });
    expect(status).toBe(400);
    expect(text).toContain('LIMIT_EXCEEDED');
    expect(text).toContain(`more than ${limit} members`);
    expect(text).toContain(limit === 5000 ? '(BODY_MAX_MEMBERS)' : '(for parameters, forms and callers');
  });

  it.each(['/o/recs/task', '/auth'])('is refused as a form: %s', async (path) => {
    const { status, text } = await post(path, '&'.repeat(1001), { headers: FORM_BODY, as: 'clerk' });
    expect([status, text]).toEqual([400, expect.stringContaining('more than 1000 fields')]);
  });

  it.each(['/o/task', '/graphql'])('is refused for its levels: %s', async (path) => {
    const { status, text } = await post(path, '['.repeat(600) + ']'.repeat(600), { as: 'clerk' });
    expect([status, text]).toEqual([400, expect.stringContaining('500 levels')]);
  });

  it('counts no commas and brackets of texts', async () => {
    const name = `${',[{'.repeat(3000)}\\"\\\\`;
    expect((await post('/o/task', `{"remark":"${name}"}`, { as: 'clerk' })).text).not.toContain('members');
  });
});
