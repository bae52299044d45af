import { describe, expect, it } from '@jest/globals';
import { BodyRoom } from '../../src/server/body-room.js';

const STAYS = new AbortController().signal;
const NO_ROOM = { code: 'UNAVAILABLE', retryAfterSeconds: 5 };

function room(bytes: number, waitMs = 60_000) {
  return new BodyRoom({ bytes, waitMs });
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

describe('the room for large bodies', () => {
  it('is left to those who wait, in the order in which they came', async () => {
    const bodies = room(100);
    const leave = await bodies.enter('a', 50, STAYS);
    const others = ['b', 'c', 'd'].map((caller) => bodies.enter(caller, 50, STAYS));
    expect(await entered(others)).toEqual([0]);
    leave();
    leave();
    expect(await entered(others)).toEqual([0, 1]);
  });

  it('has half for one caller, whose further bodies keep no other out', async () => {
    const bodies = room(100);
    const leave = await bodies.enter('a', 50, STAYS);
    const others = [bodies.enter('a', 10, STAYS), bodies.enter('b', 50, STAYS)];
    expect(await entered(others)).toEqual([1]);
    leave();
    expect((await entered(others)).toSorted()).toEqual([0, 1]);
  });

  it('is had by a body that is larger than all of it when nothing else is there', async () => {
    const bodies = room(100);
    const leave = await bodies.enter('a', 1000, STAYS);
    const other = bodies.enter('b', 1, STAYS);
    expect(await entered([other])).toEqual([]);
    leave();
    expect(await entered([other])).toEqual([0]);
  });

  it('is refused to who has waited too long, and by name', async () => {
    const bodies = room(100, 1);
    const leave = await bodies.enter('a', 100, STAYS);
    await expect(bodies.enter('b', 1, STAYS)).rejects.toMatchObject(NO_ROOM);
    await expect(bodies.enter('b', 1, STAYS)).rejects.toThrow(/BODY_ROOM_BYTES/);
    leave();
    await bodies.enter('b', 1, STAYS);
  });

  it('is not kept for callers who have gone', async () => {
    const bodies = room(100);
    const leave = await bodies.enter('a', 100, STAYS);
    const gone = new AbortController();
    const waiting = bodies.enter('b', 50, gone.signal);
    gone.abort();
    await expect(waiting).rejects.toMatchObject(NO_ROOM);
    await expect(bodies.enter('b', 50, gone.signal)).rejects.toMatchObject(NO_ROOM);
    leave();
    const others = [bodies.enter('c', 50, STAYS), bodies.enter('d', 50, STAYS)];
    expect(await entered(others)).toEqual([0, 1]);
  });
});
