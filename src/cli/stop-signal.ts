/** Why a command ended before its work was done. */
export class StoppedBySignal extends Error {
  constructor(readonly signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
  }
}

/**
 * From now on the first SIGINT or SIGTERM aborts the signal that is given, with a `StoppedBySignal`, and
 * whoever has it finishes or undoes what is under way. A second one ends the process at once.
 */
export function listenForStopSignal(): AbortSignal {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new StoppedBySignal(signal));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return stopping.signal;
}
