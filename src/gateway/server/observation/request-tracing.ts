import { SpanStatusCode } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { beginTraceOf, type TraceHeaders, withinTrace } from '../../../base/process/traced.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Continues within the span of the request, which the events of a body have left. */
    resumeTrace: ((next: () => void) => void) | undefined;
  }
}

/**
 * Runs each traced request in a span of its own. Must be registered before all other hooks.
 */
export function useRequestTracing(app: FastifyInstance, perSecond: number): void {
  const isTraced = limitTraces(perSecond);
  app.decorateRequest('resumeTrace');
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent, tracestate } = request.headers;
    const parent = typeof traceparent === 'string' ? traceparent : undefined;
    if (!isTraced(parent)) {
      done();
      return;
    }
    const method = USUAL_METHODS.has(request.method) ? request.method : '_OTHER';
    const route = request.routeOptions.url;
    const sent: TraceHeaders = {
      ...(parent !== undefined && { traceparent: parent }),
      ...(typeof tracestate === 'string' && { tracestate }),
    };
    const attributes = {
      'http.request.method': method,
      ...(route !== undefined && { 'http.route': route }),
      'url.scheme': request.protocol,
      'network.protocol.version': request.raw.httpVersion,
      'campus.request_id': request.id,
    };
    // The name follows https://opentelemetry.io/docs/specs/semconv/http/http-spans/.
    const name = [method === '_OTHER' ? 'HTTP' : method, route ?? []].flat().join(' ');
    const span = beginTraceOf(sent, { name, kind: 'server', attributes }, () => {
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

/** Other methods are words of the caller. */
const USUAL_METHODS: ReadonlySet<string> = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'],
]);

/** Matches a `traceparent` whose sender does not want the trace sampled: the last bit of the flags is 0. */
const UNSAMPLED = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f][02468ace]/;

/** Unused allowance is kept for this long. */
const SAVED_SECONDS = 10;

/**
 * Decides which requests are traced: a limited number a second, and ten times as many at once after a pause,
 * including requests with a `traceparent`. Tracing costs more than reading a record, and a caller could
 * request it every time.
 *
 * `now` is in milliseconds.
 */
export function limitTraces(
  perSecond: number,
  now: () => number = () => performance.now(),
): (traceparent: string | undefined) => boolean {
  const most = perSecond * SAVED_SECONDS;
  let left = most;
  let at = now();
  return (traceparent) => {
    if (traceparent !== undefined && UNSAMPLED.test(traceparent)) return false;
    const moment = now();
    left = Math.min(most, left + ((moment - at) / 1000) * perSecond);
    at = moment;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
