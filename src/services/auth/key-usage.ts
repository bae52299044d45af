/** Records when an API key was last used, without delaying the request. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../store/database/database.js';
import { sql } from '../../store/sql.js';

const INTERVAL_MS = 60_000;

/**
 * Writes at most once a minute per key, whatever the number of gateways, so `lastUsedAt` may be a minute
 * behind.
 */
export class KeyUsage {
  readonly #database: Database;
  readonly #onFault: (error: unknown) => void;
  readonly #touchedAt = new LRUCache<string, number>({ max: 10_000 });
  readonly #writing = new Set<Promise<unknown>>();

  /** `onFault` receives failures to write; the request itself is not affected. */
  constructor(options: { readonly database: Database; readonly onFault: (error: unknown) => void }) {
    this.#database = options.database;
    this.#onFault = options.onFault;
  }

  /** Records a use of the key, and its address, in the background. */
  touch(keyId: string, address: string | undefined): void {
    const now = performance.now();
    if (now - (this.#touchedAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
    this.#touchedAt.set(keyId, now);
    const writing = this.#write(keyId, address)
      .catch((error: unknown) => {
        // The next use tries again.
        this.#touchedAt.delete(keyId);
        this.#onFault(error);
      })
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** Waits for pending writes. */
  async close(): Promise<void> {
    await Promise.all(this.#writing);
  }

  async #write(keyId: string, address: string | undefined): Promise<void> {
    await this.#database.background.query(
      sql`
        update api_keys
        set last_used_at = now(), last_used_address = ${address ?? null}
        where id = ${keyId}::uuid
          and (last_used_at is null or last_used_at <= now() - interval '59 seconds')`,
      { name: 'auth-key-usage' },
    );
  }
}
