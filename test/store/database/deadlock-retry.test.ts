import { describe, expect, it } from '@jest/globals';
import { DeadlockRetry } from '../../../src/store/database/deadlock-retry.js';

const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' });

describe('a write that met a deadlock', () => {
  it('is tried again, after those under way', async () => {
    let attempts = 0;
    const answer = await new DeadlockRetry().run(async () => {
      attempts += 1;
      if (attempts < 3) throw deadlock();
      return attempts;
    });
    expect(answer).toBe(3);
  });

  it('is refused with the time to try again when it waits too long, and so are those behind it', async () => {
    const retry = new DeadlockRetry({ waitMs: 50 });
    let end = () => {};
    const long = retry.run(() => new Promise<void>((resolve) => (end = resolve)));
    const failing = Array.from({ length: 20 }, () => retry.run(() => Promise.reject(deadlock())));
    const outcomes = await Promise.allSettled(failing);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'UNAVAILABLE', retryAfterSeconds: expect.any(Number) },
      });
    }
    end();
    await long;
    expect(await retry.run(async () => 'served')).toBe('served');
  });
});
