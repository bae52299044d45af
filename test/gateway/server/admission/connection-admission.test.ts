/** The connections of one address, against a plain server of Node. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  ConnectionAdmission,
  type ConnectionLimits,
} from '../../../../src/gateway/server/admission/connection-admission.js';

const sockets: Socket[] = [];
let server: Server;
let refused: string[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
  await once(server, 'close');
});

async function start(limits: Partial<ConnectionLimits>): Promise<void> {
  refused = [];
  server = createServer((_, response) => response.end('served'));
  new ConnectionAdmission({
    ...{ mostOpen: 100, perSecond: 1000, burst: 1000, mostWaitMs: 1000, ...limits },
    onRefused: (reason) => refused.push(reason),
  }).listen(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

function open(): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  return socket;
}

const requestOn = (socket: Socket) => {
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  return text(socket);
};

describe('connections of one address', () => {
  it('are served up to the number that may be open, and again when one is closed', async () => {
    await start({ mostOpen: 2 });
    const [first, second] = [open(), open()];
    await Promise.all([first, second].map((socket) => once(socket, 'connect')));
    const answer = await text(open());
    expect(answer).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(answer).toContain('retry-after: 1\r\n');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status: 429 });
    expect(refused).toEqual(['too many open connections']);
    expect(await requestOn(first)).toContain('served');
    expect(await requestOn(open())).toContain('served');
  });

  it('wait when they are new and too many, and are refused beyond that', async () => {
    await start({ perSecond: 10, burst: 2, mostWaitMs: 450 });
    const startedAt = performance.now();
    const endings = Array.from({ length: 8 }, async () => {
      const answer = await requestOn(open());
      return { isServed: answer.includes('served'), afterMs: performance.now() - startedAt };
    });
    const served = (await Promise.all(endings)).filter(({ isServed }) => isServed);
    // Two at once, and four within the patience; a slow machine adds places while connections arrive.
    expect(served.length).toBeGreaterThanOrEqual(6);
    expect(served.length + refused.length).toBe(8);
    expect(served.filter(({ afterMs }) => afterMs < 90).length).toBeLessThanOrEqual(2);
  });

  it('that are closed while they wait are not read', async () => {
    await start({ perSecond: 20, burst: 1 });
    expect(await requestOn(open())).toContain('served');
    const waiting = open();
    await once(waiting, 'connect');
    waiting.resetAndDestroy();
    expect(await requestOn(open())).toContain('served');
  });
});
