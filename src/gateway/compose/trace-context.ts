import type { Context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';

/** A span open for longer, such as a request that receives live data, is no longer followed. */
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
    context: Context,
    work: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    try {
      return super.with(context, work, thisArg, ...args);
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
