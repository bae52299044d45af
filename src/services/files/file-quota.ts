import { ServiceError } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import { FairQueue } from '../../store/database/fair-queue.js';
import type { Queryable, Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import { usedBytes } from './stored-file.js';

/** The storage quota of a domain, including unfinished uploads. */
export class FileQuota {
  /** Queues uploads by domain, whose row is locked meanwhile. */
  readonly #line = new FairQueue({
    perCaller: 2,
    waitingPerCaller: 200,
    waitMs: 10_000,
    refusal: 'Too many uploads of this school are beginning or ending',
  });
  readonly #database: Database;
  readonly #bytes: number;

  constructor(database: Database, bytes: number) {
    this.#database = database;
    this.#bytes = bytes;
  }

  /** The remaining bytes. @throws LIMIT_EXCEEDED if fewer than `needed` remain */
  async assertLeft(domainId: string, needed: number, db: Queryable = this.#database): Promise<number> {
    const left = this.#bytes - (await usedBytes(db, domainId));
    if (left < needed) throw this.refusal();
    return left;
  }

  /** Runs work in a transaction during which no other file of the domain begins or ends. */
  async inTurn<T>(domainId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return await this.#line.run(domainId, () =>
      inOwnTransaction(this.#database, async (transaction) => {
        await transaction.query(sql`select 1 from domains where id = ${domainId} for no key update`);
        return await work(transaction);
      }),
    );
  }

  refusal(): ServiceError {
    return new ServiceError(
      'LIMIT_EXCEEDED',
      `The files of this school may have ${this.#bytes} bytes together (FILES_QUOTA_BYTES), and have.`,
    );
  }
}
