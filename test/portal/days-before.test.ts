import { describe, expect, it } from '@jest/globals';
import { dayBefore, monthsBefore, startOfSession } from '../../src/portal/browser/language/days.js';

describe('the days of the dashboard', () => {
  it.each([
    ['2026-11-20', 4, '2026-04-01'],
    ['2027-03-31', 4, '2026-04-01'],
    ['2026-04-01', 4, '2026-04-01'],
    ['2026-11-20', 1, '2026-01-01'],
    ['2026-11-20', 12, '2025-12-01'],
  ])('%s is, with sessions from month %d on, of the one that began on %s', (day, firstMonth, start) => {
    expect(startOfSession(day, firstMonth)).toBe(start);
  });

  it('go over the ends of months and years', () => {
    expect(dayBefore('2026-03-01', 1)).toBe('2026-02-28');
    expect(dayBefore('2026-12-31', -1)).toBe('2027-01-01');
    expect(monthsBefore('2026-04-01', 12)).toBe('2025-04-01');
    expect(monthsBefore('2026-01-31', 1)).toBe('2025-12-01');
  });
});
