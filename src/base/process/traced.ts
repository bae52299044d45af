/**
 * Describes the work of a request, job or script as OpenTelemetry spans. Until `startTracing` has set it up,
 * which needs a setting, every function here is a no-op.
 *
 * The current span is not passed along; it follows the calls (`AsyncLocalStorage`). A callback from an
 * emitter that is older than the request does not follow them and must be wrapped (`withinTrace`).
 */
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** `traceparent` and `tracestate`, as W3C Trace Context defines them; empty if there is no span. */
export type TraceHeaders = Readonly<Record<string, string>>;

/** A piece of work, and the span that describes it. */
export interface Traced {
  /** Has few distinct values: the kind of work, not its instance. */
  readonly name: string;
  readonly kind: 'server' | 'consumer' | 'client' | 'internal';
  readonly attributes: Attributes;
}

const KINDS = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/** Runs the work as a child of the current span. Without one, no span is recorded. */
export async function inSpan<T>(traced: Traced, work: () => Promise<T>): Promise<T> {
  if (trace.getActiveSpan() === undefined) return await work();
  return await runIn(startSpan(traced), work);
}

/** Runs the work as a child of the span the sender's headers name, or as the root of a trace. */
export async function inTraceOf<T>(sent: TraceHeaders, traced: Traced, work: () => Promise<T>): Promise<T> {
  return await runIn(startSpan(traced, propagation.extract(ROOT_CONTEXT, sent)), work);
}

/**
 * Opens a span that the caller ends later, e.g. for a request that ends by an event. `begin` is called within
 * it.
 */
export function beginTraceOf(sent: TraceHeaders, traced: Traced, begin: () => void): Span {
  const span = startSpan(traced, propagation.extract(ROOT_CONTEXT, sent));
  context.with(trace.setSpan(ROOT_CONTEXT, span), begin);
  return span;
}

/** Binds a function to the current span, wherever it is called from later. */
export function withinTrace<Arguments extends unknown[], Result>(
  work: (...parameters: Arguments) => Result,
): (...parameters: Arguments) => Result {
  return trace.getActiveSpan() === undefined ? work : context.bind(context.active(), work);
}

/** Records a span for work that has ended, if there is a current span. */
export function noteSpan(
  traced: Traced,
  ended: { readonly startedAt: number; readonly error: unknown },
): void {
  const span = startSpan(traced, context.active(), ended.startedAt);
  if (ended.error !== undefined) noteFault(span, ended.error);
  span.end();
}

export function isTraced(): boolean {
  return trace.getActiveSpan() !== undefined;
}

/** The headers that make the receiver's work a child of the current span. */
export function traceHeaders(): TraceHeaders {
  const headers: Record<string, string> = {};
  if (isTraced()) propagation.inject(context.active(), headers);
  return headers;
}

/** The ids by which a log line refers to its trace. */
export function traceOfLogLine(): { readonly traceId?: string; readonly spanId?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { traceId: span.traceId, spanId: span.spanId };
}

function startSpan(traced: Traced, parent = context.active(), startTime?: number): Span {
  const { name, kind, attributes } = traced;
  const options = { kind: KINDS[kind], attributes, ...(startTime !== undefined && { startTime }) };
  return trace.getTracer('campus-gateway').startSpan(name, options, parent);
}

async function runIn<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    noteFault(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Records only the kind of the error: its message may contain what a caller sent. */
function noteFault(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  span.setAttribute('error.type', code ?? (error instanceof Error ? error.name : 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
