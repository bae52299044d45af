import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Slots } from '../../../src/base/process/slots.js';

describe('slots', () => {
  test('hold what was added and not removed, each once, in as few places as were ever taken together', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (steps) => {
        const slots = new Slots<{ readonly number: number }>();
        const held = new Map<{ readonly number: number }, number>();
        let most = 0;
        for (const [number, step] of steps.entries()) {
          const known = [...held];
          const taken = known[step % Math.max(1, known.length)];
          if (step % 2 === 0 || taken === undefined) {
            const value = { number };
            held.set(value, slots.add(value));
          } else {
            const [value, slot] = taken;
            held.delete(value);
            expect(slots.remove(slot, value)).toBe(true);
            expect(slots.remove(slot, value)).toBe(false);
          }
          most = Math.max(most, held.size);
          expect(slots.size).toBe(held.size);
          expect(new Set(slots)).toEqual(new Set(held.keys()));
          expect([...held.values()].every((slot) => slot < most)).toBe(true);
        }
      }),
    );
  });
});
