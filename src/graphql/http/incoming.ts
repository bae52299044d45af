/**
 * How a request to `/graphql` becomes what is answered: registered operations put the text they stand for
 * into it.
 */
import type { FastifyRequest } from 'fastify';
import { type Incoming, isMembers } from '../operation/operation-text.js';
import type { RegisteredOperations } from '../persisted/registered-operations.js';

/** HEAD is what GET would answer, whose body the server then leaves out. */
export function toIncoming({ method, body, url }: FastifyRequest): Incoming {
  const mark = url.indexOf('?');
  return { method: method === 'HEAD' ? 'GET' : method, body, search: mark < 0 ? '' : url.slice(mark) };
}

/**
 * The same request with the registered text of each operation. @throws FORBIDDEN (403) for an operation that
 * is none of them
 */
export function withRegisteredTexts(incoming: Incoming, registered: RegisteredOperations): Incoming {
  const { method, body, search } = incoming;
  if (method === 'GET')
    return search === '' ? incoming : { ...incoming, search: ofSearch(search, registered) };
  if (Array.isArray(body))
    return { ...incoming, body: body.map((one: unknown) => ofMember(one, registered)) };
  return { ...incoming, body: ofMember(body, registered) };
}

/** What is no object Apollo refuses. */
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
