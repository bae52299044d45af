import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Collection } from '../../../src/base/model/collection.js';
import { createDemo } from '../../../src/school/demo/demo.js';
import { DEMO_DEFAULTS, DEMO_USERS, type DemoOptions } from '../../../src/school/demo/demo-options.js';
import type { DemoRecord } from '../../../src/school/demo/demo-record.js';
import { dayText, sessionCalendar } from '../../../src/school/demo/session-calendar.js';
import { segmentsOf } from '../../../src/school/demo/sms-records.js';
import { toStored } from '../../../src/store/writing/validation.js';
import { firstOf } from '../../full-length.js';
import { readCollections } from './declarations.js';

const SMALL: DemoOptions = { students: 48, years: 1, seed: 7, today: '2026-11-20' };
const TIME_ZONE = 'Asia/Kolkata';

function hashOf(options: DemoOptions): string {
  const hash = createHash('sha256');
  for (const { domainId, collection, records } of createDemo(options).parts()) {
    for (const record of records) hash.update(`${domainId}/${collection}/${JSON.stringify(record)}\n`);
  }
  return hash.digest('hex');
}

/** The records of one domain, by collection. */
function recordsOf(options: DemoOptions, domain = 'demo'): ReadonlyMap<string, readonly DemoRecord[]> {
  const recordsByCollection = new Map<string, DemoRecord[]>();
  for (const { domainId, collection, records } of createDemo(options).parts()) {
    if (domainId !== domain) continue;
    recordsByCollection.set(collection, [...(recordsByCollection.get(collection) ?? []), ...records]);
  }
  return recordsByCollection;
}

describe('the demo school', () => {
  let collections: ReadonlyMap<string, Collection>;
  beforeAll(async () => {
    collections = await readCollections();
  });

  it('is the same for the same options, and another for another seed', () => {
    expect(hashOf(SMALL)).toBe(hashOf({ ...SMALL }));
    expect(hashOf({ ...SMALL, seed: 8 })).not.toBe(hashOf(SMALL));
  });

  it('can be made twice from one plan', () => {
    const demo = createDemo(SMALL);
    const count = () => [...demo.parts()].reduce((sum, { records }) => sum + [...records].length, 0);
    expect(count()).toBe(count());
  });

  it('has records of every declared collection', () => {
    for (const domain of ['demo', 'demo-north']) {
      const records = recordsOf({ ...SMALL, students: 300 }, domain);
      const empty = [...collections.keys()].filter((name) => (records.get(name) ?? []).length === 0);
      expect(empty).toEqual([]);
    }
  });

  it('has the size that is promised', () => {
    const counts = Object.fromEntries(
      [...recordsOf({ ...DEMO_DEFAULTS, today: '2026-11-20' })].map(([name, records]) => [
        name,
        records.length,
      ]),
    );
    expect(counts).toMatchObject({ registration: 1200, pltf_user: 70, class: 12 });
    expect(counts.attendance).toBeGreaterThan(160_000);
    expect(counts.fee_due).toBeGreaterThan(30_000);
    expect(counts.fee_receipt).toBeGreaterThan(6000);
  });

  it.each(firstOf(['2028-02-29', '2026-11-20', '2026-04-01', '2027-03-31'], 2))(
    'on %s is as the store would keep it, with ids of its own, and nothing of it later',
    (today) => {
      for (const domain of ['demo', 'demo-north']) {
        for (const [name, records] of recordsOf({ ...SMALL, students: 40, today }, domain)) {
          const collection = collections.get(name);
          if (!collection) throw new Error(`${name} is not declared`);
          expect([name, new Set(records.map(({ id }) => id)).size]).toEqual([name, records.length]);
          for (const { id, data, createdAt, updatedAt } of records) {
            const now = new Date(createdAt);
            const stored = toStored(collection, data, { timeZone: TIME_ZONE, now, mode: 'create' });
            if (JSON.stringify(stored.data) !== JSON.stringify(data))
              expect([id, stored.data]).toEqual([id, data]);
            expect(stored.unlabelled).toEqual([]);
            if ((updatedAt ?? createdAt) >= `${today}T18:30:00.000Z`)
              throw new Error(`${name} ${id} is later`);
          }
        }
      }
    },
  );

  it('goes back over years, with one school year after the other', () => {
    const records = recordsOf({ ...SMALL, years: 3 });
    const sessions = new Set((records.get('fee_receipt') ?? []).map(({ data }) => data.session));
    expect([...sessions]).toEqual(['2024-25', '2025-26', '2026-27']);
    const numbers = (records.get('fee_receipt') ?? []).map(({ data }) => data.receipt_no);
    expect(numbers).toEqual(numbers.map((_, index) => `R-${index + 1}`));
  });

  it('has the demo logins under fixed ids in both domains', () => {
    for (const domain of ['demo', 'demo-north']) {
      const staff = recordsOf({ ...SMALL, students: 24 }, domain).get('pltf_user') ?? [];
      for (const { userName, role } of DEMO_USERS) {
        const user = staff.find(({ id }) => id === `usr-${userName}`);
        expect(user?.data).toMatchObject({ user_name: userName, roles: [role], active: true });
      }
    }
  });

  it('makes the demo teacher class teacher of a section with students', () => {
    const records = recordsOf(SMALL);
    const taught = (records.get('registration') ?? []).filter(
      ({ data }) => data.class === '5' && data.section === 'A',
    );
    const fifth = (records.get('class') ?? []).find(({ id }) => id === 'class-5');
    expect(JSON.stringify(fifth?.data)).toContain('"class_teacher":{"value":"usr-teacher"');
    expect(taught.length).toBeGreaterThan(0);
  });

  it('names people in Latin letters and in Devanagari', () => {
    const names = (recordsOf({ ...SMALL, students: 400 }).get('registration') ?? []).map(({ data }) =>
      String(data.name),
    );
    expect(names.filter((name) => /^[\u0900-\u097F ]+$/.test(name)).length).toBeGreaterThan(2);
    expect(names.filter((name) => /^[A-Za-z -]+$/.test(name)).length).toBeGreaterThan(300);
  });

  it('has telephone numbers that nobody in India has', () => {
    for (const { data } of recordsOf(SMALL).get('registration') ?? []) {
      expect(data.guardian_phone).toMatch(/^\+915\d{9}$/);
    }
  });

  it.each([
    [{ students: 11 }, 'students'],
    [{ students: 1.5 }, 'students'],
    [{ years: 0 }, 'years'],
    [{ seed: -1 }, 'seed'],
    [{ today: '2026-02-30' }, 'today'],
    [{ today: 'today' }, 'today'],
  ])('refuses %j and names the option', (wrong, parameter) => {
    expect(() => createDemo({ ...SMALL, ...wrong })).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE', errors: [expect.objectContaining({ parameter })] }),
    );
  });
});

describe('the calendar of the demo school', () => {
  const calendar = sessionCalendar(2026);
  const days = calendar.workingDays('5').map(dayText);

  it('keeps Sundays, second and fourth Saturdays, and holidays free', () => {
    expect(days).not.toContain('2026-11-15');
    expect(days).not.toContain('2026-11-14');
    expect(days).not.toContain('2026-08-15');
    expect(days).toContain('2026-11-21');
    expect(days).toContain('2026-11-20');
  });

  it('has a vacation across the end of May', () => {
    expect(days.filter((day) => day >= '2026-05-08' && day <= '2026-06-14')).toEqual([]);
  });

  it('works on a second Saturday that is declared to', () => {
    expect(days).toContain('2026-07-11');
  });

  it('gives the tenth class days of its own before the board examinations', () => {
    const tenth = calendar.workingDays('10').map(dayText);
    expect(days.filter((day) => !tenth.includes(day))).toEqual(['2027-02-16', '2027-02-17', '2027-02-18']);
  });
});

describe('segments of a text message', () => {
  it.each([
    ['a'.repeat(160), 1],
    ['a'.repeat(161), 2],
    ['a'.repeat(306), 2],
    ['a'.repeat(307), 3],
    ['अ'.repeat(70), 1],
    ['अ'.repeat(71), 2],
  ])('%#', (text, segments) => {
    expect(segmentsOf(text)).toBe(segments);
  });
});
