/** Waiting for what comes about by itself: until it is so, rather than for a time that should do. */

/** Long enough for a machine that others keep busy: only a test that fails waits as long. */
export const DEFAULT_WITHIN_MS = 120_000;

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
/** A look may be a request of a whole gateway, and takes from the machine what is waited for. */
const PAUSE_OF_WAITED = 0.15;

/** Waits until it is so. @throws when it is not after a while */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  withinMs = DEFAULT_WITHIN_MS,
): Promise<void> {
  await eventuallyFound(async () => ((await isSo()) ? true : undefined), withinMs);
}

/** Waits until there is one, and answers it. @throws when there is none after a while */
export async function eventuallyFound<T>(
  find: () => T | undefined | Promise<T | undefined>,
  withinMs = DEFAULT_WITHIN_MS,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() - startedAt > withinMs) throw new Error(`not so after ${withinMs} ms: ${find}`);
    await pauseBetweenLooks(startedAt);
  }
}

/** Looks come often at first, and the less often the longer the wait has been. */
export async function pauseBetweenLooks(startedAt: number): Promise<void> {
  const pauseMs = PAUSE_OF_WAITED * (Date.now() - startedAt);
  await new Promise((resolve) => {
    setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pauseMs)));
  });
}
