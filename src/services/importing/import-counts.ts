/** Counts of the outcomes of the rows of a file. */
import type { StagedFieldChange } from '../../store/writing/staged-work.js';
import type { StagedOutcome } from '../../store/writing/staged-writes.js';
import type { PreparedRows, RefusedRow } from './preparing/row-preparer.js';

export interface ImportCounts {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly same: number;
  readonly refused: number;
  /** Records that were removed because the file does not have them. */
  readonly removed: number;
}

export const NO_COUNTS: ImportCounts = { rows: 0, created: 0, updated: 0, same: 0, refused: 0, removed: 0 };

export interface PreviewedRow {
  readonly number: number;
  readonly outcome: 'create' | 'update' | 'same' | 'error';
  /** For an update: the fields that would change. */
  readonly fields?: readonly string[] | undefined;
  /** For an update: the old and the new value of each field that the caller may read. */
  readonly changes?: readonly StagedFieldChange[] | undefined;
  /** For an update, and for a row without a change: the existing record. */
  readonly recordId?: string | undefined;
  /** The label that the row gives its record. */
  readonly label?: string | undefined;
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

/** In how many records each field changes. */
export function addFields(
  fields: Readonly<Record<string, number>>,
  { updated }: Pick<StagedOutcome, 'updated'>,
): Readonly<Record<string, number>> {
  return withNames(
    fields,
    updated.flatMap((one) => one.fields),
  );
}

/** In how many records each field loses a value that it has. */
export function addOverwritten(
  fields: Readonly<Record<string, number>>,
  { updated }: Pick<StagedOutcome, 'updated'>,
): Readonly<Record<string, number>> {
  const lost = updated.flatMap(({ changes = [] }) =>
    changes.flatMap(({ field, before }) => (isNothing(before) ? [] : [field])),
  );
  return withNames(fields, lost);
}

function isNothing(value: StagedFieldChange['before']): boolean {
  return value === undefined || value === null || value === '';
}

function withNames(
  fields: Readonly<Record<string, number>>,
  names: readonly string[],
): Readonly<Record<string, number>> {
  const counts = new Map(Object.entries(fields));
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}
