/**
 * What only watches (a log, a figure, a listener that is told of an end) must not change what it watches, and
 * least of all end the process: an error thrown into an event of Node has nobody to catch it.
 */

/** Does as `watch`, except that what goes wrong in it is told to `onFault` and to nobody else. */
export function guarded<Arguments extends readonly unknown[]>(
  watch: (...told: Arguments) => void,
  onFault: (error: unknown) => void = tellOperator,
): (...told: Arguments) => void {
  return (...told) => {
    try {
      watch(...told);
    } catch (error) {
      try {
        onFault(error);
      } catch (second) {
        tellOperator(error);
        tellOperator(second);
      }
    }
  };
}

/**
 * Tells it on standard error, which is what is left where the log itself has failed. A closed one is no
 * reason to stop either.
 */
function tellOperator(error: unknown): void {
  try {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`campus: while observing: ${text}\n`);
  } catch {
    // There is nowhere left to say it.
  }
}
