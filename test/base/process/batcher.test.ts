import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Batcher, type BatcherOptions } from '../../../src/base/process/batcher.js';

/** A batcher whose batches end when the test says so. */
function start({ batchSize = 1, ...options }: Partial<BatcherOptions<number>> & { batchSize?: number } = {}) {
  const seen: string[] = [];
  const ends: (() => void)[] = [];
  const batcher = new Batcher<number>({
    takeNext: (waiting) => waiting.splice(0, batchSize),
    concurrency: 1,
    onOverflow: () => seen.push('overflow'),
    onIdle: () => seen.push('idle'),
    work: async (batch) => {
      seen.push(batch.join());
      await new Promise<void>((resolve) => ends.push(resolve));
    },
    ...options,
  });
  const add = (...items: readonly number[]) => {
    for (const item of items) batcher.add(item);
  };
  const end = async () => {
    await turn();
    ends.shift()?.();
    await turn();
  };
  return { batcher, add, end, seen };
}

describe('a batcher', () => {
  it('works on what is added together in batches, one after the other', async () => {
    const { batcher, add, end, seen } = start({ batchSize: 2 });
    add(1, 2, 3);
    await end();
    await end();
    expect(batcher.isBusy).toBe(false);
    add(4);
    await end();
    expect(seen).toEqual(['1,2', '3', 'idle', '4', 'idle']);
  });

  it('has two batches under way where it may, and the rest gathers meanwhile', async () => {
    const { add, end, seen } = start({ batchSize: 9, concurrency: 2 });
    add(1);
    await turn();
    add(2);
    await turn();
    add(3);
    add(4);
    await turn();
    expect(seen).toEqual(['1', '2']);
    for (let count = 0; count < 3; count += 1) await end();
    expect(seen).toEqual(['1', '2', '3,4', 'idle']);
  });

  it('drops everything that waits when it is too much, says so, and goes on', async () => {
    const { add, end, seen } = start({ maxWaiting: 2 });
    add(1, 2, 3);
    await end();
    expect(seen).toEqual(['overflow', 'idle']);
    add(4);
    await end();
    expect(seen).toEqual(['overflow', 'idle', '4', 'idle']);
  });

  it('does not work on what was cleared', async () => {
    const { batcher, add, end, seen } = start();
    add(1, 2);
    await turn();
    batcher.clear();
    await end();
    expect(seen).toEqual(['1', 'idle']);
  });
});
