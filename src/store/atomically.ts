/** Work that is done as a whole or not at all, whether it has a transaction of its own or is part of one. */
import { isNativeError } from 'node:util/types';
import { Prisma } from '../generated/prisma/client.js';
import type { Collection } from './collection.js';
import type { Database, Transaction } from './database/database.js';
import { findConstraint } from './database/database-errors.js';
import type { NewRecord } from './record-statements.js';
import type { Scope } from './scope.js';
import { uniqueConflict } from './unique-conflicts.js';

/** Two writes that each wait for the other: Postgres ends one, and it is tried so often in all. */
const MAX_ATTEMPTS = 5;
const WAITED_IN_A_CIRCLE: ReadonlySet<string> = new Set(['40P01', '40001']);

/**
 * Runs the work in a transaction of its own, or, `within` another, so that it leaves nothing behind when it fails and that other
 * goes on. A unique index in its way is explained when the work is undone: until then Postgres answers nothing more.
 */
export async function atomically<T>(
  database: Database,
  within: Transaction | undefined,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  if (within !== undefined) return await inSavepoint(within, work);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (attempt < MAX_ATTEMPTS && waitedInACircle(error)) continue;
      throw await explained(error, database);
    }
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

async function explained(error: unknown, queryable: Database | Transaction): Promise<unknown> {
  if (!(error instanceof RefusedByIndex)) return error;
  return await uniqueConflict(queryable, { ...error.attempt, cause: error.cause });
}

function waitedInACircle(error: unknown): boolean {
  if (!isNativeError(error) || !isNativeError(error.cause)) return false;
  return 'code' in error.cause && WAITED_IN_A_CIRCLE.has(String(error.cause.code));
}
