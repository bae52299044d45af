import type { Context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';

/** What is told of for longer, such as a request that live data is sent to, goes on without its parts. */
const LONGEST_MS = 5 * 60_000;

/**
 * Knows which span is under way, and follows calls only while one is. Up to Node 22 whatever follows calls is
 * told of every promise of the process: a short read costs half as much again, whether it is told of or not.
 * From Node 24 on the engine itself hands on what follows a call, at no cost that could be told, and what was
 * begun within a span still knows it when that has ended.
 */
export class TraceContext extends AsyncLocalStorageContextManager {
  /** When they began, the oldest first. */
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

  /** Is told of every span. */
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
