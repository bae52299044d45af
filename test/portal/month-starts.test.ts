import { describe, expect, it } from '@jest/globals';
import { areMonthStarts } from '../../src/portal/browser/charts/shorten-label.js';

describe('the months of an axis', () => {
  it.each<[boolean, ...string[]]>([
    [true, '2026-04-01', '2026-05-01'],
    [true, '2026-04-10', '2026-05-01', '2026-06-01'],
    [false, '2026-04-01'],
    [false, '2026-03-31', '2026-04-01'],
    [false, '2026-04-01', '2026-04-02'],
    [false, '2026-04-01', '2026-05-01', '5'],
    [false],
  ])('are told by their first days: %s of %s %s %s', (areThey, ...days) => {
    expect(areMonthStarts(days)).toBe(areThey);
  });
});
