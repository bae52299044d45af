import { describe, expect, it } from '@jest/globals';
import { Renewal } from '../../../src/store/database/renewal.js';
import { eventually } from '../../eventually.js';

describe('a renewal', () => {
  it('is tried until it succeeds, its first failure being told', async () => {
    const faults: unknown[] = [];
    let tries = 0;
    const renewal = new Renewal({
      renew: async () => {
        tries += 1;
        if (tries <= 3) throw new Error(`try ${tries}`);
      },
      onFault: (error) => faults.push(error),
    });
    renewal.ask();
    await eventually(() => tries === 4);
    expect(faults).toEqual([new Error('try 1')]);
    await renewal.close();
  });

  it('asked for while one is under way is done once more after it', async () => {
    const ends: (() => void)[] = [];
    const renewal = new Renewal({
      renew: () => new Promise((resolve) => ends.push(resolve)),
      onFault: () => {},
    });
    for (let asked = 0; asked < 5; asked++) renewal.ask();
    ends[0]?.();
    await eventually(() => ends.length === 2);
    ends[1]?.();
    await renewal.close();
    expect(ends).toHaveLength(2);
  });

  it('is given up with its owner', async () => {
    let tries = 0;
    const renewal = new Renewal({
      renew: async () => {
        tries += 1;
        throw new Error('never');
      },
      onFault: () => {},
    });
    renewal.ask();
    await eventually(() => tries === 2);
    await renewal.close();
    renewal.ask();
    expect(tries).toBe(2);
  });
});
