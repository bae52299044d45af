import { describe, expect, it } from '@jest/globals';
import { UnansweredWrites } from '../../src/portal/browser/gateway/unanswered-writes.js';

/** A tab of a browser, as far as it is asked. */
class Tab extends Map<string, string> {
  getItem = (key: string) => this.get(key) ?? null;
  setItem = (key: string, value: string) => void this.set(key, value);
  removeItem = (key: string) => void this.delete(key);
}

describe('a write that was not answered', () => {
  it('has the same id when it is asked again, and another one once it was answered', () => {
    const writes = new UnansweredWrites(new Tab());
    const first = writes.idOf('make a task');
    expect(first).toMatch(/^[\da-f]{32}$/);
    expect(writes.idOf('make a task')).toBe(first);
    expect(writes.idOf('make another task')).not.toBe(first);
    writes.forget('make a task');
    expect(writes.idOf('make a task')).not.toBe(first);
  });

  it('is forgotten behind many others', () => {
    const writes = new UnansweredWrites(new Tab());
    const first = writes.idOf('0');
    for (let number = 1; number <= 49; number++) writes.idOf(String(number));
    expect(writes.idOf('0')).toBe(first);
    writes.idOf('50');
    expect(writes.idOf('0')).not.toBe(first);
  });

  it('is known after a reload only where it is kept in the tab, till its answer comes', () => {
    const tab = new Tab();
    const writes = new UnansweredWrites(tab);
    const kept = writes.idOf('make a task', 'tab');
    const inPage = writes.idOf('set a password');
    const reloaded = new UnansweredWrites(tab);
    expect(reloaded.idOf('make a task', 'tab')).toBe(kept);
    expect(reloaded.idOf('set a password')).not.toBe(inPage);
    reloaded.forget('make a task');
    expect(tab.size).toBe(0);
    expect(reloaded.idOf('make a task', 'tab')).not.toBe(kept);
  });
});
