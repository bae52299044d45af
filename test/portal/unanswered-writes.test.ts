import { describe, expect, it } from '@jest/globals';
import { UnansweredWrites } from '../../src/portal/browser/gateway/unanswered-writes.js';

describe('a write that was not answered', () => {
  it('has the same id when it is asked again, and another one once it was answered', () => {
    const writes = new UnansweredWrites();
    const first = writes.idOf('make a task');
    expect(first).toMatch(/^[\da-f]{32}$/);
    expect(writes.idOf('make a task')).toBe(first);
    expect(writes.idOf('make another task')).not.toBe(first);
    writes.forget('make a task');
    expect(writes.idOf('make a task')).not.toBe(first);
  });

  it('is forgotten behind many others', () => {
    const writes = new UnansweredWrites();
    const first = writes.idOf('0');
    for (let number = 1; number <= 49; number++) writes.idOf(String(number));
    expect(writes.idOf('0')).toBe(first);
    writes.idOf('50');
    expect(writes.idOf('0')).not.toBe(first);
  });
});
