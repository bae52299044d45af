import { constants } from 'node:os';

/** Why a command ended before its work was done. */
export class StoppedBySignal extends Error {
  constructor(
    readonly signal: NodeJS.Signals,
    /** The state after the command stops. */
    readonly state = 'nothing is left half done',
  ) {
    super(`stopped by ${signal}`);
  }

  /**
   * The exit code that a shell gives a program that the signal has ended: 130 for SIGINT, 143 for SIGTERM.
   */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/**
 * From now on the first SIGINT or SIGTERM aborts the returned signal with a `StoppedBySignal`, so that its
 * user finishes or undoes the current work. A second one ends the process at once.
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
