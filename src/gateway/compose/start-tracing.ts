/** The exporter of spans, loaded only if a setting names a collector. */
import { type Context, context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { VERSION } from '../../base/process/version.js';

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

/** The context no longer tracks a span that is open for longer, such as a request that receives live data. */
const LONGEST_MS = 5 * 60_000;

/**
 * Tracks the current span, but only while a span is open. Until Node 22, tracking means a hook on every
 * promise of the process, which makes a short read half as expensive again whether it is traced or not. From
 * Node 24 on the engine itself carries the context, at no measurable cost, and work begun within a span still
 * knows the span after its end.
 */
export class TraceContext extends AsyncLocalStorageContextManager {
  /** When each open span began, the oldest first. */
  readonly #open = new Map<string, number>();

  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    work: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    try {
      return super.with(active, work, thisArg, ...args);
    } finally {
      this.#restWhereIdle();
    }
  }

  /** A span processor that must receive every span. */
  get watch(): SpanProcessor {
    return {
      onStart: (span) => {
        this.#open.set(span.spanContext().spanId, performance.now());
      },
      onEnd: (span: ReadableSpan) => {
        this.#open.delete(span.spanContext().spanId);
        this.#restWhereIdle();
      },
      forceFlush: async () => {},
      shutdown: async () => {},
    };
  }

  #restWhereIdle(): void {
    const longAgo = performance.now() - LONGEST_MS;
    for (const [span, startedAt] of this.#open) {
      if (startedAt > longAgo) return;
      this.#open.delete(span);
    }
    this.disable();
  }
}
