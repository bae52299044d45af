/**
 * Requests that ask for another protocol, and get this one: an upgrade is an offer, which a server may pass
 * over (RFC 9110, 7.8).
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** The headers that are of the connection alone. */
const OFFERS: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Gives a request back to the server as if it had asked for nothing. Node hands over the bare socket whatever
 * is asked for, once a server takes WebSockets; Java's HTTP client offers HTTP/2 with every first request,
 * bodies included.
 */
export function serveWithoutUpgrade(
  server: Server,
  {
    request,
    socket,
    head,
  }: { readonly request: IncomingMessage; readonly socket: Socket; readonly head: Buffer },
): void {
  const { rawHeaders } = request;
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!OFFERS.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
