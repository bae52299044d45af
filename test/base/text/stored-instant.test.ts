import { describe, expect, it } from '@jest/globals';
import { isStoredInstant } from '../../../src/base/text/stored-instant.js';

describe('an instant as it is stored', () => {
  it.each([
    '2026-07-01T03:05:00.000Z',
    '0000-01-01T00:00:00.000Z',
    '2026-01-31T23:59:59.999Z',
    '2024-02-29T00:00:00.000Z',
    '9999-12-28T12:00:00.000Z',
  ])('%s is one', (text) => {
    expect(isStoredInstant(text)).toBe(true);
  });

  it.each([
    ['without milliseconds', '2026-07-01T03:05:00Z'],
    ['with an offset', '2026-07-01T03:05:00.000+05:30'],
    ['the 29 February of another year', '2026-02-29T00:00:00.000Z'],
    ['the 31 April', '2026-04-31T00:00:00.000Z'],
    ['the hour 24', '2026-07-01T24:00:00.000Z'],
    ['the minute 60', '2026-07-01T03:60:00.000Z'],
    ['the month 13', '2026-13-01T00:00:00.000Z'],
    ['the day 0', '2026-07-00T00:00:00.000Z'],
  ])('%s is none', (_, text) => {
    expect(isStoredInstant(text)).toBe(false);
  });

  it('is what the clock prints of it, on every day and hour of three years', () => {
    const told: string[] = [];
    for (const year of ['2023', '2024', '2026']) {
      for (let number = 0; number < 12 * 31 * 25; number += 1) {
        const two = (value: number) => String(value).padStart(2, '0');
        const month = two(1 + Math.floor(number / (31 * 25)));
        const day = two(1 + (Math.floor(number / 25) % 31));
        const text = `${year}-${month}-${day}T${two(number % 25)}:00:00.000Z`;
        const milliseconds = Date.parse(text);
        const isOne = !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString() === text;
        if (isStoredInstant(text) !== isOne) told.push(text);
      }
    }
    expect(told).toEqual([]);
  });
});
