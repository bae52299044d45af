import { describe, expect, it } from '@jest/globals';
import { type Closer, closeInTurn, thenClose } from '../../../src/base/process/close-in-turn.js';

describe('closing', () => {
  it('goes on, in reverse order, where one fails, and reports all that failed', async () => {
    const closed: string[] = [];
    const closers: Closer[] = ['a', 'b', 'c', 'd'].map((name) => async () => {
      closed.push(name);
      if (name === 'b' || name === 'd') throw new Error(`${name} failed`);
    });
    await expect(closeInTurn(closers)).rejects.toMatchObject({ message: 'Error: d failed; Error: b failed' });
    expect(closed).toEqual(['d', 'c', 'b', 'a']);
    await closeInTurn(closers);
    expect(closed).toHaveLength(4);
  });

  it('does not replace the error of the work', async () => {
    const faults: unknown[] = [];
    const fail = (text: string) => async () => {
      throw new Error(text);
    };
    await expect(thenClose(fail('work'), fail('close'), (error) => faults.push(error))).rejects.toThrow(
      'work',
    );
    expect(faults.map(String)).toEqual(['Error: close']);
    await expect(
      thenClose(
        async () => 1,
        fail('close'),
        () => {},
      ),
    ).rejects.toThrow('close');
    await expect(
      thenClose(
        async () => 1,
        async () => {},
        () => {},
      ),
    ).resolves.toBe(1);
  });
});
