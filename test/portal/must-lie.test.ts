import { describe, expect, it } from '@jest/globals';
import { mustLie } from '../../src/portal/browser/charts/shorten-label.js';

const times = (count: number, name: string) => Array.from({ length: count }, () => name);

describe('the bars of a chart', () => {
  it.each([
    ['the months of a session on a desk', times(12, 'Apr 2026'), 1100],
    ['the classes of a school in a tile of a phone', times(12, '12'), 282],
    ['a chart whose width is not known yet', times(120, 'Ananya Sharma'), 0],
    ['no bars at all', [], 328],
  ])('stand where their names have room: %s', (_, labels, width) => {
    expect(mustLie(labels, width)).toBe(false);
  });

  it.each([
    ['a hundred names', times(120, 'Ananya Sharma'), 1100],
    ['the fee heads of a school on a phone', times(6, 'Computer laboratory'), 328],
    ['one long name among short ones', [...times(11, '1'), 'Donaudampfschifffahrt'], 700],
  ])('lie where a name would be slanted: %s', (_, labels, width) => {
    expect(mustLie(labels, width)).toBe(true);
  });
});
