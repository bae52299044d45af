/** Matches a `traceparent` whose sender does not want the trace sampled: the last bit of the flags is 0. */
const UNTOLD = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f][02468ace]/;

/** Unused allowance is kept for this long. */
const SAVED_SECONDS = 10;

/**
 * Decides which requests are traced: so many a second, and ten times as many at once after a pause, whoever
 * began their traces. Tracing a request costs more than answering it with a record, and a caller could ask
 * for it every time.
 *
 * `now` is in milliseconds.
 */
export function limitTraces(
  perSecond: number,
  now: () => number = () => performance.now(),
): (traceparent: string | undefined) => boolean {
  const most = perSecond * SAVED_SECONDS;
  let left = most;
  let at = now();
  return (traceparent) => {
    if (traceparent !== undefined && UNTOLD.test(traceparent)) return false;
    const moment = now();
    left = Math.min(most, left + ((moment - at) / 1000) * perSecond);
    at = moment;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
