/** Of a `traceparent` whose sender does not want the trace told of: the last bit of the flags says it. */
const UNTOLD = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f][02468ace]/;

/** What was not told of may be told of later, for so long. */
const SAVED_SECONDS = 10;

/**
 * Decides which requests are told of: so many a second, and after a pause ten times as many at once, whoever
 * has begun their traces. To tell of one costs more than to answer it with a record, and a caller could ask
 * for it with every request.
 *
 * `now`: in milliseconds.
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
