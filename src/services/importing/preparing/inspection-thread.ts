/** The thread that inspects a file and sends its findings. */
import { inspectSource } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import { doTask } from './file-thread.js';
import type { InspectedSource, InspectionStart } from './inspect-on-thread.js';

/** Enough rows to recognize the type of a column; the dry run checks the other rows of a larger file. */
const MAX_ROWS = 100_000;

await doTask(async ({ file, source }: InspectionStart): Promise<InspectedSource> => {
  const rows = await openRowSource(file, source);
  return {
    tableColumns: rows.columns,
    inspection: await inspectSource(rows, { maxRows: MAX_ROWS }),
  };
});
