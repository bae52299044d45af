/**
 * Answers upgrade requests for other protocols in HTTP/1.1: an upgrade is an offer, which a server may ignore
 * (RFC 9110, 7.8).
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Hop-by-hop headers of the offer. */
const OFFERS: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Hands a request back to the server without its upgrade. Once a server accepts WebSockets, Node hands over
 * the bare socket for every upgrade, and Java's HTTP client offers HTTP/2 with every first request, bodies
 * included.
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
