import { describe, expect, it } from '@jest/globals';
import { IdleQueue } from '../../src/portal/browser/shell/idle-queue.js';

/** A queue whose moments the test gives. */
function openQueue() {
  const asked: (() => void)[] = [];
  return { queue: new IdleQueue((then) => asked.push(then)), asked, giveMoment: () => asked.shift()?.() };
}

describe('tasks that wait for a moment', () => {
  it('run one in each, in the order in which they came', () => {
    const { queue, asked, giveMoment } = openQueue();
    const done: string[] = [];
    queue.wait(() => done.push('one'));
    queue.wait(() => done.push('other'));
    expect(done).toEqual([]);
    giveMoment();
    expect(done).toEqual(['one']);
    giveMoment();
    expect(done).toEqual(['one', 'other']);
    expect(asked).toEqual([]);
  });

  it('do not run once they were removed, and do not hold up those behind them', () => {
    const { queue, giveMoment } = openQueue();
    const done: string[] = [];
    const leave = queue.wait(() => done.push('removed'));
    queue.wait(() => done.push('behind'));
    leave();
    giveMoment();
    expect(done).toEqual(['behind']);
  });

  it('may add another, and may fail without holding up the next', () => {
    const { queue, giveMoment } = openQueue();
    const done: string[] = [];
    queue.wait(() => {
      queue.wait(() => done.push('added'));
      throw new Error('no canvas');
    });
    expect(giveMoment).toThrow('no canvas');
    giveMoment();
    expect(done).toEqual(['added']);
  });
});
