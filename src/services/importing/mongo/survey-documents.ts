/** Reads all documents of a collection of a dump, before anything is made of them. */
import path from 'node:path';
import { inspectSource, type SourceInspection } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import type { RowSource, SourceFormat } from '../reading/row-source.js';
import { type CollectionReport, CollectionReporter } from './collection-report.js';
import { addFieldEvidence, createFieldEvidence, type FieldEvidence } from './field-evidence.js';

export interface DocumentSurvey {
  readonly format: SourceFormat;
  readonly report: CollectionReport;
  /** Both of the first documents: a declaration is a proposal. */
  readonly inspection: Pick<SourceInspection, 'columns'>;
  readonly evidence: FieldEvidence;
}

/** Documents from which types are guessed. */
const SAMPLE_ROWS = 5_000;

/**
 * Reports what became of the documents, and what they hold; `onProgress` gets the number of documents read.
 *
 * @throws MALFORMED_REQUEST, LIMIT_EXCEEDED for a file that cannot be read; the reason of the signal
 */
export async function surveyDocuments(
  file: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (documents: number) => void },
): Promise<DocumentSurvey> {
  const source = await openDocuments(file);
  const reporter = new CollectionReporter();
  const evidence = createFieldEvidence();
  let read = 0;
  for await (const rows of source.rows(signal)) {
    for (const row of rows) {
      reporter.add(row);
      if (read < SAMPLE_ROWS) addFieldEvidence(evidence, row.values);
      read += 1;
    }
    onProgress(read);
  }
  const inspection = await inspectSource(source, { maxRows: SAMPLE_ROWS });
  return { format: source.format, report: reporter.finish(), inspection, evidence };
}

/** Plain JSON of mongoexport is extended JSON too: its `_id` is to be one of ours. */
async function openDocuments(file: string): Promise<RowSource> {
  const named = { path: file, name: path.basename(file) };
  const source = await openRowSource(named);
  const isPlainJson = source.format === 'json' || source.format === 'ndjson';
  return isPlainJson ? await openRowSource(named, { format: 'ejson' }) : source;
}
