/** Removes records that are locked by a transaction. */
import type { Transaction } from '../database/queryable.js';
import { STORED_COLUMNS, type StoredRow } from '../reading/stored-record.js';
import { deleteRecords } from './matched-change.js';
import type { RecordEnvironment } from './record-environment.js';
import type { WriteContext } from './record-statements.js';

/** Turns the records into tombstones, and returns their last state. */
export async function deleteLocked(
  environment: RecordEnvironment,
  transaction: Transaction,
  context: WriteContext,
  ids: readonly string[],
): Promise<readonly StoredRow[]> {
  return await environment.write<StoredRow>(context, {
    ...{ within: transaction, operation: 'delete' as const, columns: STORED_COLUMNS, caller: context.scope },
    statement: (placed) => deleteRecords(placed, ids),
  });
}
