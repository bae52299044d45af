/** What sends spans, loaded where a setting says to whom. */
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { VERSION } from '../version.js';

export interface TracingOptions {
  /** The address of a collector that takes OTLP over HTTP, e.g. `http://localhost:4318`. */
  readonly endpoint: string;
  /** How many of the traces that begin here are told of, from 0 to 1. A `traceparent` says it of its own. */
  readonly sampleRatio: number;
}

export interface Tracing {
  /** Sends what is not sent yet, as far as the collector takes it. */
  stop(): Promise<void>;
}

/** A collector that does not answer keeps a stop no longer than this. */
const SEND_TIMEOUT_MS = 5_000;
const SEND_EVERY_MS = 2_000;

export function startTracing({ endpoint, sampleRatio }: TracingOptions): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'campus-gateway', 'service.version': VERSION }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
          timeoutMillis: SEND_TIMEOUT_MS,
        }),
        exportTimeoutMillis: SEND_TIMEOUT_MS,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return {
    async stop() {
      for (const api of [trace, context, propagation]) api.disable();
      await provider.shutdown().catch(() => undefined);
    },
  };
}
