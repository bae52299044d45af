/** Runs a statement that writes records, in a transaction or on its own. */

import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { findConstraint } from '../database/database-errors.js';
import type { Transaction } from '../database/queryable.js';
import { sql } from '../sql.js';
import type { RecordEnvironment } from './record-environment.js';
import type { NewRecord } from './record-statements.js';
import { uniqueConflict } from './unique-conflicts.js';

/** The records that a statement writes. */
export interface WriteAttempt {
  readonly scope: Scope;
  readonly collection: Collection;
  readonly records: readonly NewRecord[];
  readonly verb: 'create' | 'update';
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
    const written = await run();
    // A write within a transaction is announced after the commit.
    const changed = written.length === 0 ? [] : attempt.records;
    if (within === undefined) environment.announceCommit(attempt.scope, attempt.collection, changed);
    return written;
  } catch (cause) {
    if (findConstraint(cause) === undefined) throw cause;
    await within?.query(sql`rollback to savepoint record_write`);
    const isRouted = environment.database.home !== undefined;
    throw await uniqueConflict(within ?? environment.database, { ...attempt, cause, isRouted });
  }
}
