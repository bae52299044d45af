/** Work that is done as a whole or not at all, whether it has a transaction of its own or is part of one. */
import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { findConstraint } from '../database/database-errors.js';
import type { NewRecord } from './record-statements.js';
import { uniqueConflict } from './unique-conflicts.js';
import type { Writes, WriteTriggers } from './write-triggers.js';

export interface AtomicOptions {
  /** The transaction it is part of. Default: its own. */
  readonly within?: Transaction | undefined;
  /** The collections it writes to. */
  readonly writes: Writes;
}

/**
 * Runs the work in a transaction of its own, again when that waited for others in a circle, or, `within`
 * another, so that it leaves nothing behind when it fails and that other goes on. A unique index in its way
 * is explained when the work is undone: until then Postgres answers nothing more. What its writes ask has a
 * place before the transaction has a connection.
 *
 * @throws UNAVAILABLE also when there is no such place
 */
export async function atomically<T>(
  { database, triggers }: { readonly database: Database; readonly triggers: WriteTriggers },
  scope: Scope,
  { within, writes }: AtomicOptions,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  if (within !== undefined) return await inSavepoint(within, work);
  const place = await triggers.reserve(scope, writes);
  if (place === undefined) return await inOwnTransaction(database, work);
  try {
    return await inOwnTransaction(database, (transaction) => work({ ...transaction, reserved: place }));
  } finally {
    place.giveBack();
  }
}

/**
 * Work that starts no scripts, in a transaction of its own, done again when that waited for others in a
 * circle.
 */
export async function inOwnTransaction<T>(
  database: Pick<Database, 'query' | 'transaction' | 'turns'>,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await database.turns.take(() => database.transaction(work));
  } catch (error) {
    throw await explained(error, database);
  }
}

/** Thrown inside the work instead of what Postgres said. */
export class RefusedByIndex extends Error {
  constructor(
    readonly attempt: {
      readonly scope: Scope;
      readonly collection: Collection;
      readonly records: readonly NewRecord[];
      readonly verb: 'create' | 'update';
    },
    override readonly cause: unknown,
  ) {
    super('a unique index refused a write', { cause });
  }
}

/** Runs a statement that writes these records. @throws RefusedByIndex */
export async function refusedByIndex<T>(
  attempt: RefusedByIndex['attempt'],
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw findConstraint(cause) === undefined ? cause : new RefusedByIndex(attempt, cause);
  }
}

/** Runs work that tells what a write would come to, and takes all back that it wrote. */
export async function rehearse<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  await transaction.query(Prisma.sql`savepoint rehearsal`);
  const result = await work();
  await transaction.query(Prisma.sql`rollback to savepoint rehearsal`);
  await transaction.query(Prisma.sql`release savepoint rehearsal`);
  return result;
}

async function inSavepoint<T>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  await transaction.query(Prisma.sql`savepoint part_of_all`);
  try {
    const result = await work(transaction);
    await transaction.query(Prisma.sql`release savepoint part_of_all`);
    return result;
  } catch (error) {
    await transaction.query(Prisma.sql`rollback to savepoint part_of_all`);
    throw await explained(error, transaction);
  }
}

async function explained(error: unknown, queryable: Queryable): Promise<unknown> {
  if (!(error instanceof RefusedByIndex)) return error;
  return await uniqueConflict(queryable, { ...error.attempt, cause: error.cause });
}
