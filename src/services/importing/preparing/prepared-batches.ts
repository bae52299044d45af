/** A file that is read on its own thread, so that a large file delays no request. */

import { type MessagePort, Worker } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetail, ServiceError } from '../../../base/errors.js';
import { threadModule } from '../../../base/process/thread-module.js';
import type { InspectedSource } from '../reading/inspect-source.js';
import type { SourceFile, SourceOptions } from '../reading/row-source.js';
import type { PreparationPlan, PreparedRows, ReferenceLookups } from './row-preparer.js';

export interface InspectionStart {
  readonly file: SourceFile;
  readonly source: SourceOptions;
  /** Whether records have a day, so that columns called by days are rows. */
  readonly mayUnfold: boolean;
}

export interface PreparerStart extends Omit<InspectionStart, 'mayUnfold'> {
  readonly plan: Omit<PreparationPlan, 'mapping'>;
  /**
   * The mapping as JSON text. An exact number is an object of ours, which does not survive the transfer to a
   * thread.
   */
  readonly mapping: string;
  readonly batchRows: number;
}

/** The methods of the thread. */
export interface FileThread {
  readonly inspect: (start: InspectionStart) => Promise<InspectedSource>;
  readonly open: (start: PreparerStart) => Promise<void>;
  readonly next: (nothing: undefined) => Promise<PreparedRows | undefined>;
  readonly sourcesOf: (numbers: readonly number[]) => ReadonlyMap<number, readonly string[]>;
}

export interface PreparedBatch extends PreparedRows {
  /** The cells of rows of the batch, as in the file. */
  readonly sourcesOf: (numbers: readonly number[]) => Promise<ReadonlyMap<number, readonly string[]>>;
}

export interface PreparationOptions {
  readonly lookups: ReferenceLookups;
  readonly order: 'ahead' | 'inTurn';
  readonly signal: AbortSignal;
}

const HEAP_MB = 256;
/** By default, V8 lets young objects fill 48 MiB, and a reader of rows makes young objects all the time. */
const YOUNG_MB = 6;
/** How long a thread waits for the next step of an import, which often follows at once. */
const IDLE_MS = 2_000;

/** The threads that read files. One that has done its work waits a moment for the next. */
export class FileThreads {
  #idle: KeptThread | undefined;

  /**
   * @throws what is wrong with the file, MALFORMED_REQUEST or LIMIT_EXCEEDED; the reason of the signal
   */
  async inspect(start: InspectionStart, signal: AbortSignal): Promise<InspectedSource> {
    const thread = this.#take(signal);
    try {
      const inspected = await thread.calls.inspect(start);
      thread.isDone = true;
      return inspected;
    } catch (fault) {
      throw signal.aborted ? signal.reason : fault;
    } finally {
      await this.#leave(thread);
    }
  }

  /**
   * The prepared batches in the order of the file. `ahead`: the next batch is prepared while one is written.
   * `inTurn`: after it is written, because rows refer to each other.
   *
   * @throws MALFORMED_REQUEST or LIMIT_EXCEEDED for a fault of the whole file; the reason of the signal; what
   * a look-up throws
   */
  async *prepare(
    { lookups, order, signal }: PreparationOptions,
    start: PreparerStart,
  ): AsyncGenerator<PreparedBatch, void> {
    const thread = this.#take(signal);
    const { calls } = thread;
    let failed: { readonly fault: unknown } | undefined;
    // An error loses its class on its way to the thread and back.
    const kept = <Sent, Result>(find: (sent: Sent) => Promise<Result>) => {
      return (sent: Sent) =>
        find(sent).catch((fault: unknown) => {
          failed ??= { fault };
          throw fault;
        });
    };
    Object.assign(thread.lookups, {
      findTargets: kept(lookups.findTargets),
      judgeLinks: kept(lookups.judgeLinks),
      findByField: kept(lookups.findByField),
    });
    const prepare = () => {
      const next = calls.next(undefined);
      // It may fail while the batch before it is written, when nothing waits for it.
      next.catch(() => {});
      return next;
    };
    try {
      await calls.open(start);
      let next = prepare();
      for (let batch = await next; batch !== undefined; batch = await next) {
        if (order === 'ahead') next = prepare();
        yield { ...batch, sourcesOf: async (numbers) => await calls.sourcesOf(numbers) };
        if (order === 'inTurn') next = prepare();
      }
      thread.isDone = true;
    } catch (fault) {
      throw signal.aborted ? signal.reason : (failed?.fault ?? fault);
    } finally {
      await this.#leave(thread);
    }
  }

  #take(signal: AbortSignal): KeptThread {
    signal.throwIfAborted();
    const thread = this.#idle === undefined || this.#idle.isEnded ? new KeptThread() : this.#idle;
    this.#idle = undefined;
    thread.begin(signal);
    return thread;
  }

  /** A thread that has not come to the end of its work may still be at it. */
  async #leave(thread: KeptThread): Promise<void> {
    if (!thread.isDone || this.#idle?.isEnded === false) return await thread.end();
    this.#idle = thread;
    thread.rest();
  }
}

class KeptThread {
  readonly lookups: Partial<ReferenceLookups> = {};
  readonly calls: Calls<FileThread>;
  isDone = false;
  isEnded = false;
  readonly #worker: Worker;
  #signal: AbortSignal | undefined;
  #rest: NodeJS.Timeout | undefined;
  readonly #stop = () => void this.end();

  constructor() {
    const { entry, execArgv } = threadModule('services/importing/preparing/reader-thread');
    this.#worker = new Worker(entry, {
      execArgv,
      // The secrets of the gateway are in its environment.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.once('exit', () => {
      this.isEnded = true;
    });
    this.calls = connectThreads<object, FileThread>(this.#worker, this.lookups);
  }

  begin(signal: AbortSignal): void {
    clearTimeout(this.#rest);
    this.#worker.ref();
    this.isDone = false;
    this.#signal = signal;
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  /** Waits for more work, which keeps no process alive, then ends. */
  rest(): void {
    this.#signal?.removeEventListener('abort', this.#stop);
    this.#worker.unref();
    this.#rest = setTimeout(this.#stop, IDLE_MS).unref();
  }

  async end(): Promise<void> {
    this.isEnded = true;
    this.#signal?.removeEventListener('abort', this.#stop);
    await this.#worker.terminate();
  }
}

/** The methods of the other side; each call returns a promise. */
export type Calls<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (argument: infer Sent) => infer Result
    ? (argument: Sent) => Promise<Awaited<Result>>
    : never;
};

type Message =
  | { readonly call: number; readonly method: string; readonly sent: unknown }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly fault: ThreadFault };

/** An error as it is sent between threads; it has a code if it is an error of the file or the caller. */
interface ThreadFault {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly errors?: readonly ErrorDetail[] | undefined;
}

/**
 * Connects a thread and its owner: each calls methods of the other, and gets the results or the errors.
 *
 * @throws by each call, what its method throws; an error once the thread has ended
 */
export function connectThreads<Own extends object, Other extends object>(
  port: Worker | MessagePort,
  own: Own,
): Calls<Other> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(fault: unknown): void }>();
  let count = 0;
  let end: { readonly fault: unknown } | undefined;
  const fail = (fault: unknown) => {
    end ??= { fault };
    for (const { reject } of waiting.values()) reject(end.fault);
    waiting.clear();
  };
  const answer = async (call: number, method: string, sent: unknown) => {
    try {
      const run = own[method as keyof Own] as (sent: unknown) => unknown;
      const value = await run(sent);
      port.postMessage({ answer: call, value } satisfies Message);
    } catch (fault) {
      port.postMessage({ answer: call, fault: toThreadFault(fault) } satisfies Message);
    }
  };
  port.on('message', (message: Message) => {
    if ('method' in message) {
      void answer(message.call, message.method, message.sent);
      return;
    }
    const caller = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('fault' in message) caller?.reject(fromThreadFault(message.fault));
    else caller?.resolve(message.value);
  });
  if (port instanceof Worker) {
    port.on('error', fail);
    port.once('exit', () => fail(new Error('the thread that reads a file has ended')));
  }
  const call = (method: string, sent: unknown) =>
    new Promise((resolve, reject) => {
      if (end !== undefined) {
        reject(end.fault);
        return;
      }
      count += 1;
      waiting.set(count, { resolve, reject });
      port.postMessage({ call: count, method, sent } satisfies Message);
    });
  const methods = { get: (_: object, name: string) => (sent: unknown) => call(name, sent) };
  return new Proxy({}, methods) as Calls<Other>;
}

function toThreadFault(fault: unknown): ThreadFault {
  const message = fault instanceof Error ? fault.message : String(fault);
  return fault instanceof ServiceError ? { message, code: fault.code, errors: fault.errors } : { message };
}

function fromThreadFault({ code, message, errors }: ThreadFault): Error {
  return code === undefined ? new Error(message) : new ServiceError(code, message, { errors: errors ?? [] });
}
