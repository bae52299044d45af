import { describe, expect, it } from '@jest/globals';
import { fromWallTime, toWallTime } from '../../src/portal/browser/language/days.js';

describe('a wall time', () => {
  it.each([
    ['2026-04-01T03:32:40.000Z', 'Asia/Kolkata', '2026-04-01T09:02:40'],
    ['2026-07-01T22:30:00.000Z', 'Europe/Berlin', '2026-07-02T00:30:00'],
    ['2026-03-29T01:30:00.000Z', 'Europe/Berlin', '2026-03-29T03:30:00'],
  ])('of %s in %s is %s, and back', (instant, timeZone, wallTime) => {
    expect(toWallTime(instant, timeZone)).toBe(wallTime);
    expect(fromWallTime(wallTime, timeZone)).toBe(instant);
  });

  it('may come without its seconds, as some browsers give it', () => {
    expect(fromWallTime('2026-04-01T09:02', 'Asia/Kolkata')).toBe('2026-04-01T03:32:00.000Z');
  });

  it.each(['0002-01-05T10:00:00', '0020-01-05T10:00:00', '0202-12-31T23:59:59', '9999-12-31T23:59:59'])(
    'is one while its year is typed: %s',
    (wallTime) => {
      expect(toWallTime(fromWallTime(wallTime, 'Asia/Kolkata'), 'Asia/Kolkata')).toBe(wallTime);
    },
  );
});
