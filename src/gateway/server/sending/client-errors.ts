/** Answers requests that Node's HTTP parser refuses before Fastify sees them, in our own error format. */

import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '../../../base/errors.js';
import { renderProblem } from '../../rest/problem.js';
import type { Observe } from '../observation/observation.js';

interface ClientError extends Error {
  readonly code?: string | undefined;
  /** A Buffer, although Fastify's types differ. */
  readonly rawPacket?: unknown;
}

/** The methods that at least one path accepts. */
const KNOWN_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Creates Fastify's `clientErrorHandler`. The connection cannot be used afterwards. */
export function createClientErrorHandler(observe: Observe): (error: ClientError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    observe({ kind: 'connectionRefused', reason: error.code ?? error.message });
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    refuseConnection(socket, toServiceError(error));
  };
}

/** Answers a connection without a request that Fastify knows, and ends it. */
export function refuseConnection(socket: Socket, error: ServiceError): void {
  const requestId = randomUUID();
  const problem = renderProblem(error, { requestId, accept: undefined, hasCredential: false });
  const headers = {
    ...problem.headers,
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(problem.body)),
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${problem.status} ` +
      `${STATUS_CODES[problem.status] ?? ''}\r\n${head.join('')}\r\n${problem.body}`,
  );
}

/** What is wrong with a request, by the code of the parser. */
const FAULTS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW:
    'The headers, or the address, are too long; POST /o/recs/<collection> takes parameters in the body.',
  HPE_INVALID_URL:
    'The address has a character that must be percent-encoded; curl does so with -G --data-urlencode.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

function toServiceError({ code = '', rawPacket }: ClientError): ServiceError {
  if (code !== 'HPE_INVALID_METHOD')
    return new ServiceError('MALFORMED_REQUEST', FAULTS[code] ?? 'This is not HTTP.');
  // RFC 2324: the parser does not know BREW, so a request for coffee arrives here.
  if (Buffer.isBuffer(rawPacket) && rawPacket.toString('latin1', 0, 5) === 'BREW ')
    return new ServiceError('TEAPOT', 'This gateway is short and stout. It cannot brew coffee.');
  return new ServiceError('METHOD_NOT_ALLOWED', 'There is no such method.', { allow: KNOWN_METHODS });
}
