/** The value under the key; where there is none, `make` makes the one that is then kept. */
export function getOrMake<Key, Value>(
  known: { get(key: Key): NoInfer<Value> | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const value = known.get(key);
  if (value !== undefined) return value;
  const made = make();
  known.set(key, made);
  return made;
}
