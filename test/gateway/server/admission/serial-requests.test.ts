import { once } from 'node:events';
import { createServer } from 'node:http';
import net from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { SerialRequests } from '../../../../src/gateway/server/admission/serial-requests.js';
import { useGateway } from '../../../contract/gateway.js';
import { eventually } from '../../../eventually.js';

const gateway = useGateway();

/** Sends bytes in two parts, and gives what comes back until `enough` is in it. */
async function exchange(parts: readonly string[], enough: RegExp): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  const socket = net.connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8');
  try {
    for (const part of parts) {
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await new Promise<void>((resolve, reject) => {
      const timeout = setTimeout(() => reject(new Error(`only ${JSON.stringify(answer)} came`)), 5_000);
      socket.on('data', (chunk) => {
        answer += chunk;
        if (!enough.test(answer)) return;
        clearTimeout(timeout);
        resolve();
      });
    });
    return answer;
  } finally {
    socket.destroy();
  }
}

describe('a request that offers HTTP/2', () => {
  const OFFER =
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: ' +
    'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n';

  it('is answered in HTTP/1.1, its body read', async () => {
    const body = JSON.stringify({ query: '{ __typename }' });
    const head =
      `POST /graphql HTTP/1.1\r\nHost: x\r\n${OFFER}Content-Type: application/json\r\nContent-Length: ` +
      `${body.length}\r\n\r\n`;
    const answer = await exchange([head + body.slice(0, 5), body.slice(5)], /__typename/);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('{"data":{"__typename":"Query"}}');
  });

  it('goes on with the next request on the same connection', async () => {
    const first = `GET /healthz HTTP/1.1\r\nHost: x\r\n${OFFER}\r\n`;
    const second = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await exchange([first, second], /HTTP[\s\S]*HTTP[\s\S]*\r\n\r\n/);
    expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });
});

describe('a body in tiny chunks', () => {
  const TINY = '1\r\n \r\n';

  it('is read', async () => {
    const head =
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n';
    const body = JSON.stringify({ query: '{ __typename }' });
    const rest = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const answer = await exchange([head + TINY.repeat(2000), TINY.repeat(2000) + rest], /__typename/);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('without an end is read slowly', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.tokenOf('viewer')}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    // More than the buffers of the connection hold.
    for (let count = 0; count < 40; count++) socket.write(TINY.repeat(100_000));
    for (let count = 0; count < 20; count++) await (await gateway.fetch('/healthz')).text();
    expect([socket.destroyed, socket.writableLength > 0]).toEqual([false, true]);
    // What the gateway has not read yet is gone with it, too.
    socket.resetAndDestroy();
  });
});

describe('requests that arrive before the previous one is answered', () => {
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.tokenOf('viewer')}\r\n\r\n`;

  it('are answered in their order, with their bodies', async () => {
    const body = JSON.stringify({ query: '{ __typename }' });
    const post =
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ' +
      `${body.length}\r\n\r\n${body}`;
    const chunked =
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked' +
      `\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const all = [get('/o/recs/task'), post, get('/none'), chunked, get('/healthz')].join('');
    const answer = await exchange([all.slice(0, -20), all.slice(-20)], /"status":"ok"/);
    const seen = answer.match(/HTTP\/1\.1 \d+|"__typename":"Query"|"status":"ok"/g);
    expect(seen).toEqual([
      'HTTP/1.1 200',
      ...['HTTP/1.1 200', '"__typename":"Query"'],
      'HTTP/1.1 404',
      ...['HTTP/1.1 200', '"__typename":"Query"'],
      ...['HTTP/1.1 200', '"status":"ok"'],
    ]);
  });

  it('let those of others go before, and are all answered', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = net.connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk;
    });
    const answers = () => answer.match(/HTTP\/1\.1 200/g)?.length ?? 0;
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(300));
    const other = await gateway.fetch('/o/recs/task', { as: 'viewer' });
    expect([other.status, answers() < 270]).toEqual([200, true]);
    await eventually(() => answers() === 300);
    socket.destroy();
  });

  it('stay with their sender beyond what a connection may hold, and are all answered', async () => {
    const REQUESTS = 3_000;
    const serial = new SerialRequests();
    let served = 0;
    let most = 0;
    const server = createServer(
      { IncomingMessage: serial.IncomingMessage },
      ({ socket: { readableLength, readableHighWaterMark } }, response) => {
        most = Math.max(most, readableLength / readableHighWaterMark);
        served += 1;
        setImmediate(() => response.end());
      },
    );
    serial.listen(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1').resume();
    socket.write(
      'GET / HTTP/1.1\r\nHost: x\r\nX-Long: '.padEnd(996, 'x').concat('\r\n\r\n').repeat(REQUESTS),
    );
    await eventually(() => served === REQUESTS);
    socket.destroy();
    server.close();
    // What is held, and a chunk that had been asked for.
    expect(most).toBeLessThan(6);
  });

  it('are not answered once the connection closes', async () => {
    const closing = get('/healthz').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const { hostname, port } = new URL(gateway.url);
    const socket = net.connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk;
    });
    socket.write(closing + get('/o/recs/task').repeat(3));
    await once(socket, 'close');
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('may open a WebSocket', async () => {
    const upgrade =
      'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
      'Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';
    const answer = await exchange([get('/o/recs/task') + upgrade], /101 Switching/);
    expect(answer).toMatch(/^HTTP\/1\.1 200[\s\S]*HTTP\/1\.1 101/);
  });
});
