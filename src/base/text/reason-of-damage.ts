/**
 * Why a library cannot read a file, for the person who sent it. A damaged file may make the library's code
 * fail; the engine's words about that code ("Cannot read properties of undefined") explain nothing.
 */
export function reasonOfDamage(cause: unknown): string {
  const isOfEngine =
    cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError;
  if (isOfEngine || !(cause instanceof Error)) return 'its inner structure is not valid';
  return cause.message;
}
