/**
 * Takes no new members on the prototypes that every value inherits from: a library that is talked into
 * writing to one, which is how a request of one caller reaches into those of all others, fails at the write.
 * Their own members stay writable: frozen ones could not be overridden by assignment in objects that inherit
 * them (`error.toString = …`), which libraries do.
 */
export function sealIntrinsics(realm: Pick<typeof globalThis, 'Object' | 'Array' | 'Function'>): void {
  for (const { prototype } of [realm.Object, realm.Array, realm.Function]) {
    realm.Object.preventExtensions(prototype);
  }
}
