import { describe, expect, it } from '@jest/globals';
import { dayAfter } from '../../src/portal/browser/language/days.js';

describe('the day after', () => {
  it.each([
    ['2026-12-31', '2027-01-01'],
    ['2028-02-28', '2028-02-29'],
    ['2026-13-01', '2026-13-01'],
    ['soon', 'soon'],
  ])('%s is %s', (day, next) => {
    expect(dayAfter(day)).toBe(next);
  });
});
