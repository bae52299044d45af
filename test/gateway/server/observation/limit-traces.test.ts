import { describe, expect, it } from '@jest/globals';
import { limitTraces } from '../../../../src/gateway/server/observation/request-tracing.js';

const sent = (flags: string) => `00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-${flags}`;

function telling(perSecond: number) {
  let time = 0;
  const isTold = limitTraces(perSecond, () => time);
  return {
    count: (traceparent?: string) =>
      Array.from({ length: 20 }, () => isTold(traceparent)).filter(Boolean).length,
    wait: (ms: number) => {
      time += ms;
    },
  };
}

describe('how many requests are told of', () => {
  it('is so many a second, and after a pause ten times as many at once', () => {
    const { count, wait } = telling(1);
    expect(count()).toBe(10);
    wait(2_001);
    expect(count()).toBe(2);
    wait(60_000);
    expect(count()).toBe(10);
  });

  it('has those among them that a caller wants told', () => {
    const { count } = telling(1);
    expect(count(sent('01'))).toBe(10);
    expect(count()).toBe(0);
  });

  it('has none of those that a caller wants untold, nor counts them', () => {
    const { count } = telling(1);
    expect(count(sent('00'))).toBe(0);
    expect(count(sent('02'))).toBe(0);
    expect(count(sent('03'))).toBe(10);
  });

  it('takes what is no traceparent for none', () => {
    expect(telling(1).count('nonsense-00')).toBe(10);
  });
});
