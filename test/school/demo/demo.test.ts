import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Collection } from '../../../src/base/model/collection.js';
import { createDemo, type Demo } from '../../../src/school/demo/demo.js';
import { DEMO_DEFAULTS, DEMO_USERS, type DemoOptions } from '../../../src/school/demo/demo-options.js';
import type { DemoRecord } from '../../../src/school/demo/demo-record.js';
import { dayText, sessionCalendar } from '../../../src/school/demo/session-calendar.js';
import { segmentsOf } from '../../../src/school/demo/sms-records.js';
import { toStored } from '../../../src/store/writing/validation.js';
import { firstOf } from '../../full-length.js';
import { readCollections } from './declarations.js';

const SMALL: DemoOptions = { students: 48, years: 1, seed: 7, today: '2026-11-20' };
const TIME_ZONE = 'Asia/Kolkata';

type DemoPart = ReturnType<Demo['parts']> extends Iterable<infer Part> ? Part : never;

function hashOf(options: DemoOptions): string {
  const hash = createHash('sha256');
  for (const { domainId, collection, records } of createDemo(options).parts()) {
    for (const record of records) hash.update(`${domainId}/${collection}/${JSON.stringify(record)}\n`);
  }
  return hash.digest('hex');
}

/** What a domain has, part by part; records are made when they are read. */
function* partsOf(options: DemoOptions, domain: string): Generator<DemoPart> {
  for (const part of createDemo(options).parts()) if (part.domainId === domain) yield part;
}

/** The records of one collection in a domain. */
function recordsOf(options: DemoOptions, collection: string, domain = 'demo'): readonly DemoRecord[] {
  const records: DemoRecord[] = [];
  for (const part of partsOf(options, domain)) {
    if (part.collection === collection) records.push(...part.records);
  }
  return records;
}

describe('the demo school', () => {
  let collections: ReadonlyMap<string, Collection>;
  beforeAll(async () => {
    collections = await readCollections();
  });

  it('is the same for the same options, and another for another seed', () => {
    const hash = hashOf(SMALL);
    expect(hashOf({ ...SMALL })).toBe(hash);
    expect(hashOf({ ...SMALL, seed: 8 })).not.toBe(hash);
  });

  it('can be made twice from one plan', () => {
    const demo = createDemo(SMALL);
    const count = () => [...demo.parts()].reduce((sum, { records }) => sum + [...records].length, 0);
    expect(count()).toBe(count());
  });

  it('has records of every declared collection', () => {
    for (const domain of ['demo', 'demo-north']) {
      const missing = new Set(collections.keys());
      for (const { collection, records } of partsOf({ ...SMALL, students: 300 }, domain)) {
        for (const _record of records) {
          missing.delete(collection);
          break;
        }
      }
      expect([...missing]).toEqual([]);
    }
  });

  it('has the size that is promised', () => {
    const counts: Record<string, number> = {};
    for (const { collection, records } of partsOf({ ...DEMO_DEFAULTS, today: '2026-11-20' }, 'demo')) {
      counts[collection] = (counts[collection] ?? 0) + [...records].length;
    }
    expect(counts).toMatchObject({ registration: 1200, pltf_user: 70, class: 12 });
    expect(counts.attendance).toBeGreaterThan(160_000);
    expect(counts.fee_due).toBeGreaterThan(30_000);
    expect(counts.fee_receipt).toBeGreaterThan(6000);
  });

  it.each(firstOf(['2028-02-29', '2026-11-20', '2026-04-01', '2027-03-31'], 2))(
    'on %s is as the store would keep it, with ids of its own, and nothing of it later',
    (today) => {
      for (const domain of ['demo', 'demo-north']) {
        const ids = new Set<string>();
        for (const part of partsOf({ ...SMALL, students: 40, today }, domain)) {
          const { collection: name, records } = part;
          const collection = collections.get(name);
          if (!collection) throw new Error(`${name} is not declared`);
          for (const { id, data, createdAt, updatedAt } of records) {
            const now = new Date(createdAt);
            const stored = toStored(collection, data, { timeZone: TIME_ZONE, now, mode: 'create' });
            // An `expect` for each of so many records takes longer than to make them.
            if (ids.has(`${name} ${id}`)) throw new Error(`${name} ${id} is there twice`);
            ids.add(`${name} ${id}`);
            if (JSON.stringify(stored.data) !== JSON.stringify(data))
              expect([id, stored.data]).toEqual([id, data]);
            if (stored.unlabelled.length > 0) expect([id, stored.unlabelled]).toEqual([id, []]);
            if ((updatedAt ?? createdAt) >= `${today}T18:30:00.000Z`)
              throw new Error(`${name} ${id} is later`);
          }
        }
      }
    },
  );

  it('goes back over years, with one school year after the other', () => {
    const receipts = recordsOf({ ...SMALL, years: 3 }, 'fee_receipt');
    const sessions = new Set(receipts.map(({ data }) => data.session));
    expect([...sessions]).toEqual(['2024-25', '2025-26', '2026-27']);
    const numbers = receipts.map(({ data }) => data.receipt_no);
    expect(numbers).toEqual(numbers.map((_, index) => `R-${index + 1}`));
  });

  it('has the demo logins under fixed ids in both domains', () => {
    for (const domain of ['demo', 'demo-north']) {
      const staff = recordsOf({ ...SMALL, students: 24 }, 'pltf_user', domain);
      for (const { userName, role } of DEMO_USERS) {
        const user = staff.find(({ id }) => id === `usr-${userName}`);
        expect(user?.data).toMatchObject({ user_name: userName, roles: [role], active: true });
      }
    }
  });

  it('makes the demo teacher class teacher of a section with students', () => {
    const taught = recordsOf(SMALL, 'registration').filter(
      ({ data }) => data.class === '5' && data.section === 'A',
    );
    const fifth = recordsOf(SMALL, 'class').find(({ id }) => id === 'class-5');
    expect(JSON.stringify(fifth?.data)).toContain('"class_teacher":{"value":"usr-teacher"');
    expect(taught.length).toBeGreaterThan(0);
  });

  it('names people in Latin letters and in Devanagari', () => {
    const names = recordsOf({ ...SMALL, students: 400 }, 'registration').map(({ data }) => String(data.name));
    expect(names.filter((name) => /^[\u0900-\u097F ]+$/.test(name)).length).toBeGreaterThan(2);
    expect(names.filter((name) => /^[A-Za-z -]+$/.test(name)).length).toBeGreaterThan(300);
  });

  it('has telephone numbers that nobody in India has', () => {
    for (const { data } of recordsOf(SMALL, 'registration')) {
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
