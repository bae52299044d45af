/** Normalizes a request to `/graphql`, and replaces references to registered operations by their text. */
import type { FastifyRequest } from 'fastify';
import { type Incoming, isMembers } from '../operation/operation-text.js';
import type { RegisteredOperations } from '../persisted/registered-operations.js';

/** HEAD is treated as GET; the server leaves out the body. */
export function toIncoming({ method, body, url }: FastifyRequest): Incoming {
  const mark = url.indexOf('?');
  return { method: method === 'HEAD' ? 'GET' : method, body, search: mark < 0 ? '' : url.slice(mark) };
}

/**
 * The same request with the registered text of each operation. @throws FORBIDDEN (403) for one that is not
 * registered
 */
export function withRegisteredTexts(incoming: Incoming, registered: RegisteredOperations): Incoming {
  const { method, body, search } = incoming;
  if (method === 'GET')
    return search === '' ? incoming : { ...incoming, search: ofSearch(search, registered) };
  if (Array.isArray(body))
    return { ...incoming, body: body.map((one: unknown) => ofMember(one, registered)) };
  return { ...incoming, body: ofMember(body, registered) };
}

/** Apollo refuses anything that is not an object. */
function ofMember(sent: unknown, registered: RegisteredOperations): unknown {
  return isMembers(sent) ? { ...sent, query: registered.getText(sent) } : sent;
}

function ofSearch(search: string, registered: RegisteredOperations): string {
  const parameters = new URLSearchParams(search);
  const text = registered.getText({
    query: parameters.get('query') ?? undefined,
    operationName: parameters.get('operationName') ?? undefined,
    extensions: parseExtensions(parameters.get('extensions')),
  });
  parameters.set('query', text);
  return `?${parameters}`;
}

function parseExtensions(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
