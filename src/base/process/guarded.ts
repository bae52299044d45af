/**
 * Observers (a log, a metric, a listener) must not affect what they observe, and least of all end the
 * process: nothing catches an error that is thrown from a Node event.
 */

/** Wraps `watch` so that it never throws: its errors go to `onFault` only. */
export function guarded<Arguments extends readonly unknown[]>(
  watch: (...args: Arguments) => void,
  onFault: (error: unknown) => void = reportToOperator,
): (...args: Arguments) => void {
  return (...args) => {
    try {
      watch(...args);
    } catch (error) {
      try {
        onFault(error);
      } catch (second) {
        reportToOperator(error);
        reportToOperator(second);
      }
    }
  };
}

/**
 * Writes to standard error, the only channel left when the log itself has failed. If that is closed too, the
 * gateway carries on.
 */
function reportToOperator(error: unknown): void {
  try {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`campus: while observing: ${text}\n`);
  } catch {
    // No channel is left to report this.
  }
}
