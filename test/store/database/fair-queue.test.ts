import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { FairQueue, type FairQueueOptions, type Permit } from '../../../src/store/database/fair-queue.js';

const LIMITS = { total: 3, perTenant: 2, perCaller: 2, waiting: 4, waitingPerCaller: 2 };

function open(limits: Partial<FairQueueOptions> = {}): FairQueue {
  const refusal = (reason: string) => new ServiceError('UNAVAILABLE', reason);
  return new FairQueue({ ...LIMITS, waitMs: 60_000, refusal, ...limits });
}

const take = (
  queue: FairQueue,
  caller: string,
  { tenant = 'top', waitMs = 60_000, signal = undefined as AbortSignal | undefined } = {},
) => queue.acquire({ tenant, caller }, { signal, waitMs });

/** Takes a permit later; notes whose turn it was. */
function wait(queue: FairQueue, caller: string, turns: string[], tenant = 'top'): Promise<Permit> {
  return take(queue, caller, { tenant }).then((permit) => {
    turns.push(caller);
    return permit;
  });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a permit', () => {
  it('is free at once as long as there are any', async () => {
    const queue = open();
    await take(queue, 'a');
    await take(queue, 'b');
    expect(queue.use).toEqual({ held: 2, waiting: 0 });
  });

  it('given back twice is given back once', async () => {
    const queue = open();
    const permit = await take(queue, 'a');
    await take(queue, 'b');
    permit.release();
    permit.release();
    expect(queue.use).toEqual({ held: 1, waiting: 0 });
  });

  it('is kept from a caller and a domain who have their share', async () => {
    const queue = open({ perCaller: 1 });
    await take(queue, 'a');
    expect(queue.tryAcquire({ tenant: 'top', caller: 'a' })).toBeUndefined();
    await take(queue, 'b');
    expect(queue.tryAcquire({ tenant: 'top', caller: 'c' })).toBeUndefined();
    expect(queue.tryAcquire({ tenant: 'sub', caller: 'a' })).toBeDefined();
    expect(queue.use.held).toBe(3);
  });

  it('goes to whoever has fewest, before those who came first', async () => {
    const queue = open({ total: 2 });
    const first = await take(queue, 'many');
    const second = await take(queue, 'many');
    const turns: string[] = [];
    const third = wait(queue, 'many', turns);
    const fourth = wait(queue, 'one', turns);
    first.release();
    await settled();
    expect(turns).toEqual(['one']);
    second.release();
    await settled();
    expect(turns).toEqual(['one', 'many']);
    for (const permit of [await third, await fourth]) permit.release();
    expect(queue.use).toEqual({ held: 0, waiting: 0 });
  });

  it('goes to another domain before a second one of the same', async () => {
    const queue = open({ total: 2 });
    const first = await take(queue, 'a');
    await take(queue, 'b');
    const turns: string[] = [];
    const third = wait(queue, 'c', turns);
    void wait(queue, 'd', turns, 'sub');
    first.release();
    await settled();
    expect(turns).toEqual(['d']);
    queue.close();
    await expect(third).rejects.toThrow('closed');
  });

  it('is refused when too many wait, of all or of one caller', async () => {
    const queue = open({ total: 1 });
    await take(queue, 'a');
    for (const caller of ['a', 'a']) void take(queue, caller).catch(() => {});
    await expect(take(queue, 'a')).rejects.toThrow('callerFull');
    for (const caller of ['b', 'b']) void take(queue, caller).catch(() => {});
    await expect(take(queue, 'c')).rejects.toThrow('full');
    queue.close();
  });

  it('is not waited for longer than allowed, nor by who has gone, and neither loses it', async () => {
    const queue = open({ total: 1 });
    const permit = await take(queue, 'a');
    await expect(take(queue, 'b', { waitMs: 1 })).rejects.toThrow('late');
    const caller = new AbortController();
    const waiting = take(queue, 'c', { signal: caller.signal });
    caller.abort(new Error('gone'));
    permit.release();
    await expect(waiting).rejects.toThrow('gone');
    expect(queue.use).toEqual({ held: 0, waiting: 0 });
  });

  it('is not there any more once they are closed', async () => {
    const queue = open({ total: 1 });
    await take(queue, 'a');
    const waiting = take(queue, 'b');
    queue.close();
    await expect(waiting).rejects.toThrow('closed');
    await expect(take(queue, 'c')).rejects.toThrow('closed');
  });

  it('limits each caller alone, where only callers are limited', async () => {
    const queue = new FairQueue({ perCaller: 1, waitingPerCaller: 1, waitMs: 1, refusal: 'Too many' });
    let end = () => {};
    const first = queue.run('a', () => new Promise<void>((resolve) => (end = resolve)));
    let hasWaited = false;
    const late = queue.run('a', async () => 'late', { onWait: () => (hasWaited = true) });
    await expect(queue.run('a', async () => 'full')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Too many at the moment; try again later.',
      retryAfterSeconds: 1,
    });
    expect(await queue.run('b', async () => 'free')).toBe('free');
    await expect(late).rejects.toThrow('Too many');
    expect(hasWaited).toBe(true);
    end();
    await first;
    await expect(queue.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(queue.use).toEqual({ held: 0, waiting: 0 });
  });
});
