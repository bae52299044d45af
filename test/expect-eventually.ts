/** Waiting in a test for what will be read, a moment after what the test waited for. */
import { expect } from '@jest/globals';
import { DEFAULT_WITHIN_MS, pauseBetweenLooks } from './eventually.js';

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
  const startedAt = Date.now();
  for (;;) {
    const found = await read();
    try {
      expect(found).toEqual(expected);
      return;
    } catch (difference) {
      if (Date.now() - startedAt > withinMs) throw difference;
    }
    await pauseBetweenLooks(startedAt);
  }
}

/** Checks until nothing is wrong any more, and fails as the last check does when something always is. */
export async function eventuallyPasses(
  check: () => Promise<void>,
  withinMs = DEFAULT_WITHIN_MS,
): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    try {
      await check();
      return;
    } catch (fault) {
      if (Date.now() - startedAt > withinMs) throw fault;
    }
    await pauseBetweenLooks(startedAt);
  }
}
