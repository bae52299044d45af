/** The thread that reads all documents of a collection of a dump. */
import path from 'node:path';
import { doTask } from '../preparing/file-thread.js';
import { inspectSource } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import type { RowSource } from '../reading/row-source.js';
import { CollectionReporter } from './collection-report.js';
import { addFieldEvidence, createFieldEvidence } from './field-evidence.js';
import type { DocumentSurvey, SurveyStart } from './survey-documents.js';

/** Documents from which types are guessed. */
const SAMPLE_ROWS = 5_000;

await doTask(async ({ file }: SurveyStart, tellProgress): Promise<DocumentSurvey> => {
  const source = await openDocuments(file);
  const reporter = new CollectionReporter();
  const evidence = createFieldEvidence();
  let read = 0;
  for await (const rows of source.surveyRows?.(SAMPLE_ROWS) ?? source.rows()) {
    for (const row of rows) {
      reporter.add(row);
      if (read < SAMPLE_ROWS) addFieldEvidence(evidence, row.values);
      read += 1;
    }
    tellProgress(read);
  }
  const inspection = await inspectSource(source, { maxRows: SAMPLE_ROWS });
  return { format: source.format, report: reporter.finish(), inspection, evidence };
});

/** Plain JSON of mongoexport is extended JSON too: its `_id` is to be one of ours. */
async function openDocuments(file: string): Promise<RowSource> {
  const named = { path: file, name: path.basename(file) };
  const source = await openRowSource(named);
  const isPlainJson = source.format === 'json' || source.format === 'ndjson';
  return isPlainJson ? await openRowSource(named, { format: 'ejson' }) : source;
}
