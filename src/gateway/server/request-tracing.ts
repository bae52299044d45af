import { SpanStatusCode } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { beginTraceOf, type TraceHeaders, withinTrace } from '../../base/process/traced.js';
import { limitTraces } from './limit-traces.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Goes on within the span of the request, which the events of a body have left. */
    resumeTrace: ((next: () => void) => void) | undefined;
  }
}

/**
 * A span for each request that is told of, within which all that it asks for happens. Registered before every
 * other hook.
 */
export function useRequestTracing(app: FastifyInstance, perSecond: number): void {
  const isToldOf = limitTraces(perSecond);
  app.decorateRequest('resumeTrace');
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent, tracestate } = request.headers;
    const parent = typeof traceparent === 'string' ? traceparent : undefined;
    if (!isToldOf(parent)) {
      done();
      return;
    }
    const { method } = request;
    const route = request.routeOptions.url ?? 'unknown';
    const sent: TraceHeaders = {
      ...(parent !== undefined && { traceparent: parent }),
      ...(typeof tracestate === 'string' && { tracestate }),
    };
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'campus.request_id': request.id,
    };
    const span = beginTraceOf(sent, { name: `${method} ${route}`, kind: 'server', attributes }, () => {
      request.resumeTrace = withinTrace((next) => next());
      reply.raw.once('close', () => {
        const { statusCode } = reply.raw;
        const { operation, errorCode } = request.lifecycle.notes;
        span.setAttributes({
          'http.response.status_code': statusCode,
          ...(operation !== undefined && { 'campus.operation': operation }),
          ...(errorCode !== undefined && { 'error.type': errorCode }),
        });
        if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      done();
    });
  });
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.resumeTrace === undefined) done();
    else request.resumeTrace(done);
  });
}
