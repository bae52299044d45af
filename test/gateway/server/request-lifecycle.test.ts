import { getMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { toAbortSignal } from '../../../src/base/model/end-signal.js';
import { RequestLifecycle } from '../../../src/gateway/server/request-lifecycle.js';

describe('the signal of a request', () => {
  it('may be listened to by as many statements as a document has fields', () => {
    const { signal } = new RequestLifecycle('id', '127.0.0.1', {});
    // Of a signal with a bound Node warns as of a leak.
    expect(getMaxListeners(toAbortSignal(signal))).toBe(Number.POSITIVE_INFINITY);
  });

  it('ends once, with the reason, for those who listen then', () => {
    const lifecycle = new RequestLifecycle('id', '127.0.0.1', {});
    const { signal } = lifecycle;
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
    lifecycle.abandon();
    lifecycle.abandon();
    signal.addEventListener('abort', () => heard.push('late'));
    lifecycle.abandon();
    expect(heard).toEqual(['first', 'second']);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toEqual(new Error('the caller has gone'));
    expect(() => signal.throwIfAborted()).toThrow('the caller has gone');
  });

  it('is an AbortSignal for those who need one, before it ends and after', () => {
    const lifecycle = new RequestLifecycle('id', '127.0.0.1', {});
    const before = toAbortSignal(lifecycle.signal);
    expect(before).toBeInstanceOf(AbortSignal);
    expect(before.aborted).toBe(false);
    lifecycle.abandon();
    expect(before.reason).toBe(lifecycle.signal.reason);
    expect(toAbortSignal(lifecycle.signal).reason).toBe(lifecycle.signal.reason);
    expect(toAbortSignal(before)).toBe(before);
  });
});
