/** A slow report does not hold up the rest of the page for longer. */
const LONGEST_WAIT_MS = 3_000;

/** The operations of the page, some of which wait for their answers. */
export interface Answering {
  isWaiting(): boolean;
  /** Calls the listener after every change. Returns a function that ends this. */
  subscribe(listener: () => void): () => void;
}

/** Calls `then` once no operation waits for its answer, at the latest after `longestWaitMs`. */
export function whenAnswered(operations: Answering, then: () => void, longestWaitMs = LONGEST_WAIT_MS): void {
  if (!operations.isWaiting()) {
    then();
    return;
  }
  const timer = setTimeout(finish, longestWaitMs);
  const unsubscribe = operations.subscribe(() => {
    if (!operations.isWaiting()) finish();
  });

  function finish(): void {
    clearTimeout(timer);
    unsubscribe();
    then();
  }
}
