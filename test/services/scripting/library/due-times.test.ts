import { describe, expect, it } from '@jest/globals';
import { lastDue, parseSchedule } from '../../../../src/services/jobs/cron-schedule.js';
import { moveClock } from '../../../../src/services/scripting/library/script-tasks.js';
import { useTestDatabase } from '../../../database.js';

function due(schedule: string, timeZone: string, after: string, until: string): string | undefined {
  const span = { after: new Date(after), until: new Date(until) };
  return lastDue(parseSchedule(schedule, timeZone), span)?.toISOString();
}

describe('a schedule', () => {
  it('is of the clock of its time zone', () => {
    expect(due('30 20 * * *', 'Asia/Kolkata', '2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z')).toBe(
      '2026-11-20T15:00:00.000Z',
    );
  });

  it('is due after the last look and up to this one', () => {
    const everyMinute = '* * * * *';
    expect(due(everyMinute, 'UTC', '2026-11-20T10:00:00Z', '2026-11-20T10:02:00Z')).toBe(
      '2026-11-20T10:02:00.000Z',
    );
    expect(due(everyMinute, 'UTC', '2026-11-20T10:00:01Z', '2026-11-20T10:00:59Z')).toBeUndefined();
    expect(due(everyMinute, 'UTC', '2026-11-20T10:00:00Z', '2026-11-20T10:00:59.999Z')).toBeUndefined();
  });

  it('runs once in an hour that the clocks go through twice, and after one that they skip', () => {
    const twice = ['30 2 25 10 *', 'Europe/Berlin'] as const;
    expect(due(...twice, '2026-10-24T00:00:00Z', '2026-10-26T00:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(due(...twice, '2026-10-25T00:30:00Z', '2026-10-26T00:00:00Z')).toBeUndefined();
    expect(due('30 2 29 3 *', 'Europe/Berlin', '2026-03-28T00:00:00Z', '2026-03-30T00:00:00Z')).toBe(
      '2026-03-29T01:00:00.000Z',
    );
  });
});

describe('the clock of schedules', () => {
  const test = useTestDatabase();
  const move = (now: string) =>
    test.database.transaction(async (within) => (await moveClock(within, new Date(now))).toISOString());

  it('begins a minute before the first look, then at the last one, a day ago at most', async () => {
    expect(await move('2026-11-20T10:00:00.000Z')).toBe('2026-11-20T09:59:00.000Z');
    expect(await move('2026-11-20T10:01:00.000Z')).toBe('2026-11-20T10:00:00.000Z');
    expect(await move('2026-11-23T10:01:00.000Z')).toBe('2026-11-22T10:01:00.000Z');
  });

  it('never goes back', async () => {
    await move('2026-11-24T10:00:00.000Z');
    await move('2026-11-24T09:00:00.000Z');
    expect(await move('2026-11-24T10:05:00.000Z')).toBe('2026-11-24T10:00:00.000Z');
  });

  it('is moved by one gateway at a time', async () => {
    const looks = await Promise.all(
      Array.from({ length: 8 }, (_, index) => move(`2026-11-25T10:0${index}:00.000Z`)),
    );
    expect(new Set(looks).size).toBeGreaterThan(1);
    expect(await move('2026-11-25T10:30:00.000Z')).toBe('2026-11-25T10:07:00.000Z');
  });
});
