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
