import { describe, expect, it } from '@jest/globals';
import { shortenLabel } from '../../src/portal/browser/charts/shorten-label.js';

describe('what a part of a chart is called', () => {
  it.each([
    ['Annual charges', 'Annual charges'],
    ['12345678901234567890', '12345678901234567890'],
    ['Donaudampfschifffahrtsgesellschaft', 'Donaudampfschifffah…'],
    ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦👩‍👩‍👧‍👦'],
    ['', ''],
  ])('of %s stands there as %s', (label, short) => {
    expect(shortenLabel(label)).toBe(short);
  });
});
