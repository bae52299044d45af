import { describe, expect, it } from '@jest/globals';
import { createBodyMemoryLimit } from '../../../../src/gateway/server/admission/body-admission.js';
import type { FairQueue } from '../../../../src/store/database/fair-queue.js';

const STAYS = new AbortController().signal;
const NO_ROOM = { code: 'UNAVAILABLE', retryAfterSeconds: 5 };

function room(bytes: number, waitMs = 60_000) {
  return createBodyMemoryLimit({ bytes, waitMs });
}

/** Waits for room for a whole body; gives what releases it. */
async function enter(bodies: FairQueue, tenant: string, bytes: number, signal: AbortSignal) {
  const body = bodies.open({ tenant, caller: '' });
  await bodies.grow(body, bytes, { signal });
  return () => body.release();
}

/** Those of the bodies that are in by now. */
async function entered(bodies: readonly Promise<unknown>[]): Promise<readonly number[]> {
  const indexes: number[] = [];
  for (const [index, body] of bodies.entries()) {
    body.then(
      () => indexes.push(index),
      () => undefined,
    );
  }
  await new Promise((resolve) => setImmediate(resolve));
  return indexes;
}

describe('the memory for large bodies', () => {
  it('is left to those who wait, in the order in which they came', async () => {
    const bodies = room(100);
    const leave = await enter(bodies, 'a', 50, STAYS);
    const others = ['b', 'c', 'd'].map((caller) => enter(bodies, caller, 50, STAYS));
    expect(await entered(others)).toEqual([0]);
    leave();
    leave();
    expect(await entered(others)).toEqual([0, 1]);
  });

  it('has half for one caller, whose further bodies keep no other out', async () => {
    const bodies = room(100);
    const leave = await enter(bodies, 'a', 50, STAYS);
    const others = [enter(bodies, 'a', 10, STAYS), enter(bodies, 'b', 50, STAYS)];
    expect(await entered(others)).toEqual([1]);
    leave();
    expect((await entered(others)).toSorted()).toEqual([0, 1]);
  });

  it('has a quarter for callers that use none', async () => {
    const bodies = room(100);
    await enter(bodies, 'a', 50, STAYS);
    await enter(bodies, 'b', 20, STAYS);
    const others = [enter(bodies, 'b', 10, STAYS), enter(bodies, 'c', 30, STAYS)];
    expect(await entered(others)).toEqual([1]);
  });

  it('grows with what arrives, and all of it is released at once', async () => {
    const bodies = room(100);
    const body = bodies.open({ tenant: 'a', caller: '' });
    for (const bytes of [10, 0, 50, 30]) await bodies.grow(body, bytes, { signal: STAYS });
    const other = enter(bodies, 'b', 20, STAYS);
    expect(await entered([other])).toEqual([]);
    body.release();
    expect(await entered([other])).toEqual([0]);
  });

  it('is had by a body that is larger than all of it when nothing else is there', async () => {
    const bodies = room(100);
    const leave = await enter(bodies, 'a', 1000, STAYS);
    const other = enter(bodies, 'b', 1, STAYS);
    expect(await entered([other])).toEqual([]);
    leave();
    expect(await entered([other])).toEqual([0]);
  });

  it('is refused to who has waited too long, and by name', async () => {
    const bodies = room(100, 1);
    const leave = await enter(bodies, 'a', 100, STAYS);
    await expect(enter(bodies, 'b', 1, STAYS)).rejects.toMatchObject(NO_ROOM);
    await expect(enter(bodies, 'b', 1, STAYS)).rejects.toThrow(/BODY_ROOM_BYTES/);
    leave();
    await enter(bodies, 'b', 1, STAYS);
  });

  it('is not kept for callers who have gone', async () => {
    const bodies = room(100);
    const leave = await enter(bodies, 'a', 100, STAYS);
    const gone = new AbortController();
    const waiting = enter(bodies, 'b', 50, gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(enter(bodies, 'b', 50, gone.signal)).rejects.toThrow('gone');
    leave();
    const others = [enter(bodies, 'c', 50, STAYS), enter(bodies, 'd', 50, STAYS)];
    expect(await entered(others)).toEqual([0, 1]);
  });
});
