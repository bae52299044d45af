/** Reads all documents of a collection of a dump, before anything is made of them. */
import path from 'node:path';
import {
  AlterationCounts,
  type CountedAlteration,
  inspectSource,
  type SourceInspection,
} from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import type { RowSource, SourceFormat, SourceRow } from '../reading/row-source.js';
import { addFieldEvidence, createFieldEvidence, type FieldEvidence } from './propose-declaration.js';

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

/** Takes the rows of a collection; its memory does not grow with them. */
export class CollectionReporter {
  #documents = 0;
  #faults = 0;
  readonly #samples: { readonly number: number; readonly fault: string }[] = [];
  readonly #alterations = new AlterationCounts(MAX_KINDS);

  add({ number, values, fault, alterations }: SourceRow): void {
    this.#documents += 1;
    if (fault !== undefined) {
      this.#faults += 1;
      if (this.#samples.length < MAX_FAULTS) this.#samples.push({ number, fault });
    }
    if (alterations === undefined) return;
    this.#alterations.add(alterations, typeof values._id === 'string' ? values._id : `document ${number}`);
  }

  finish(): CollectionReport {
    return {
      documents: this.#documents,
      alterations: this.#alterations.list(),
      unlistedAlterations: this.#alterations.unlisted,
      faults: { count: this.#faults, samples: this.#samples },
    };
  }
}
