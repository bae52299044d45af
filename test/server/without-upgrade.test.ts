import net from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { useGateway } from '../contract/gateway.js';

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
