/** A real HTTP server on loopback for the tests of requests. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestServer {
  readonly port: number;
  readonly url: string;
  readonly seen: Seen[];
}

/**
 * A server for the tests of this file, which remembers what it was sent. `answer` runs when the body is
 * there.
 */
export function useHttpServer(answer: RequestListener): TestServer {
  const seen: Seen[] = [];
  let server: Server | undefined;
  const port = () => {
    if (server === undefined) throw new Error('the server is there while tests run');
    return (server.address() as AddressInfo).port;
  };
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response);
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });
  return {
    get port() {
      return port();
    },
    get url() {
      return `http://127.0.0.1:${port()}`;
    },
    seen,
  };
}
