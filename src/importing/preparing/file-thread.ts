/** Threads that read a file: a large one keeps no request waiting, and holds little memory. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetail, ServiceError } from '../../errors.js';

/** Compiled, the modules of threads are beside this one; from the sources, Node is told how to read them. */
const EXTENSION = path.extname(fileURLToPath(import.meta.url));
const EXEC_ARGUMENTS =
  EXTENSION === '.ts' ? ['--import', new URL('../../../test/typescript.mjs', import.meta.url).href] : [];
const HEAP_MB = 256;
/** Left to itself, V8 takes 48 MiB for young objects, of which a reader of rows fills any number. */
const YOUNG_MB = 6;

/** What is wrong with a file as a whole, or with us, as it goes from thread to thread. */
export interface ThreadFault {
  readonly kind: 'failed';
  /** Of what the file, or the caller, is to blame for. */
  readonly code?: ErrorCode | undefined;
  readonly message: string;
  readonly errors?: readonly ErrorDetail[] | undefined;
}

type TaskReport<Result> =
  | { readonly kind: 'progress'; readonly done: number }
  | { readonly kind: 'found'; readonly found: Result }
  | ThreadFault;

/** Starts a thread with what it is to do; `entry` is its module without an extension. The caller ends it. */
export function startFileThread(entry: URL, data: object): Worker {
  return new Worker(new URL(`${entry.href}${EXTENSION}`), {
    workerData: data,
    execArgv: EXEC_ARGUMENTS,
    // The secrets of the gateway are in its environment.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
  });
}

/**
 * Has a thread do one task, and gives what it found; the module of the thread calls `doTask`.
 *
 * @throws what is wrong with the file, MALFORMED_REQUEST or LIMIT_EXCEEDED; what the signal was aborted with
 */
export async function runOnThread<Result>(
  entry: URL,
  data: object,
  {
    signal,
    onProgress = () => {},
  }: { readonly signal: AbortSignal; readonly onProgress?: (done: number) => void },
): Promise<Result> {
  signal.throwIfAborted();
  const worker = startFileThread(entry, data);
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

/** On the thread: does the task it was started with, and tells what it found or what is wrong. */
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

/** A fault as it was on the thread. */
export function faultOfThread({ code, message, errors }: ThreadFault): Error {
  if (code === undefined) return new Error(message);
  return new ServiceError(code, message, { errors: errors ?? [] });
}
