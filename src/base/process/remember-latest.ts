/** Caches the results of a pure function for its latest texts. */
import { LRUCache } from 'lru-cache';

/** Longer texts are computed each time: callers choose them, and a few would fill the memory. */
const MAX_TEXT_LENGTH = 1_000;

/** The same function, which computes the result for one of the `count` latest texts once. */
export function rememberLatest<Value>(
  compute: (text: string) => Value,
  count: number,
): (text: string) => Value {
  const latest = new LRUCache<string, { readonly value: Value }>({
    max: count,
    memoMethod: (text) => ({ value: compute(text) }),
  });
  return (text) => (text.length > MAX_TEXT_LENGTH ? compute(text) : latest.memo(text).value);
}
