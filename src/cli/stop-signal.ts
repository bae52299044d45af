import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Why a command ended before its work was done. */
export class StoppedBySignal extends Error {
  constructor(
    readonly signal: NodeJS.Signals,
    /** What the command leaves. */
    readonly state = 'nothing is left half done',
  ) {
    super(`stopped by ${signal}`);
  }

  /** The exit code that a shell gives a program that the signal has ended: 130 for SIGINT, 143 for SIGTERM. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/**
 * From now on the first SIGINT or SIGTERM aborts the signal that is given, with a `StoppedBySignal`, and
 * whoever has it finishes or undoes what is under way. A second one ends the process at once.
 */
export function listenForStopSignal(): AbortSignal {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    const reason = new StoppedBySignal(signal);
    if (stopping.signal.aborted) process.exit(reason.exitCode);
    stopping.abort(reason);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return stopping.signal;
}

/**
 * What the work gives; or, once a stop was asked for, the reason of that, `graceMs` later at most: work that
 * waits for a database that has gone may never end. Nobody hears what becomes of work that is left so, and it
 * ends with the process: for work that leaves nothing half made.
 *
 * @throws what the work throws; `StoppedBySignal`, or whatever else the signal was aborted with
 */
export async function unlessStopped<T>(work: Promise<T>, stop: AbortSignal, graceMs: number): Promise<T> {
  const isOver = new AbortController();
  try {
    return await Promise.race([work, rejectAfterStop(stop, graceMs, isOver.signal)]);
  } finally {
    isOver.abort();
  }
}

async function rejectAfterStop(stop: AbortSignal, graceMs: number, isOver: AbortSignal): Promise<never> {
  if (!stop.aborted) await once(stop, 'abort', { signal: isOver });
  await sleep(graceMs, undefined, { signal: isOver });
  throw stop.reason;
}
