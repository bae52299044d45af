/**
 * `X-Read-After`: the position of a client's last write in the log of the primary. The answer to a write
 * contains it, and a request that sends it back, to any gateway, reads nothing older.
 */
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../store/database/database.js';

/**
 * Only needed if there are replicas, because the primary is always current. Register it after authentication.
 */
export function useReadAfter(app: FastifyInstance, replicas: Database['replicas']): void {
  if (replicas === undefined) return;
  app.addHook('onRequest', async (request, reply) => {
    const { scope } = request.requestContext;
    if (scope === undefined) return;
    request.lifecycle.notes.onWritten = (position) => {
      if (!reply.raw.headersSent) reply.header('x-read-after', position);
    };
    const { 'x-read-after': brought } = request.headers;
    if (typeof brought === 'string') await replicas.learn(scope, brought);
  });
}
