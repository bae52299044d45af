/** Waiting for what comes about by itself: until it is so, rather than for a time that should do. */
import { expect } from '@jest/globals';

const LOOK_EVERY_MS = 20;
const DEFAULT_WITHIN_MS = 30_000;

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

/**
 * Reads until what is read equals what is expected, and fails as `toEqual` does when it never is. It is for
 * what becomes true a moment after what the test waited for, e.g. a count that goes down when a job's end is
 * written.
 */
export async function expectEventually<T>(
  read: () => T | Promise<T>,
  expected: T,
  withinMs = DEFAULT_WITHIN_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await read();
    try {
      expect(found).toEqual(expected);
      return;
    } catch (difference) {
      if (Date.now() > deadline) throw difference;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
