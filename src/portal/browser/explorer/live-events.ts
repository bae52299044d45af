/**
 * The events of the subscription that runs, the newest first: GraphiQL shows each in the place of the one
 * before.
 */
import type { ExecutionResult } from 'graphql';
import { ObservableValue } from '../session/observable-value';

/** Older ones are let go. */
const MOST_EVENTS = 500;

export const liveEvents = new ObservableValue<readonly ExecutionResult[]>([]);

/**
 * Notes what passes through. What it wraps ends when this is ended, an event that is waited for included.
 */
export function noteEvents(
  source: AsyncIterableIterator<ExecutionResult>,
): AsyncIterableIterator<ExecutionResult> {
  liveEvents.set([]);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const step = await source.next().catch((fault: unknown) => {
        throw toError(fault);
      });
      if (!step.done) liveEvents.set([step.value, ...liveEvents.get()].slice(0, MOST_EVENTS));
      return step;
    },
    async return() {
      return (await source.return?.()) ?? { done: true, value: undefined };
    },
  };
}

/** Gathers the events in one answer: under each field stands the list of its events. */
export function dataOfEvents(events: readonly ExecutionResult[]): Readonly<Record<string, unknown>> {
  const names = new Set(events.flatMap(({ data }) => Object.keys(data ?? {})));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      events.map(({ data }) => data?.[name]).filter((event) => event !== null),
    ]),
  );
}

/** A refused subscription is a list of errors; a connection that was closed is an event with a reason. */
function toError(fault: unknown): unknown {
  if (Array.isArray(fault)) return new Error(fault.map(({ message }) => message).join(' '));
  if (!(fault instanceof CloseEvent)) return fault;
  const reason = fault.reason === '' ? `code ${fault.code}` : fault.reason;
  return new Error(`The live connection was closed: ${reason}. Run the operation once more to go on.`);
}
