/** The thread that looks into a file and tells what it found. */
import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError } from '../../errors.js';
import { inspectSource } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import type { InspectionReport, InspectionStart } from './inspect-on-thread.js';

/** Enough to see what a column holds; of a larger file the rest is judged by the dry run. */
const MAX_ROWS = 100_000;

async function inspect({ file, source }: InspectionStart): Promise<InspectionReport> {
  try {
    const rows = await openRowSource(file, source);
    const inspection = await inspectSource(rows, { maxRows: MAX_ROWS });
    return { kind: 'found', found: { tableColumns: rows.columns, inspection } };
  } catch (fault) {
    const isService = fault instanceof ServiceError;
    return {
      kind: 'failed',
      message: fault instanceof Error ? fault.message : String(fault),
      ...(isService && { code: fault.code, errors: fault.errors }),
    };
  }
}

parentPort?.postMessage(await inspect(workerData as InspectionStart));
