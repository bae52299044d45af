/** The exporter of spans, loaded only if a setting names a collector. */
import { context, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { VERSION } from '../../base/process/version.js';
import { TraceContext } from './trace-context.js';

export interface Tracing {
  /** Sends the remaining spans, if the collector accepts them in time. */
  stop(): Promise<void>;
}

/** A collector that does not answer delays a stop by at most this long. */
const SEND_TIMEOUT_MS = 5_000;
const SEND_EVERY_MS = 2_000;

/** `endpoint` is the address of a collector for OTLP over HTTP, e.g. `http://localhost:4318`. */
export function startTracing(endpoint: string): Tracing {
  const contexts = new TraceContext();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'campus-gateway', 'service.version': VERSION }),
    spanProcessors: [
      contexts.watch,
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
          timeoutMillis: SEND_TIMEOUT_MS,
        }),
        exportTimeoutMillis: SEND_TIMEOUT_MS,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(contexts.enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return {
    async stop() {
      for (const api of [trace, context, propagation]) api.disable();
      await provider.shutdown().catch(() => undefined);
    },
  };
}
