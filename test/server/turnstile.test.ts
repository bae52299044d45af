import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { countPlaces, type Passage, Turnstile } from '../../src/server/turnstile.js';

/** Requests by name, e.g. `a/x`: of party `a`, the member `x`. */
class Crowd {
  readonly turnstile: Turnstile;
  /** In the order in which they were let in. */
  readonly entered: string[] = [];
  readonly refused: string[] = [];
  readonly #passages = new Map<string, Passage>();

  constructor(places: number, patienceMs = 60_000) {
    this.turnstile = new Turnstile({ places, patienceMs });
  }

  come(...names: readonly string[]): void {
    for (const name of names) {
      const [party = '', member = ''] = name.split('/');
      const letIn = (passage: Passage) => {
        this.entered.push(name);
        this.#passages.set(name, passage);
      };
      const entry = this.turnstile.enter({ party, member });
      if ('then' in entry) entry.then(letIn, (error) => this.refused.push(`${name}: ${error.code}`));
      else letIn(entry);
    }
  }

  leave(...names: readonly string[]): void {
    for (const name of names) this.#passages.get(name)?.leave();
  }
}

/** Long enough for all that may be let in. */
async function settle(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn();
}

describe('the turnstile', () => {
  it('lets in as many as there are places, and a party three quarters of them', async () => {
    const crowd = new Crowd(4);
    crowd.come('a/1/1', 'a/1/2', 'a/1/3', 'a/1/4', 'b/1/1', 'b/1/2');
    await settle();
    expect(crowd.entered).toEqual(['a/1/1', 'a/1/2', 'a/1/3', 'b/1/1']);
    expect(crowd.turnstile.waiting).toBe(2);
    crowd.leave('a/1/2');
    crowd.leave('a/1/2');
    await settle();
    expect(crowd.entered.slice(4)).toEqual(['a/1/4']);
    crowd.leave('b/1/1', 'a/1/1');
    await settle();
    expect(crowd.entered.slice(5)).toEqual(['b/1/2']);
    expect(crowd.turnstile.waiting).toBe(0);
  });

  it('lets parties in by turns, and of a party its members', async () => {
    const crowd = new Crowd(1);
    crowd.come('a/x/1', 'a/x/2', 'a/x/3', 'a/y/1', 'b/z/1', 'a/x/4');
    for (let index = 0; index < 6; index++) {
      await settle();
      crowd.leave(crowd.entered[index] ?? '');
    }
    expect(crowd.entered).toEqual(['a/x/1', 'a/x/2', 'b/z/1', 'a/y/1', 'a/x/3', 'a/x/4']);
  });

  it('lets in a bounded number in one turn of the event loop, also of those that leave at once', async () => {
    const crowd = new Crowd(1000);
    const names = Array.from({ length: 60 }, (_, index) => `a/x/${index}`);
    for (const name of names) {
      crowd.come(name);
      crowd.leave(name);
    }
    expect(crowd.entered).toHaveLength(16);
    let most = 0;
    for (let before = 16; before < 60; before = crowd.entered.length) {
      await turn();
      most = Math.max(most, crowd.entered.length - before);
      crowd.leave(...names);
    }
    expect(most).toBeLessThanOrEqual(4);
    expect(crowd.entered).toEqual(names);
  });

  it('refuses who waited too long, and nobody else', async () => {
    const crowd = new Crowd(1, 300);
    crowd.come('a/x/1', 'a/x/2', 'b/x/1');
    await sleep(700);
    expect(crowd.refused).toEqual(['a/x/2: UNAVAILABLE', 'b/x/1: UNAVAILABLE']);
    expect(crowd.turnstile.waiting).toBe(0);
    crowd.come('a/x/3');
    crowd.leave('a/x/1');
    await settle();
    expect(crowd.entered).toEqual(['a/x/1', 'a/x/3']);
  });

  it('gives the place of what takes long to who waits', async () => {
    const crowd = new Crowd(1);
    crowd.come('a/x/1', 'b/x/1');
    await sleep(1_500);
    expect(crowd.entered).toEqual(['a/x/1', 'b/x/1']);
    crowd.come('c/x/1');
    crowd.leave('a/x/1');
    await settle();
    expect(crowd.turnstile.waiting).toBe(1);
    crowd.leave('b/x/1');
    await settle();
    expect(crowd.entered).toEqual(['a/x/1', 'b/x/1', 'c/x/1']);
  });
});

describe('the places of a process', () => {
  it.each([
    { poolSize: 4, workers: 1, places: 32 },
    { poolSize: 20, workers: 1, places: 40 },
    { poolSize: 16, workers: 2, places: 16 },
    { poolSize: 20, workers: 3, places: 14 },
    { poolSize: 16, workers: 8, places: 8 },
  ])('are $places beside $poolSize connections, one of $workers', ({ places, ...shared }) => {
    expect(countPlaces(shared)).toBe(places);
  });
});
