/** Reads all documents of a collection of a dump, on a thread of its own, before anything is made of them. */
import { runOnThread } from '../preparing/file-thread.js';
import type { SourceInspection } from '../reading/inspect-source.js';
import type { SourceFormat } from '../reading/row-source.js';
import type { CollectionReport } from './collection-report.js';
import type { FieldEvidence } from './field-evidence.js';

export interface SurveyStart {
  readonly file: string;
}

export interface DocumentSurvey {
  readonly format: SourceFormat;
  readonly report: CollectionReport;
  /** Both of the first documents: a declaration is a proposal. */
  readonly inspection: Pick<SourceInspection, 'columns'>;
  readonly evidence: FieldEvidence;
}

/**
 * What became of the documents, and what they hold; `onProgress` hears how many were read.
 *
 * @throws MALFORMED_REQUEST, LIMIT_EXCEEDED for a file that cannot be read; what the signal was aborted with
 */
export async function surveyDocuments(
  start: SurveyStart,
  heard: { readonly signal: AbortSignal; readonly onProgress: (documents: number) => void },
): Promise<DocumentSurvey> {
  return await runOnThread('services/importing/mongo/survey-thread', start, heard);
}
