/**
 * Automatic persisted queries: a client sends the hash of a document, and its text only when told that nobody
 * knows the hash. Kept in memory, the least used forgotten first: what is forgotten is sent again.
 *
 * @see https://www.apollographql.com/docs/apollo-server/performance/apq
 */
import type { PersistedQueryOptions } from '@apollo/server';
import { LRUCache } from 'lru-cache';

/** What Apollo puts before each hash. */
const PREFIX = 'apq:';

export class PersistedQueries {
  readonly #texts: LRUCache<string, string>;

  /** `maxLength`: characters of all texts together. */
  constructor(options: { readonly maxLength: number }) {
    this.#texts = new LRUCache({
      maxSize: options.maxLength,
      sizeCalculation: (text, hash) => text.length + hash.length,
    });
  }

  /** The text whose SHA-256 this is. Apollo has checked that when it was sent. */
  find(hash: string): string | undefined {
    return this.#texts.get(hash);
  }

  /** The same, as Apollo reads and fills it. */
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
