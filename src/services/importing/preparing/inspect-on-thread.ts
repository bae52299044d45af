/** Inspects a file on its own thread: a workbook takes seconds, during which requests must be answered. */
import type { SourceInspection } from '../reading/inspect-source.js';
import type { SourceFile, SourceOptions } from '../reading/row-source.js';
import { runOnThread } from './file-thread.js';

export interface InspectionStart {
  readonly file: SourceFile;
  readonly source: SourceOptions;
}

export interface InspectedSource {
  /** The columns of a table; `undefined` for documents. */
  readonly tableColumns: readonly string[] | undefined;
  readonly inspection: SourceInspection;
}

/**
 * @throws what is wrong with the file, MALFORMED_REQUEST or LIMIT_EXCEEDED; what the signal was aborted with
 */
export async function inspectOnThread(start: InspectionStart, signal: AbortSignal): Promise<InspectedSource> {
  return await runOnThread('services/importing/preparing/inspection-thread', start, { signal });
}
