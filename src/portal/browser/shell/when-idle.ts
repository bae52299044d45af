/** Waits no longer for a moment in which nothing else is to be done. */
const LONGEST_WAIT_MS = 1_000;

/** Safari does not tell when it is idle. */
export function whenIdle(then: () => void): void {
  if ('requestIdleCallback' in window) window.requestIdleCallback(then, { timeout: LONGEST_WAIT_MS });
  else setTimeout(then, 50);
}
