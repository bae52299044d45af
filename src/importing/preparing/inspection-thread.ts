/** The thread that looks into a file and tells what it found. */
import { inspectSource } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import { doTask } from './file-thread.js';
import type { InspectedSource, InspectionStart } from './inspect-on-thread.js';

/** Enough to see what a column holds; of a larger file the rest is judged by the dry run. */
const MAX_ROWS = 100_000;

await doTask(async ({ file, source }: InspectionStart): Promise<InspectedSource> => {
  const rows = await openRowSource(file, source);
  return {
    tableColumns: rows.columns,
    inspection: await inspectSource(rows, { maxRows: MAX_ROWS }),
  };
});
