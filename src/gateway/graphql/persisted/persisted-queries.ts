/**
 * Automatic persisted queries: a client sends the hash of a document, and its text only if the hash is
 * unknown. Kept in memory; the least recently used are evicted, and clients send them again.
 *
 * @see https://www.apollographql.com/docs/apollo-server/performance/apq
 */
import type { PersistedQueryOptions } from '@apollo/server';
import { LRUCache } from 'lru-cache';

/** Apollo's prefix of each hash. */
const PREFIX = 'apq:';

export class PersistedQueries {
  readonly #texts: LRUCache<string, string>;

  /** `maxLength` is the total number of characters. */
  constructor(options: { readonly maxLength: number }) {
    this.#texts = new LRUCache({
      maxSize: options.maxLength,
      sizeCalculation: (text, hash) => text.length + hash.length,
    });
  }

  /** The text with this SHA-256, which Apollo verified when the text was sent. */
  find(hash: string): string | undefined {
    return this.#texts.get(hash);
  }

  /** The same store, in the form Apollo uses. */
  get cache(): NonNullable<PersistedQueryOptions['cache']> {
    return {
      get: async (key) => this.#texts.get(hashOf(key)),
      set: async (key, text) => {
        this.#texts.set(hashOf(key), text);
      },
      delete: async (key) => this.#texts.delete(hashOf(key)),
    };
  }
}

function hashOf(key: string): string {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : key;
}
