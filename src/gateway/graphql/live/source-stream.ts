/** The event stream of an operation, for graphql-ws. */
import { createSourceEventStream, type ExecutionArgs } from 'graphql';
import { EventQueue } from './event-queue.js';
import type { PrintedResult } from './printed-result.js';

/** graphql-js coerces the arguments and calls the field's `subscribe`; its events are results already. */
export async function openSourceStream(args: ExecutionArgs): Promise<AsyncIterable<PrintedResult>> {
  const stream = await createSourceEventStream(args);
  if (isQueue(stream)) return stream;
  const [error] = 'errors' in stream ? (stream.errors ?? []) : [];
  return failed(error ?? new Error('a subscription gave no events'));
}

function isQueue(stream: unknown): stream is EventQueue {
  return stream instanceof EventQueue;
}

/** Makes graphql-ws send an error message; a result with errors would look like an event. */
function failed(error: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}
