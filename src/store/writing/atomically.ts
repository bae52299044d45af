/** Work that is done completely or not at all, in a transaction of its own or as part of another. */

import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { type RecordsOfScope } from '../access/access.js';
import type { BackgroundConnections, Database } from '../database/database.js';
import { findConstraint } from '../database/database-errors.js';
import type { Queryable, Transaction } from '../database/queryable.js';
import { sql } from '../sql.js';
import type { RecordEnvironment } from './record-environment.js';
import type { NewRecord } from './record-statements.js';
import { uniqueConflict } from './unique-conflicts.js';
import type { Writes, WriteTriggers } from './write-triggers.js';

export interface WriteOptions {
  /** The transaction to join. Default: a new one. */
  readonly within?: Transaction | undefined;
}

export interface AtomicOptions extends WriteOptions {
  /** The collections it writes to. */
  readonly writes: Writes;
}

/**
 * Runs the work in a transaction, and retries it after a deadlock. `within` another transaction it uses a
 * savepoint, so that a failure undoes only this work. A violated unique index is explained after the
 * rollback, because Postgres accepts no query before. The permit for `before` scripts is acquired before the
 * transaction takes a connection.
 *
 * @throws UNAVAILABLE, also if no such permit is free
 */
export async function atomically<T>(
  { database, triggers }: { readonly database: Database; readonly triggers: WriteTriggers },
  scope: Scope,
  { within, writes }: AtomicOptions,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  if (within !== undefined) return await inSavepoint(within, work);
  const reserved = await triggers.reserve(scope, writes);
  if (reserved === undefined) return await inOwnTransaction(database, work);
  try {
    return await inOwnTransaction(database, (transaction) => work({ ...transaction, reserved }));
  } finally {
    reserved.permit.release();
  }
}

/** Runs work that starts no scripts in a transaction of its own, and retries it after a deadlock. */
export async function inOwnTransaction<T>(
  database: BackgroundConnections,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await database.deadlocks.run(() => database.transaction(work));
  } catch (error) {
    throw await explained(error, database);
  }
}

/** The records that a statement writes. */
interface WriteAttempt extends RecordsOfScope {
  readonly records: readonly NewRecord[];
  readonly verb: 'create' | 'update';
}

/** Replaces Postgres's error within the work. `isRouted`: Citus plans statements of the transaction. */
class RefusedByIndex extends Error {
  constructor(
    readonly attempt: WriteAttempt & { readonly isRouted: boolean },
    override readonly cause: unknown,
  ) {
    super('a unique index refused a write', { cause });
  }
}

/** Runs a statement that writes these records. @throws RefusedByIndex */
export async function refusedByIndex<T>(
  { isRouted }: Pick<RecordEnvironment, 'isRouted'>,
  attempt: WriteAttempt,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    if (findConstraint(cause) === undefined) throw cause;
    throw new RefusedByIndex({ ...attempt, isRouted }, cause);
  }
}

/** Runs work to find out the effect of a write, and rolls everything back. */
export async function rehearse<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  await transaction.query(sql`savepoint rehearsal`);
  const result = await work();
  await transaction.query(sql`rollback to savepoint rehearsal`);
  await transaction.query(sql`release savepoint rehearsal`);
  return result;
}

async function inSavepoint<T>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  await transaction.query(sql`savepoint part_of_all`);
  try {
    const result = await work(transaction);
    await transaction.query(sql`release savepoint part_of_all`);
    return result;
  } catch (error) {
    await transaction.query(sql`rollback to savepoint part_of_all`);
    throw await explained(error, transaction);
  }
}

/** The error that a caller gets: for a value that a unique index refused, a conflict that names it. */
export async function explained(error: unknown, queryable: Queryable): Promise<unknown> {
  if (!(error instanceof RefusedByIndex)) return error;
  return await uniqueConflict(queryable, { ...error.attempt, cause: error.cause });
}

/**
 * Runs a write and translates its conflict. Within a transaction it rolls back to a savepoint, so that the
 * transaction can go on.
 */
export async function runWrite<Row extends object>(
  environment: RecordEnvironment,
  within: Transaction | undefined,
  run: () => Promise<Row[]>,
  attempt: WriteAttempt,
): Promise<Row[]> {
  await within?.query(sql`savepoint record_write`);
  try {
    const written = await refusedByIndex(environment, attempt, run);
    // A write within a transaction is announced after the commit.
    const changed = written.length === 0 ? [] : attempt.records;
    if (within === undefined) environment.announceCommit(attempt.scope, attempt.collection, changed);
    return written;
  } catch (fault) {
    if (fault instanceof RefusedByIndex) await within?.query(sql`rollback to savepoint record_write`);
    throw await explained(fault, within ?? environment.database);
  }
}

/** How often a write is tried in whose way a concurrent new record comes. */
const MAX_UPSERTS = 3;

/** For a write that makes what it does not find. */
export async function retryingConflicts<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof ServiceError && error.code === 'CONFLICT';
      if (!isConflict || attempt === MAX_UPSERTS) throw error;
    }
  }
}
