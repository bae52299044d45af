import { describe, expect, it } from '@jest/globals';
import { StreamLimits } from '../../../../src/gateway/server/admission/stream-limits.js';

function limits(poolSize: number, maxStreamsPerCredential = 6) {
  return new StreamLimits({
    poolSize,
    maxStreamsPerCredential,
    streamStallMs: 1,
    streamMinBytesPerSecond: 1,
  });
}

const refusal = (code: string, words: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(words), retryAfterSeconds: 5 });

describe('long streamed answers', () => {
  it('are so many a user, and free again when they end', () => {
    const streams = limits(100, 2);
    const first = streams.acquire('a');
    streams.acquire('a');
    expect(() => streams.acquire('a')).toThrow(refusal('TOO_MANY_REQUESTS', /MAX_STREAMS_PER_CREDENTIAL/));
    first.release();
    first.release();
    streams.acquire('a');
    expect(() => streams.acquire('a')).toThrow(refusal('TOO_MANY_REQUESTS', /2 streams/));
  });

  it('leave half of the connections to those who read none', () => {
    const streams = limits(8);
    for (let index = 0; index < 4; index++) streams.acquire('a');
    expect(() => streams.acquire('a')).toThrow(refusal('TOO_MANY_REQUESTS', /Half of the 8 connections/));
    streams.acquire('b');
    expect(() => streams.acquire('b')).toThrow(refusal('TOO_MANY_REQUESTS', /kept for callers/));
    streams.acquire('c');
  });

  it('are refused at once, and by name, when slow readers hold what may wait for them', () => {
    const streams = limits(4);
    const held = ['a', 'b', 'c'].map((user) => streams.acquire(user));
    streams.acquire('d').release();
    for (const permit of held) permit.heldBack(true);
    expect(() => streams.acquire('e')).toThrow(
      refusal('UNAVAILABLE', /All 3 places .* slow readers .*POOL_SIZE/),
    );
    held[0]?.heldBack(false);
    streams.acquire('e').release();
    held[0]?.heldBack(true);
    held[1]?.release();
    streams.acquire('e');
  });
});
