/**
 * What a request, a job or a script does, told as spans of OpenTelemetry. Until `startTracing` has set it up,
 * which it does where a setting says to whom, nothing here does anything: there is no span to be within.
 *
 * Which span is under way is not passed along, but follows the calls (`AsyncLocalStorage`). What is called by
 * an event of something older than the request has to be told (`withinTrace`).
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

/** `traceparent` and `tracestate`, as W3C Trace Context writes them; none: there is no span. */
export type TraceHeaders = Readonly<Record<string, string>>;

/** A piece of work and what is told of it. */
export interface Traced {
  /** Few values: what work of this kind is, not which one it is. */
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

/** Runs the work as a part of what is under way; on its own, it is not told of. */
export async function inSpan<T>(traced: Traced, work: () => Promise<T>): Promise<T> {
  if (trace.getActiveSpan() === undefined) return await work();
  return await runIn(startSpan(traced), work);
}

/** Runs the work as what the sender of the headers has asked for, or as the begin of a trace. */
export async function inTraceOf<T>(sent: TraceHeaders, traced: Traced, work: () => Promise<T>): Promise<T> {
  return await runIn(startSpan(traced, propagation.extract(ROOT_CONTEXT, sent)), work);
}

/** A span that somebody else ends, as of a request whose end is an event; `begin` is called within it. */
export function beginTraceOf(sent: TraceHeaders, traced: Traced, begin: () => void): Span {
  const span = startSpan(traced, propagation.extract(ROOT_CONTEXT, sent));
  context.with(trace.setSpan(ROOT_CONTEXT, span), begin);
  return span;
}

/** The work as it is, but within the span that is under way now, from wherever it is called. */
export function withinTrace<Arguments extends unknown[], Result>(
  work: (...parameters: Arguments) => Result,
): (...parameters: Arguments) => Result {
  return trace.getActiveSpan() === undefined ? work : context.bind(context.active(), work);
}

/** Tells of work that has ended, where it is a part of something. */
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

/** What makes the work of whoever gets them a part of what is under way. */
export function traceHeaders(): TraceHeaders {
  const headers: Record<string, string> = {};
  if (isTraced()) propagation.inject(context.active(), headers);
  return headers;
}

/** What a line of the log is found by. */
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

/** The kind of the error alone: its words may hold what a caller sent. */
function noteFault(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  span.setAttribute('error.type', code ?? (error instanceof Error ? error.name : 'unknown'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
