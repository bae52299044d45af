import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { type PlaceLimits, Places } from '../../../src/services/scripting/places.js';

const LIMITS: PlaceLimits = { places: 3, perDomain: 2, perCaller: 2, waiting: 4, waitingPerCaller: 2 };

function open(limits: Partial<PlaceLimits> = {}): Places {
  return new Places({
    limits: { ...LIMITS, ...limits },
    refuse: (reason) => new ServiceError('UNAVAILABLE', reason),
  });
}

const take = (
  places: Places,
  caller: string,
  { domainId = 'top', longestMs = 60_000, signal = undefined as AbortSignal | undefined } = {},
) => places.take({ domainId, caller }, { signal, longestMs });

/** Takes a place later; notes whose turn it was. */
function queue(places: Places, caller: string, turns: string[], domainId = 'top'): Promise<() => void> {
  return take(places, caller, { domainId }).then((giveBack) => {
    turns.push(caller);
    return giveBack;
  });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a place', () => {
  it('is free at once as long as there are any', async () => {
    const places = open();
    await take(places, 'a');
    await take(places, 'b');
    expect(places.use).toEqual({ taken: 2, waiting: 0 });
  });

  it('given back twice is given back once', async () => {
    const places = open();
    const giveBack = await take(places, 'a');
    await take(places, 'b');
    giveBack();
    giveBack();
    expect(places.use).toEqual({ taken: 1, waiting: 0 });
  });

  it('is kept from a caller and a domain who have their share', async () => {
    const places = open({ perCaller: 1 });
    await take(places, 'a');
    expect(places.takeNow({ domainId: 'top', caller: 'a' })).toBeUndefined();
    await take(places, 'b');
    expect(places.takeNow({ domainId: 'top', caller: 'c' })).toBeUndefined();
    expect(places.takeNow({ domainId: 'sub', caller: 'a' })).toBeDefined();
    expect(places.use.taken).toBe(3);
  });

  it('goes to whoever has fewest, before those who came first', async () => {
    const places = open({ places: 2, perDomain: 2 });
    const first = await take(places, 'many');
    const second = await take(places, 'many');
    const turns: string[] = [];
    const third = queue(places, 'many', turns);
    const fourth = queue(places, 'one', turns);
    first();
    await settled();
    expect(turns).toEqual(['one']);
    second();
    await settled();
    expect(turns).toEqual(['one', 'many']);
    for (const giveBack of [await third, await fourth]) giveBack();
    expect(places.use).toEqual({ taken: 0, waiting: 0 });
  });

  it('goes to another domain before a second one of the same', async () => {
    const places = open({ places: 2 });
    const first = await take(places, 'a');
    await take(places, 'b');
    const turns: string[] = [];
    const third = queue(places, 'c', turns);
    void queue(places, 'd', turns, 'sub');
    first();
    await settled();
    expect(turns).toEqual(['d']);
    places.close();
    await expect(third).rejects.toThrow('closed');
  });

  it('is refused when too many wait, of all or of one caller', async () => {
    const places = open({ places: 1 });
    await take(places, 'a');
    for (const caller of ['a', 'a']) void take(places, caller).catch(() => {});
    await expect(take(places, 'a')).rejects.toThrow('callerFull');
    for (const caller of ['b', 'b']) void take(places, caller).catch(() => {});
    await expect(take(places, 'c')).rejects.toThrow('full');
    places.close();
  });

  it('is not waited for longer than allowed, nor by who has gone, and neither loses it', async () => {
    const places = open({ places: 1 });
    const giveBack = await take(places, 'a');
    await expect(take(places, 'b', { longestMs: 1 })).rejects.toThrow('late');
    const caller = new AbortController();
    const waiting = take(places, 'c', { signal: caller.signal });
    caller.abort(new Error('gone'));
    giveBack();
    await expect(waiting).rejects.toThrow('gone');
    expect(places.use).toEqual({ taken: 0, waiting: 0 });
  });

  it('is not there any more once they are closed', async () => {
    const places = open({ places: 1 });
    await take(places, 'a');
    const waiting = take(places, 'b');
    places.close();
    await expect(waiting).rejects.toThrow('closed');
    await expect(take(places, 'c')).rejects.toThrow('closed');
  });
});
