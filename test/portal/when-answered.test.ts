import { describe, expect, it } from '@jest/globals';
import { whenAnswered } from '../../src/portal/browser/shell/idle-queue.js';

/** Operations of which so many wait, as the test says. */
function openOperations(waiting: number) {
  const listeners = new Set<() => void>();
  return {
    listeners,
    isWaiting: () => waiting > 0,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer() {
      waiting -= 1;
      for (const listener of listeners) listener();
    },
  };
}

describe('what waits for the answers', () => {
  it('begins at once if no operation waits', () => {
    let begun = 0;
    const operations = openOperations(0);
    whenAnswered(operations, () => {
      begun += 1;
    });
    expect([begun, operations.listeners.size]).toEqual([1, 0]);
  });

  it('begins after the last answer, and once', () => {
    let begun = 0;
    const operations = openOperations(2);
    whenAnswered(operations, () => {
      begun += 1;
    });
    operations.answer();
    expect(begun).toBe(0);
    operations.answer();
    expect([begun, operations.listeners.size]).toEqual([1, 0]);
  });
});
