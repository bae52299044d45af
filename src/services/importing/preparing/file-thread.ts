/** Threads that read files, so that a large file delays no request; their memory is bounded. */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetail, ServiceError } from '../../../base/errors.js';
import { type ThreadModule, threadModule } from '../../../base/process/thread-module.js';

const HEAP_MB = 256;
/** By default, V8 lets young objects fill 48 MiB, and a reader of rows makes young objects all the time. */
const YOUNG_MB = 6;

/** An error as it is sent from thread to thread. */
export interface ThreadFault {
  readonly kind: 'failed';
  /** Present for an error of the file or the caller, absent for a fault of ours. */
  readonly code?: ErrorCode | undefined;
  readonly message: string;
  readonly errors?: readonly ErrorDetail[] | undefined;
}

type TaskReport<Result> =
  | { readonly kind: 'progress'; readonly done: number }
  | { readonly kind: 'found'; readonly found: Result }
  | ThreadFault;

/** Starts a thread with its task. The caller ends it. */
export function startFileThread(name: ThreadModule, data: object): Worker {
  const { entry, execArgv } = threadModule(name);
  return new Worker(entry, {
    workerData: data,
    execArgv,
    // The secrets of the gateway are in its environment.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
  });
}

/**
 * Runs one task on a thread and returns its result; the module of the thread calls `doTask`.
 *
 * @throws what is wrong with the file, MALFORMED_REQUEST or LIMIT_EXCEEDED; what the signal was aborted with
 */
export async function runOnThread<Result>(
  name: ThreadModule,
  data: object,
  {
    signal,
    onProgress = () => {},
  }: { readonly signal: AbortSignal; readonly onProgress?: (done: number) => void },
): Promise<Result> {
  signal.throwIfAborted();
  const worker = startFileThread(name, data);
  let stop: () => void = () => {};
  try {
    return await new Promise<Result>((resolve, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      worker.on('message', (report: TaskReport<Result>) => {
        if (report.kind === 'progress') onProgress(report.done);
        else if (report.kind === 'found') resolve(report.found);
        else reject(faultOfThread(report));
      });
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread that reads a file has ended')));
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

/** On the thread: runs its task, and sends the result or the error. */
export async function doTask<Start, Result>(
  task: (start: Start, tellProgress: (done: number) => void) => Promise<Result>,
): Promise<void> {
  const tell = (report: TaskReport<Result>) => parentPort?.postMessage(report);
  try {
    const found = await task(workerData as Start, (done) => tell({ kind: 'progress', done }));
    tell({ kind: 'found', found });
  } catch (fault) {
    tell(threadFaultOf(fault));
  }
}

export function threadFaultOf(fault: unknown): ThreadFault {
  const isService = fault instanceof ServiceError;
  return {
    kind: 'failed',
    message: fault instanceof Error ? fault.message : String(fault),
    ...(isService && { code: fault.code, errors: fault.errors }),
  };
}

/** Makes the error of the thread again. */
export function faultOfThread({ code, message, errors }: ThreadFault): Error {
  if (code === undefined) return new Error(message);
  return new ServiceError(code, message, { errors: errors ?? [] });
}
