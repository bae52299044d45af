import { getMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { toAbortSignal } from '../../../src/base/model/end-signal.js';
import { Arrival } from '../../../src/gateway/server/arrival.js';

describe('the signal of a request', () => {
  it('may be listened to by as many statements as a document has fields', () => {
    const { signal } = new Arrival('id', '127.0.0.1', {});
    // Of a signal with a bound Node warns as of a leak.
    expect(getMaxListeners(toAbortSignal(signal))).toBe(Number.POSITIVE_INFINITY);
  });

  it('ends once, with the reason, for those who listen then', () => {
    const arrival = new Arrival('id', '127.0.0.1', {});
    const { signal } = arrival;
    const heard: string[] = [];
    const leaver = () => heard.push('leaver');
    signal.addEventListener('abort', () => {
      heard.push('first');
      signal.removeEventListener('abort', leaver);
    });
    signal.addEventListener('abort', leaver);
    signal.addEventListener('abort', () => heard.push('second'));
    expect(signal.aborted).toBe(false);
    expect(() => signal.throwIfAborted()).not.toThrow();
    arrival.abandon();
    arrival.abandon();
    signal.addEventListener('abort', () => heard.push('late'));
    arrival.abandon();
    expect(heard).toEqual(['first', 'second']);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toEqual(new Error('the caller has gone'));
    expect(() => signal.throwIfAborted()).toThrow('the caller has gone');
  });

  it('is an AbortSignal for those who need one, before it ends and after', () => {
    const arrival = new Arrival('id', '127.0.0.1', {});
    const before = toAbortSignal(arrival.signal);
    expect(before).toBeInstanceOf(AbortSignal);
    expect(before.aborted).toBe(false);
    arrival.abandon();
    expect(before.reason).toBe(arrival.signal.reason);
    expect(toAbortSignal(arrival.signal).reason).toBe(arrival.signal.reason);
    expect(toAbortSignal(before)).toBe(before);
  });
});
