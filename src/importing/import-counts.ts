/** What became of the rows of a file, counted. */
import type { StagedOutcome } from '../store/writing/staged-writes.js';
import type { PreparedRows, RefusedRow } from './preparing/row-preparer.js';

export interface ImportCounts {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly same: number;
  readonly refused: number;
  /** Of records that the file does not have. */
  readonly removed: number;
}

export const NO_COUNTS: ImportCounts = { rows: 0, created: 0, updated: 0, same: 0, refused: 0, removed: 0 };

export interface PreviewedRow {
  readonly number: number;
  readonly outcome: 'create' | 'update' | 'same' | 'error';
  /** Of an update: the fields that would be another. */
  readonly fields?: readonly string[] | undefined;
  /** Of an update, and of a row that is the same: the record that is there. */
  readonly recordId?: string | undefined;
}

export function addCounts(
  counts: ImportCounts,
  batch: Pick<PreparedRows, 'rows'>,
  outcome: Pick<StagedOutcome, 'created' | 'updated' | 'same'>,
  refused: readonly RefusedRow[],
): ImportCounts {
  return {
    ...counts,
    rows: counts.rows + batch.rows,
    created: counts.created + outcome.created.length,
    updated: counts.updated + outcome.updated.length,
    same: counts.same + outcome.same,
    refused: counts.refused + refused.length,
  };
}

/** In how many records each field is another. */
export function addFields(
  fields: Readonly<Record<string, number>>,
  { updated }: Pick<StagedOutcome, 'updated'>,
): Readonly<Record<string, number>> {
  const counts = new Map(Object.entries(fields));
  for (const { fields: changed } of updated) {
    for (const name of changed) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
