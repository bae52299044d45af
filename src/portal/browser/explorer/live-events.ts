/** The events of the running subscription, the newest first. GraphiQL itself shows only the last one. */
import type { ExecutionResult } from 'graphql';
import { ObservableValue } from '../session/observable-value';

/** Older events are dropped. */
const MOST_EVENTS = 500;

export const liveEvents = new ObservableValue<readonly ExecutionResult[]>([]);

/** Records the events that pass through. Ending the result ends its source, including a pending event. */
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

/** Combines the events in one answer: each field has the list of its events. */
export function dataOfEvents(events: readonly ExecutionResult[]): Readonly<Record<string, unknown>> {
  const names = new Set(events.flatMap(({ data }) => Object.keys(data ?? {})));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      events.map(({ data }) => data?.[name]).filter((event) => event !== null),
    ]),
  );
}

/** A rejected subscription is a list of errors, and a closed connection an event with a reason. */
function toError(fault: unknown): unknown {
  if (Array.isArray(fault)) return new Error(fault.map(({ message }) => message).join(' '));
  if (!(fault instanceof CloseEvent)) return fault;
  const reason = fault.reason === '' ? `code ${fault.code}` : fault.reason;
  return new Error(`The live connection was closed: ${reason}. Run the operation once more to go on.`);
}
