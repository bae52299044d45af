import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import * as calendar from '../../../src/base/model/calendar.js';
import { runsOf } from '../../full-length.js';

const { addDays, addMonths, dayOf, dayRange, instantFrom, isDay, isMonth, monthRange, today } = calendar;

describe('a day', () => {
  it('is one the calendar has', () => {
    expect(['2026-04-01', '2024-02-29', '0000-01-01', '9999-12-31'].map(isDay)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(
      ['2026-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-04-00', '26-04-01', '2026-4-1', ''].some(
        isDay,
      ),
    ).toBe(false);
    expect(['1900-02-29', '2100-02-29'].some(isDay)).toBe(false);
    expect(isDay('2000-02-29')).toBe(true);
  });

  it('starts at midnight of its zone', () => {
    expect(dayRange('2026-04-01', 'Asia/Kolkata')).toEqual({
      start: '2026-03-31T18:30:00.000Z',
      end: '2026-04-01T18:30:00.000Z',
    });
  });

  it('is 23 or 25 hours long when the clocks change', () => {
    expect(dayRange('2024-03-10', 'America/New_York')).toEqual({
      start: '2024-03-10T05:00:00.000Z',
      end: '2024-03-11T04:00:00.000Z',
    });
    expect(dayRange('2024-11-03', 'America/New_York')).toEqual({
      start: '2024-11-03T04:00:00.000Z',
      end: '2024-11-04T05:00:00.000Z',
    });
  });

  it('starts late where the clocks are put forward at midnight', () => {
    expect(dayRange('2018-11-04', 'America/Sao_Paulo').start).toBe('2018-11-04T03:00:00.000Z');
  });

  it('has ranges in text order at both ends of the years', () => {
    expect(dayRange('9999-12-31', 'America/New_York').end).toBe('9999-12-31T24:00:00.000Z');
    expect(dayRange('0000-01-01', 'Asia/Kolkata').start).toBe('0000-01-01T00:00:00.000Z');
    expect(monthRange('9999-12', 'UTC').end).toBe('9999-12-31T24:00:00.000Z');
  });

  it('follows the day before without a gap', () => {
    const zones = fc.constantFrom(
      'Asia/Kolkata',
      'America/New_York',
      'America/Sao_Paulo',
      'Pacific/Apia',
      'UTC',
    );
    const check = fc.property(day, zones, (one, zone) => {
      expect(dayRange(one, zone).end).toBe(dayRange(addDays(one, 1), zone).start);
      const { start, end } = dayRange(one, zone);
      if (start !== end) expect(dayOf(start, zone)).toBe(one);
    });
    fc.assert(check, runsOf(500));
  });

  it('that a zone left out is empty', () => {
    expect(dayRange('2011-12-30', 'Pacific/Apia')).toEqual({
      start: '2011-12-30T10:00:00.000Z',
      end: '2011-12-30T10:00:00.000Z',
    });
  });

  it('is counted from today by a word', () => {
    const now = new Date('2026-04-01T19:00:00Z');
    expect(today('Asia/Kolkata', now)).toBe('2026-04-02');
    expect(today('America/New_York', now)).toBe('2026-04-01');
    expect(calendar.dayOfWord('yesterday', 'Asia/Kolkata', now)).toBe('2026-04-01');
    expect(calendar.dayOfWord('daybeforeyesterday', 'Asia/Kolkata', now)).toBe('2026-03-31');
  });
});

describe('a month', () => {
  it('is YYYY-MM', () => {
    expect(['2026-01', '2026-12'].map(isMonth)).toEqual([true, true]);
    expect(['2026-00', '2026-13', '2026-1', '2026-01-01', ''].some(isMonth)).toBe(false);
  });

  it('is the range of its days', () => {
    expect(monthRange('2024-02', 'Asia/Kolkata')).toEqual({
      start: '2024-01-31T18:30:00.000Z',
      end: '2024-02-29T18:30:00.000Z',
    });
    expect([calendar.firstDay('2024-02'), calendar.lastDay('2024-02')]).toEqual(['2024-02-01', '2024-02-29']);
  });

  it('is counted', () => {
    expect(addMonths('2026-11', 3)).toBe('2027-02');
    expect(addMonths('2026-01', -1)).toBe('2025-12');
    expect(calendar.monthOf('2026-04-01')).toBe('2026-04');
    expect(calendar.weekdayOf('2026-04-01')).toBe(3);
  });
});

describe('an instant', () => {
  it('is read from every accepted writing', () => {
    const zone = 'Asia/Kolkata';
    expect(instantFrom('2026-04-01T09:30:00+05:30', zone)).toBe('2026-04-01T04:00:00.000Z');
    expect(instantFrom('2026-04-01T04:00:00.000Z', zone)).toBe('2026-04-01T04:00:00.000Z');
    expect(instantFrom('2026-04-01T04:00Z', zone)).toBe('2026-04-01T04:00:00.000Z');
    expect(instantFrom('2026-04-01T04:00:00.1239Z', zone)).toBe('2026-04-01T04:00:00.123Z');
    expect(instantFrom('2026-04-01t04:00:00z', zone)).toBe('2026-04-01T04:00:00.000Z');
    expect(instantFrom('2026-04-01T09:30+0530', zone)).toBe('2026-04-01T04:00:00.000Z');
    expect(instantFrom('2026-04-01', zone)).toBe('2026-03-31T18:30:00.000Z');
  });

  it('is refused without an offset, off the calendar, or in another writing', () => {
    const wrong = [
      '2026-04-01T09:30:00',
      '2026-02-30',
      '2026-02-30T00:00:00Z',
      '2026-04-01T25:00:00Z',
      '2026-04-01T24:00:00Z',
      '2026-04-01T09:30:00+24:00',
      '2026-04-01 09:30:00Z',
      '20260401T093000Z',
      '+012026-04-01T00:00:00Z',
      'today',
      '1711929600',
      '',
      '0000-01-01T00:00:00+05:30',
      '2026-04-01T09:30:00Z[UTC]',
    ];
    expect(wrong.map((text) => instantFrom(text, 'Asia/Kolkata'))).toEqual(wrong.map(() => undefined));
  });
});

const day = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

describe('the day an instant is on', () => {
  const zones = fc.constantFrom(
    ...['Asia/Kolkata', 'America/New_York', 'America/St_Johns', 'America/Sao_Paulo', 'Pacific/Apia'],
    ...['Asia/Manila', 'Africa/Monrovia', 'Australia/Lord_Howe', 'Europe/Dublin', 'Antarctica/Troll'],
    ...['America/Juneau', 'Africa/Casablanca', 'Asia/Kathmandu', 'UTC', '+05:30', '-11:00'],
  );

  function expectDayOfTemporal(milliseconds: number, zone: string): void {
    const instant = Temporal.Instant.fromEpochMilliseconds(milliseconds);
    const expected = instant.toZonedDateTimeISO(zone).toPlainDate().toString();
    expect({ zone, milliseconds, day: dayOf(new Date(milliseconds).toISOString(), zone) }).toEqual({
      zone,
      milliseconds,
      day: expected,
    });
  }

  it('is that of the calendar of its zone, at any time of the years', () => {
    const times = fc.integer({ min: Date.UTC(1840, 0), max: Date.UTC(9990, 0) });
    const ofToday = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2040, 0) });
    fc.assert(fc.property(fc.oneof(times, ofToday), zones, expectDayOfTemporal), { numRuns: 3000 });
  });

  it('is that of the calendar around every change of the clocks', () => {
    const near = fc.integer({ min: -90_000_000, max: 90_000_000 });
    const exactly = fc.constantFrom(-86_400_000, -3_600_000, -1, 0, 1, 3_600_000, 86_400_000);
    const years = fc.integer({ min: 1880, max: 2040 });
    const check = fc.property(years, zones, fc.oneof(near, exactly), (year, zone, distance) => {
      const start = Temporal.Instant.fromEpochMilliseconds(Date.UTC(year, 0)).toZonedDateTimeISO(zone);
      const change = start.getTimeZoneTransition('next') ?? start;
      expectDayOfTemporal(change.epochMilliseconds + distance, zone);
    });
    fc.assert(check, { numRuns: 3000 });
  });

  it('may be before the first and after the last year there are', () => {
    expect(dayOf('9999-12-31T23:00:00.000Z', 'Asia/Kolkata')).toBe('10000-01-01');
    expect(dayOf('2026-03-31T18:29:59.999Z', 'Asia/Kolkata')).toBe('2026-03-31');
    expect(dayOf('2026-04-01T00:00:00+05:30', 'Asia/Kolkata')).toBe('2026-04-01');
  });

  it('is refused for what is no instant, written like one or not', () => {
    expect(() => dayOf('2026-02-30T00:00:00.000Z', 'UTC')).toThrow(RangeError);
    expect(() => dayOf('2026-02-30', 'UTC')).toThrow(RangeError);
    expect(() => dayOf('2026-03-01T00:00:00.000Z', 'Mars/Olympus')).toThrow(RangeError);
  });
});

describe('an instant as the store writes it', () => {
  it('is taken as it is, and only where there is such a one', () => {
    const instants = fc.date({
      min: new Date('0000-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (instant) => {
        expect(instantFrom(instant.toISOString(), 'UTC')).toBe(instant.toISOString());
      }),
    );
    expect(instantFrom('2026-02-30T00:00:00.000Z', 'UTC')).toBeUndefined();
    expect(instantFrom('2026-02-29T23:59:59.999Z', 'UTC')).toBeUndefined();
    expect(instantFrom('2026-01-01T25:00:00.000Z', 'UTC')).toBeUndefined();
  });
});
