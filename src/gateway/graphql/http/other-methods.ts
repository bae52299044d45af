import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../../base/errors.js';

/** The methods of `/graphql`. */
export const GRAPHQL_METHODS: readonly string[] = ['GET', 'HEAD', 'POST'];

/** Answers OPTIONS with the allowed methods, and any other method with 405, before a body is read. */
export function answerOtherMethods(app: FastifyInstance): void {
  const allow = [...GRAPHQL_METHODS, 'OPTIONS'];
  app.route({
    method: 'OPTIONS',
    url: '/graphql',
    onRequest: async (_request, reply) => reply.code(204).header('allow', allow.join(', ')).send(),
    handler: async () => undefined,
  });
  app.route({
    method: app.supportedMethods.filter((method) => !allow.includes(method)),
    url: '/graphql',
    onRequest: async () => {
      throw new ServiceError('METHOD_NOT_ALLOWED', '/graphql answers GET and POST.', { allow });
    },
    handler: async () => undefined,
  });
}
