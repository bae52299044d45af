/** Answers requests for which there is no route, before their bodies are read. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { prefersPage, sendNoticePage } from '../sending/notice-page.js';

/** The path of a route, as Fastify writes it, with the methods that it serves. */
interface ServedPath {
  readonly url: string;
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/**
 * A known path answers OPTIONS, and every other method with 405; an unknown one is answered with 404.
 * Register it after the hook that authenticates and before the routes.
 *
 * `suggestPath` returns what to add to the answer about an unknown path; it gets those without parameters.
 */
export function useUnroutedAnswers(
  app: FastifyInstance,
  suggestPath: (path: string, fixed: readonly string[]) => string = () => '',
): void {
  const served = new Map<string, ServedPath>();
  app.addHook('onRoute', ({ url, method }) => {
    const { methods } = getOrMake(served, url, () => ({ url, pattern: toPattern(url), methods: new Set() }));
    for (const one of [method].flat()) methods.add(one);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const { method, lifecycle } = request;
    const [path = ''] = request.url.split('?', 1);
    const matching = [...served.values()].filter(({ pattern }) => pattern.test(path));
    const [known] = matching;
    if (known) {
      lifecycle.setRoute(known.url);
      const allow = [...new Set(matching.flatMap(({ methods }) => [...methods])), 'OPTIONS'];
      if (method === 'OPTIONS') return reply.code(204).header('allow', allow.join(', ')).send();
      const detail = `${method} does not go with this path; ${allow.join(', ')} do.`;
      throw new ServiceError('METHOD_NOT_ALLOWED', detail, { allow });
    }
    if (asksForPage(request)) {
      lifecycle.notes.errorCode = 'NOT_FOUND';
      return sendNoticePage(reply, 'missing');
    }
    const fixed = [...served.keys()].filter((url) => !/[:*]/.test(url));
    const detail = `There is nothing at ${path}. GET / lists every path.${suggestPath(path, fixed)}`;
    throw new ServiceError('NOT_FOUND', detail);
  });
}

/** `/o/:collection` matches `/o/task`, and `/manual/*` matches all that begins so. */
function toPattern(url: string): RegExp {
  const path = url.replace(/\/$/, '').replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replace('*', '.*');
  return new RegExp(`^${path}/?$`);
}

/** Whether a person opened the address: programs send a credential, or do not prefer HTML. */
function asksForPage(request: FastifyRequest): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && !request.lifecycle.hasCredential && prefersPage(request);
}
