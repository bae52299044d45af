/**
 * `X-Read-After`: where in the log of the primary the last write of a client is. An answer to a write says
 * it, and a request that brings it, to whichever gateway, reads nothing older.
 */
import type { FastifyInstance } from 'fastify';
import type { Database } from '../store/database/database.js';

/** Only where there are replicas: the primary is never older. After the credential is known. */
export function useReadAfter(app: FastifyInstance, replicas: Database['replicas']): void {
  if (replicas === undefined) return;
  app.addHook('onRequest', async (request, reply) => {
    const { scope } = request.requestContext;
    if (scope === undefined) return;
    request.arrival.notes.watchWrites((position) => {
      if (!reply.raw.headersSent) reply.header('x-read-after', position);
    });
    const { 'x-read-after': brought } = request.headers;
    if (typeof brought === 'string') await replicas.learn(scope, brought);
  });
}
