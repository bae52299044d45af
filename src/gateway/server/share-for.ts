/**
 * Returns a function that calls `compute` at most once in `forMs`, and gives all callers the same result or
 * failure.
 */
export function shareFor<T>(forMs: number, compute: () => Promise<T>): () => Promise<T> {
  let shared: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (shared !== undefined && performance.now() < until) return shared;
    const startedAt = performance.now();
    // A result under way is shared however long it takes.
    until = Number.POSITIVE_INFINITY;
    shared = compute().finally(() => {
      until = startedAt + forMs;
    });
    return shared;
  };
}
