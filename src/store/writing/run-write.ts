/** How one statement that writes records is run, in a transaction or as one of its own. */
import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';
import type { Transaction } from '../database/database.js';
import { findConstraint } from '../database/database-errors.js';
import type { RecordEnvironment } from './record-environment.js';
import type { NewRecord } from './record-statements.js';
import { uniqueConflict } from './unique-conflicts.js';

/** Which records a statement writes. */
export interface WriteAttempt {
  readonly scope: Scope;
  readonly collection: Collection;
  readonly records: readonly NewRecord[];
  readonly verb: 'create' | 'update';
}

/**
 * Runs a write and translates its conflict; within a transaction, back to a savepoint, so that it can still
 * be asked.
 */
export async function runWrite<Row extends object>(
  environment: RecordEnvironment,
  within: Transaction | undefined,
  run: () => Promise<Row[]>,
  attempt: WriteAttempt,
): Promise<Row[]> {
  await within?.query(Prisma.sql`savepoint record_write`);
  try {
    const written = await run();
    // What a transaction did is not true yet: the announcement tells of it once it is.
    const changed = written.length === 0 ? [] : attempt.records;
    if (within === undefined) environment.tellOfCommit(attempt.scope, attempt.collection, changed);
    return written;
  } catch (cause) {
    if (findConstraint(cause) === undefined) throw cause;
    await within?.query(Prisma.sql`rollback to savepoint record_write`);
    throw await uniqueConflict(within ?? environment.database, { ...attempt, cause });
  }
}
