import { expect, it } from '@jest/globals';
import { reasonOfDamage } from '../../../src/base/text/reason-of-damage.js';

it('keeps what a library says, and leaves out what the engine says of its code', () => {
  expect(reasonOfDamage(new Error('invalid code lengths set'))).toBe('invalid code lengths set');
  for (const fault of [
    new TypeError("Cannot read properties of undefined (reading 'x')"),
    new RangeError('Maximum call stack size exceeded'),
    'thrown',
  ])
    expect(reasonOfDamage(fault)).toBe('its inner structure is not valid');
});
