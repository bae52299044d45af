/** Caches the results of a pure function for its latest texts. */
import { LRUCache } from 'lru-cache';

/** Longer texts are computed each time: callers choose them, and a few would fill the memory. */
const MAX_TEXT_LENGTH = 1_000;

/** The same function, which computes the result for one of the `count` latest texts once. */
export function rememberLatest<Value>(
  compute: (text: string) => Value,
  count: number,
): (text: string) => Value {
  const latest = new LRUCache<string, { readonly value: Value }>({ max: count });
  return (text) => {
    if (text.length > MAX_TEXT_LENGTH) return compute(text);
    const known = latest.get(text);
    if (known !== undefined) return known.value;
    const value = compute(text);
    latest.set(text, { value });
    return value;
  };
}
