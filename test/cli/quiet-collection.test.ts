import { describe, expect, it } from '@jest/globals';
import { collectGarbage, QuietCollection } from '../../src/cli/quiet-collection.js';

const MIB = 1024 ** 2;

/** A process of 180 MiB, of which 145 are left by a collection. */
function processOf() {
  const state = { utilization: 0, residentBytes: 180 * MIB, collections: 0 };
  const collection = new QuietCollection({
    utilization: () => state.utilization,
    residentBytes: () => state.residentBytes,
    collect: async () => {
      state.collections += 1;
      state.residentBytes = 145 * MIB;
    },
  });
  return { state, collection };
}

describe('garbage of a process', () => {
  it('is collected once the process has little to do, and not again while nothing has grown', async () => {
    const { state, collection } = processOf();
    state.utilization = 0.5;
    await collection.look();
    expect(state.collections).toBe(0);
    state.utilization = 0.01;
    await collection.look();
    await collection.look();
    expect(state.collections).toBe(1);
  });

  it('is collected again after much work, and not after a little', async () => {
    const { state, collection } = processOf();
    await collection.look();
    state.residentBytes = 170 * MIB;
    await collection.look();
    expect(state.collections).toBe(1);
    state.residentBytes = 400 * MIB;
    state.utilization = 0.9;
    await collection.look();
    expect(state.collections).toBe(1);
    state.utilization = 0;
    await collection.look();
    expect(state.collections).toBe(2);
  });

  it('is really collected in this process', async () => {
    const garbage = new WeakRef(makeGarbage());
    // An object lives to the end of the turn in which it was looked at.
    await new Promise((resolve) => setImmediate(resolve));
    await collectGarbage();
    expect(garbage.deref()).toBeUndefined();
  });
});

function makeGarbage(): object {
  return { text: 'x'.repeat(1000) };
}
