/**
 * Prevents new members on the prototypes that every value inherits from. If a library can be tricked into
 * writing to one (prototype pollution, by which one caller's request reaches all others), the write fails.
 * Existing members stay writable: frozen ones could not be overridden by assignment in inheriting objects
 * (`error.toString = …`), which libraries do.
 */
export function sealIntrinsics(realm: Pick<typeof globalThis, 'Object' | 'Array' | 'Function'>): void {
  for (const { prototype } of [realm.Object, realm.Array, realm.Function]) {
    realm.Object.preventExtensions(prototype);
  }
}
