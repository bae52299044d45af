/** Looks into a file on a thread of its own: a workbook takes seconds, in which others want answers. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetail, ServiceError } from '../../errors.js';
import type { SourceInspection } from '../reading/inspect-source.js';
import type { SourceFile, SourceOptions } from '../reading/row-source.js';

/** Compiled, the module of the thread is beside this one; from the sources, Node is told how to read it. */
const EXTENSION = path.extname(fileURLToPath(import.meta.url));
const ENTRY = new URL(`./inspection-thread${EXTENSION}`, import.meta.url);
const EXEC_ARGUMENTS =
  EXTENSION === '.ts' ? ['--import', new URL('../../../test/typescript.mjs', import.meta.url).href] : [];
const HEAP_MB = 256;

export interface InspectionStart {
  readonly file: SourceFile;
  readonly source: SourceOptions;
}

export interface InspectedSource {
  /** Those of a table; documents have none. */
  readonly tableColumns: readonly string[] | undefined;
  readonly inspection: SourceInspection;
}

/** What the thread tells in the end. */
export type InspectionReport =
  | { readonly kind: 'found'; readonly found: InspectedSource }
  | {
      readonly kind: 'failed';
      readonly code?: ErrorCode | undefined;
      readonly message: string;
      readonly errors?: readonly ErrorDetail[] | undefined;
    };

/**
 * @throws what is wrong with the file, MALFORMED_REQUEST or LIMIT_EXCEEDED; what the signal was aborted with
 */
export async function inspectOnThread(start: InspectionStart, signal: AbortSignal): Promise<InspectedSource> {
  signal.throwIfAborted();
  const worker = new Worker(ENTRY, {
    workerData: start,
    execArgv: EXEC_ARGUMENTS,
    // The secrets of the gateway are in its environment.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  let stop: () => void = () => {};
  try {
    const report = await new Promise<InspectionReport>((resolve, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread that looked into a file has ended')));
    });
    if (report.kind === 'found') return report.found;
    if (report.code === undefined) throw new Error(report.message);
    throw new ServiceError(report.code, report.message, { errors: report.errors ?? [] });
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
