import { describe, expect, it } from '@jest/globals';
import { RepeatedWork } from '../../../src/store/database/repeated-work.js';
import { eventually } from '../../eventually.js';

describe('repeated work', () => {
  it('is tried until it succeeds, its first failure being reported', async () => {
    const faults: unknown[] = [];
    let tries = 0;
    const work = new RepeatedWork({
      work: async () => {
        tries += 1;
        if (tries <= 3) throw new Error(`try ${tries}`);
      },
      onFault: (error) => faults.push(error),
    });
    work.wake();
    await eventually(() => tries === 4);
    expect(faults).toEqual([new Error('try 1')]);
    await work.close();
  });

  it('woken while it is under way is done once more after it', async () => {
    const ends: (() => void)[] = [];
    const work = new RepeatedWork({
      work: () => new Promise((resolve) => ends.push(resolve)),
      onFault: () => {},
    });
    for (let asked = 0; asked < 5; asked++) work.wake();
    ends[0]?.();
    await eventually(() => ends.length === 2);
    ends[1]?.();
    await work.close();
    expect(ends).toHaveLength(2);
  });

  it('is given up with its owner', async () => {
    let tries = 0;
    const work = new RepeatedWork({
      work: async () => {
        tries += 1;
        throw new Error('never');
      },
      onFault: () => {},
    });
    work.wake();
    await eventually(() => tries === 2);
    await work.close();
    work.wake();
    expect(tries).toBe(2);
  });
});
