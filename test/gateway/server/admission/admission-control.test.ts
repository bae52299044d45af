import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { URGENCIES } from '../../../../src/base/process/urgency.js';
import {
  AdmissionControl,
  limitsOfProcess,
} from '../../../../src/gateway/server/admission/admission-control.js';
import type { Permit } from '../../../../src/store/database/fair-queue.js';
import { eventually } from '../../../eventually.js';

/** Requests by name, e.g. `a/x/short 1`: of tenant `a`, the caller `x`, and how urgent it is. */
class Crowd {
  readonly admission: AdmissionControl;
  /** In the order in which they were let in. */
  readonly entered: string[] = [];
  readonly refused: string[] = [];
  readonly #permits = new Map<string, Permit>();

  constructor(places: number, { waitMs = 60_000, besideOthers = places } = {}) {
    this.admission = new AdmissionControl({ limits: { all: places, besideOthers }, waitMs });
  }

  come(...names: readonly string[]): void {
    for (const name of names) {
      const [tenant = '', caller = '', kind = ''] = name.split('/');
      const urgency = URGENCIES.find((known) => kind.startsWith(known)) ?? 'short';
      const letIn = (permit: Permit) => {
        this.entered.push(name);
        this.#permits.set(name, permit);
      };
      const isAnonymous = caller === 'anonymous';
      const entry = this.admission.acquire({ tenant, caller, isAnonymous }, urgency);
      if ('then' in entry) entry.then(letIn, (error) => this.refused.push(`${name}: ${error.code}`));
      else letIn(entry);
    }
  }

  leave(...names: readonly string[]): void {
    for (const name of names) this.#permits.get(name)?.release();
  }
}

/** Long enough for all that may be let in. */
async function settle(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn();
}

describe('the admission control', () => {
  it('lets in as many as there are places, and a tenant that is alone three quarters of them', async () => {
    const crowd = new Crowd(4);
    crowd.come('a/1/1', 'a/1/2', 'a/1/3', 'a/1/4');
    await settle();
    expect(crowd.entered).toEqual(['a/1/1', 'a/1/2', 'a/1/3']);
    expect(crowd.admission.waiting).toBe(1);
    crowd.leave('a/1/2');
    crowd.leave('a/1/2');
    await settle();
    expect(crowd.entered.slice(3)).toEqual(['a/1/4']);
    expect(crowd.admission.waiting).toBe(0);
  });

  it('gives the permits of anonymous callers back at a pace, to them and others alike', async () => {
    const crowd = new Crowd(4);
    crowd.come('a/anonymous/1', 'a/anonymous/2', 'a/anonymous/3', 'a/anonymous/4');
    crowd.leave('a/anonymous/1', 'a/anonymous/1');
    // In the same moment, so that no timer can have gone off.
    crowd.come('b/1/1', 'b/1/2');
    expect(crowd.entered).toEqual(['a/anonymous/1', 'a/anonymous/2', 'a/anonymous/3', 'b/1/1']);
    await eventually(() => crowd.entered.length === 5);
    expect(crowd.admission.waiting).toBe(1);
    crowd.leave('a/anonymous/2', 'a/anonymous/3', 'b/1/1');
    await eventually(() => crowd.admission.waiting === 0);
  });

  it('gives floods together few places while others ask too, and all again when they have gone', async () => {
    const crowd = new Crowd(16, { besideOthers: 4 });
    crowd.come('b/1/1');
    crowd.leave('b/1/1');
    crowd.come(...Array.from({ length: 14 }, (_, index) => `a/1/${index}`));
    await settle();
    expect(crowd.entered).toHaveLength(1 + 4);
    crowd.come('b/1/2', 'c/1/1', 'c/1/2', 'c/1/3', 'c/1/4');
    await settle();
    // With two in line each has half of the four.
    expect(crowd.entered.slice(5)).toEqual(['b/1/2', 'c/1/1', 'c/1/2', 'c/1/3', 'c/1/4']);
    crowd.come('c/1/5');
    crowd.leave('c/1/1', 'c/1/2', 'a/1/0', 'a/1/1');
    await settle();
    expect(crowd.entered.slice(10)).toEqual([]);
    crowd.leave('c/1/3');
    await settle();
    expect(crowd.entered.slice(10)).toEqual(['c/1/5', 'a/1/4', 'a/1/5']);
    await eventually(() => crowd.entered.filter((name) => name.startsWith('a/')).length === 14);
  });

  it('lets short requests go before streams, and these before scripts, which are not forgotten', async () => {
    const crowd = new Crowd(1);
    crowd.come('a/x/short 0', 'a/x/script', 'a/x/stream');
    const short = Array.from({ length: 8 }, (_, index) => `a/x/short ${index + 1}`);
    crowd.come(...short);
    for (let index = 0; index < 11; index++) {
      await settle();
      crowd.leave(crowd.entered[index] ?? '');
    }
    expect(crowd.entered).toEqual([
      'a/x/short 0',
      ...short.slice(0, 7),
      'a/x/script',
      'a/x/short 8',
      'a/x/stream',
    ]);
  });

  it('keeps half of the permits of a tenant for its short requests', async () => {
    const crowd = new Crowd(8);
    crowd.come(...Array.from({ length: 4 }, (_, index) => `a/x/stream ${index}`), 'a/x/script', 'a/x/short');
    await settle();
    expect(crowd.entered).toEqual(['a/x/stream 0', 'a/x/stream 1', 'a/x/stream 2', 'a/x/short']);
  });

  it('admits tenants in turn, and of a tenant its callers', async () => {
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
    const crowd = new Crowd(1, { waitMs: 300 });
    crowd.come('a/x/1', 'a/x/2', 'b/x/1');
    await sleep(700);
    expect(crowd.refused).toEqual(['a/x/2: UNAVAILABLE', 'b/x/1: UNAVAILABLE']);
    expect(crowd.admission.waiting).toBe(0);
    crowd.come('a/x/3');
    crowd.leave('a/x/1');
    await settle();
    expect(crowd.entered).toEqual(['a/x/1', 'a/x/3']);
  });

  it('refuses at once who would wait in vain, and nobody who asks for little', async () => {
    const crowd = new Crowd(1, { waitMs: 30_000 });
    crowd.come(...Array.from({ length: 100 }, (_, index) => `a/x/${index}`));
    // None is done, so every second or so a place is taken from whoever has it.
    await eventually(() => crowd.refused.length > 50, 20_000);
    expect(crowd.admission.waiting).toBeGreaterThan(0);
    crowd.come(...Array.from({ length: 30 }, (_, index) => `a/x/late ${index}`), 'a/y/other');
    await eventually(() => crowd.refused.includes('a/x/late 29: UNAVAILABLE'), 20_000);
    expect(crowd.refused).not.toContain('a/y/other: UNAVAILABLE');
  });

  it('gives the place of what takes long to who waits', async () => {
    const crowd = new Crowd(1);
    crowd.come('a/x/1', 'b/x/1');
    await sleep(1_500);
    expect(crowd.entered).toEqual(['a/x/1', 'b/x/1']);
    crowd.come('c/x/1');
    crowd.leave('a/x/1');
    await settle();
    expect(crowd.admission.waiting).toBe(1);
    crowd.leave('b/x/1');
    await settle();
    expect(crowd.entered).toEqual(['a/x/1', 'b/x/1', 'c/x/1']);
  });
});

describe('what takes long', () => {
  it('keeps its place where its tenant has as many such requests as there are permits', async () => {
    const crowd = new Crowd(1);
    crowd.come('a/x/1', 'a/x/2', 'b/x/1');
    await eventually(() => crowd.entered.length === 2);
    await sleep(1_500);
    expect(crowd.entered).toEqual(['a/x/1', 'a/x/2']);
    crowd.leave('a/x/1');
    await eventually(() => crowd.entered.length === 3);
    crowd.leave('a/x/2', 'b/x/1');
    await eventually(() => crowd.admission.waiting === 0);
  });
});

describe('the places of a process', () => {
  it.each([
    { poolSize: 4, workers: 1, all: 32, besideOthers: 2 },
    { poolSize: 16, workers: 1, all: 32, besideOthers: 8 },
    { poolSize: 20, workers: 1, all: 40, besideOthers: 10 },
    { poolSize: 16, workers: 2, all: 16, besideOthers: 4 },
    { poolSize: 20, workers: 3, all: 14, besideOthers: 3 },
    { poolSize: 16, workers: 8, all: 8, besideOthers: 2 },
  ])(
    'are $all beside $poolSize connections, one of $workers; $besideOthers for floods beside others',
    ({ poolSize, workers, ...places }) => {
      expect(limitsOfProcess({ poolSize, workers })).toEqual(places);
    },
  );
});
