/** Reads all documents of a collection of MongoDB, and reports what becomes of them. */

import path from 'node:path';
import { AlterationCounts, type CountedAlteration } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import type { SourceFormat } from '../reading/row-source.js';

/** How many documents a collection has, which values are altered, and which documents have faults. */
export interface CollectionReport {
  readonly documents: number;
  readonly alterations: readonly CountedAlteration[];
  /** Alterations of kinds that are not listed, because there are too many kinds. */
  readonly unlistedAlterations: number;
  readonly faults: {
    readonly count: number;
    readonly samples: readonly { readonly number: number; readonly fault: string }[];
  };
}

const MAX_FAULTS = 20;
const MAX_KINDS = 1_000;

/**
 * Reads all documents of a file; `onProgress` gets the number of documents read.
 *
 * @throws MALFORMED_REQUEST, LIMIT_EXCEEDED for a file that cannot be read; the reason of the signal
 */
export async function surveyDocuments(
  file: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (documents: number) => void },
): Promise<{ readonly format: SourceFormat; readonly report: CollectionReport }> {
  const named = { path: file, name: path.basename(file) };
  const found = await openRowSource(named);
  // Plain JSON of mongoexport is extended JSON too: its `_id` is to be one of ours.
  const isJson = found.format === 'json' || found.format === 'ndjson';
  const source = isJson ? await openRowSource(named, { format: 'ejson' }) : found;
  const alterations = new AlterationCounts(MAX_KINDS);
  const samples: { readonly number: number; readonly fault: string }[] = [];
  let documents = 0;
  let faults = 0;
  for await (const rows of source.rows(signal)) {
    for (const { number, values, fault, alterations: altered = [] } of rows) {
      documents += 1;
      alterations.add(altered, typeof values._id === 'string' ? values._id : `document ${number}`);
      if (fault === undefined) continue;
      faults += 1;
      if (samples.length < MAX_FAULTS) samples.push({ number, fault });
    }
    onProgress(documents);
  }
  const report = {
    documents,
    alterations: alterations.list(),
    unlistedAlterations: alterations.unlisted,
    faults: { count: faults, samples },
  };
  return { format: source.format, report };
}

const MAX_LENGTH = 40;

/**
 * The name of a collection here for one of MongoDB: `FeeReceipts` is `fee_receipts`, `exams.marks` is
 * `exams_marks`. Other than those that are taken.
 */
export function toCollectionName(name: string, taken: ReadonlySet<string>): string {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  const base = (/^[a-z]/.test(snake) ? snake : `c_${snake}`).slice(0, MAX_LENGTH).replace(/_$/, '');
  for (let count = 1; ; count += 1) {
    const ending = count === 1 ? '' : `_${count}`;
    const found = base.slice(0, MAX_LENGTH - ending.length) + ending;
    if (!taken.has(found)) return found;
  }
}
