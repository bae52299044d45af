/** Notifies followers of each change of an import, whichever gateway works on it. */

import type { Database } from '../../store/database/database.js';
import { RepeatedWork } from '../../store/database/repeated-work.js';
import { sql } from '../../store/sql.js';
import { findImport, IMPORTS_CHANNEL, type StoredImport } from './stored-import.js';

interface ImportNewsOptions {
  readonly database: Pick<Database, 'query' | 'listen'>;
  /** Called once per outage, and for a listener that throws. */
  readonly onFault: (error: unknown) => void;
}

type ImportListener = (changed: StoredImport) => void;

/** The shortest interval between two reads of an import that writes many small batches. */
const INTERVAL_MS = 200;
/** Announcements this long before a gap was noticed may have been lost with the connection. */
const UNNOTICED_MS = 10_000;

/**
 * Imports are read one after the other, so that no state of an import is reported after a newer one. Of
 * several changes within a moment, only the last is reported.
 */
export class ImportNews {
  readonly #options: ImportNewsOptions;
  readonly #listeners = new Set<ImportListener>();
  /** The ids of the imports to read next. */
  readonly #changed = new Set<string>();
  readonly #reads: RepeatedWork;
  #gapSince: number | undefined;
  #stopHearing = async (): Promise<void> => {};

  private constructor(options: ImportNewsOptions) {
    this.#options = options;
    const { onFault } = options;
    this.#reads = new RepeatedWork({ work: () => this.#read(), leastRestMs: INTERVAL_MS, onFault });
  }

  /** Hears of every later change. The caller closes it. */
  static async open(options: ImportNewsOptions): Promise<ImportNews> {
    const news = new ImportNews(options);
    news.#stopHearing = await options.database.listen(
      IMPORTS_CHANNEL,
      (id) => news.look(id),
      () => news.#noticeGap(),
    );
    return news;
  }

  /** Calls the listener until the returned function is called; it must be quick and bound its memory. */
  follow(listen: ImportListener): () => void {
    this.#listeners.add(listen);
    return () => void this.#listeners.delete(listen);
  }

  /** Notifies all followers of the present state of the import. */
  look(id: string): void {
    if (this.#listeners.size === 0) return;
    this.#changed.add(id);
    this.#reads.wake();
  }

  /** No listener is called afterwards. */
  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#stopHearing();
    await this.#reads.close();
  }

  /** The connection was lost or is back: reads all imports that have changed since. */
  #noticeGap(): void {
    if (this.#listeners.size === 0) return;
    this.#gapSince ??= performance.now() - UNNOTICED_MS;
    this.#reads.wake();
  }

  async #read(): Promise<void> {
    const { database, onFault } = this.#options;
    const since = this.#gapSince;
    if (since !== undefined) {
      for (const id of await listChanged(database, performance.now() - since)) this.#changed.add(id);
      this.#gapSince = undefined;
    }
    for (const id of [...this.#changed]) {
      // A change from here on is announced again.
      this.#changed.delete(id);
      const one = await findImport(database, id).catch((error: unknown) => {
        this.#changed.add(id);
        throw error;
      });
      if (one === undefined) continue;
      for (const listen of this.#listeners) {
        try {
          listen(one);
        } catch (error) {
          onFault(error);
        }
      }
    }
  }
}

/** By the clock of the database, which need not be that of this machine. */
async function listChanged(database: Pick<Database, 'query'>, ageMs: number): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(sql`
    select i.id
    from imports i
    where i.updated_at > now() - make_interval(secs => ${ageMs / 1000}::float8)
    order by i.id`);
  return rows.map(({ id }) => id);
}
