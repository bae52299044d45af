import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../errors.js';

/** What `/graphql` takes. */
export const GRAPHQL_METHODS: readonly string[] = ['GET', 'HEAD', 'POST'];

/** OPTIONS says which methods `/graphql` takes, any other is 405. They are answered before a body is read. */
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
