/** Threads that read files, so that a large file delays no request; their memory is bounded. */
import { type MessagePort, Worker } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetail, ServiceError } from '../../../base/errors.js';
import { threadModule } from '../../../base/process/thread-module.js';

const HEAP_MB = 256;
/** By default, V8 lets young objects fill 48 MiB, and a reader of rows makes young objects all the time. */
const YOUNG_MB = 6;

/** Starts a thread. The caller ends it. */
export function startFileThread(): Worker {
  const { entry, execArgv } = threadModule('services/importing/preparing/reader-thread');
  return new Worker(entry, {
    execArgv,
    // The secrets of the gateway are in its environment.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
  });
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
 * @throws by each call, what its method throws; the reason of the signal; an error once the thread has ended
 */
export function connectThreads<Own extends object, Other extends object>(
  port: Worker | MessagePort,
  own: Own,
  signal?: AbortSignal,
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
    const asked = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('fault' in message) asked?.reject(fromThreadFault(message.fault));
    else asked?.resolve(message.value);
  });
  if (port instanceof Worker) {
    port.on('error', fail);
    port.once('exit', () => fail(new Error('the thread that reads a file has ended')));
  }
  if (signal?.aborted) fail(signal.reason);
  else signal?.addEventListener('abort', () => fail(signal.reason), { once: true });
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
