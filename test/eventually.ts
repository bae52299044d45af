/** Waiting for what comes about by itself: until it is so, rather than for a time that should do. */

export const LOOK_EVERY_MS = 20;
export const DEFAULT_WITHIN_MS = 30_000;

/** Waits until it is so. @throws when it is not after a while */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  withinMs = DEFAULT_WITHIN_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not so after ${withinMs} ms: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
