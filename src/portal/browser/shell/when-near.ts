/** Below the part of the page that is seen, as far as somebody scrolls at once. */
const NEAR = '0px 0px 400px 0px';

/**
 * Calls `then` while the element is seen, or soon will be. Returns a function that stops watching it.
 */
export function whenNear(element: Element, then: () => void): () => void {
  const observer = new IntersectionObserver(
    (entries) => entries.some(({ isIntersecting }) => isIntersecting) && then(),
    { rootMargin: NEAR },
  );
  observer.observe(element);
  return () => observer.disconnect();
}

/** Waits no longer for a moment in which nothing else is to be done. */
const LONGEST_WAIT_MS = 1_000;

/** Safari does not tell when it is idle. */
export function whenIdle(then: () => void): void {
  if ('requestIdleCallback' in window) window.requestIdleCallback(then, { timeout: LONGEST_WAIT_MS });
  else setTimeout(then, 50);
}
