import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { UnreadAnswers } from '../../../../src/gateway/server/sending/unread-answers.js';
import { eventually } from '../../../eventually.js';

/** More than the buffers of a connection hold. */
const ANSWER = Buffer.alloc(32 * 1024 * 1024);
const MIB = 1024 * 1024;

const open: (Server | net.Socket)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) {
    if (one instanceof net.Socket) one.destroy();
    else one.close();
  }
});

/** A server that answers each request with `ANSWER`; its first header is the address it counts for. */
async function serve(limits: { stallMs?: number; bytesOfAddress?: number; bytesOfAll?: number }) {
  const cut: string[] = [];
  const unread = new UnreadAnswers({
    stallMs: 60_000,
    bytesOfAddress: 1024 * MIB,
    bytesOfAll: 1024 * MIB,
    ...limits,
    onCut: (requestId) => cut.push(requestId),
  });
  const server = createServer((request, response) => {
    const [address = '', requestId = ''] = (request.url ?? '').slice(1).split('/');
    response.once('prefinish', () => unread.written({ response, address, requestId }));
    response.end(ANSWER);
  });
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async (path: string) => {
    const socket = net.connect(port, '127.0.0.1');
    open.push(socket);
    socket.on('error', () => undefined);
    socket.write(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, 'readable');
    return socket;
  };
  return { cut, ask };
}

describe('answers that nobody reads', () => {
  it('are cut off after a while, those that are read are not', async () => {
    const { cut, ask } = await serve({ stallMs: 500 });
    await ask('a/unread');
    const reader = await ask('a/read');
    let bytes = 0;
    reader.on('data', (chunk) => {
      bytes += chunk.length;
    });
    await eventually(() => bytes > ANSWER.length && cut.length > 0);
    expect(cut).toEqual(['unread']);
  });

  it('of one address are cut off, the oldest first, if they are too many bytes', async () => {
    const { cut, ask } = await serve({ bytesOfAddress: 70 * MIB });
    for (const path of ['a/1', 'b/1', 'a/2', 'a/3', 'a/4']) await ask(path);
    await eventually(() => cut.length >= 1);
    expect(cut[0]).toBe('1');
    expect(cut).not.toContain('4');
  });

  it('of all addresses are cut off, the oldest first, if they are too many bytes', async () => {
    const { cut, ask } = await serve({ bytesOfAll: 70 * MIB });
    for (const path of ['a/1', 'b/2', 'c/3', 'd/4']) await ask(path);
    await eventually(() => cut.length >= 1);
    expect(cut[0]).toBe('1');
    expect(cut).not.toContain('4');
  });
});
