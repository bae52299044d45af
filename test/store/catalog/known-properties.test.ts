import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../../src/base/json/json.js';
import { planSchools } from '../../../src/school/demo/school-plan.js';
import { schoolSettings } from '../../../src/school/reports/engine/school-settings.js';
import {
  assertPropertyValue,
  hintAtPropertyName,
  KNOWN_PROPERTIES,
} from '../../../src/store/catalog/known-properties.js';

const ACCEPTED: Readonly<Record<string, readonly JsonValue[]>> = {
  schoolName: ['Gyan Vidya'],
  schoolAddress: ['Main Road, Pune'],
  schoolLogo: ['0190a0b0-0000-7000-8000-000000000000'],
  timezone: ['Asia/Kolkata', 'UTC'],
  language: ['en-IN', 'hi-IN'],
  udiseCode: ['27090100101'],
  tallyCompany: ['Gyan Vidya Trust'],
  currency: ['INR'],
  sessionFirstMonth: [1, 12],
  weeklyOffs: [[], ['SU', '2SA', '5MO']],
  leaveCountsPresent: [true, false],
  grades: [
    [
      { from: 33, grade: 'D' },
      { from: 0, grade: 'E' },
    ],
  ],
  books_closed_until: ['2026-03-31'],
  callingCode: ['91', '880'],
  passPercent: [0, 100],
  rankMethod: ['competition', 'dense'],
  schoolStartsAt: ['08:00', '23:59'],
  receiptSeries: ['R-', '2026/'],
  topicRoles: [{}, { notices: ['teacher'], 'fees.*': ['clerk', 'accountant'] }],
  smtpUrl: ['smtp://mail.example:587', 'smtps://user:secret@mail.example'],
  mailFrom: ['School <office@school.example>'],
  smsUrl: ['smpp://user:secret@provider.example', 'https://provider.example/send'],
  smsSender: ['SCHOOL'],
  KEEP_HISTORY_DAYS: [1, 365],
  'mailTemplate.dues': [{ subject: 'Dues', text: 'Rs {{amount}}' }],
};

const REFUSED: Readonly<Record<string, readonly JsonValue[]>> = {
  KEEP_HISTORY_DAYS: [0, -1, 1.5, '30', 40_000],
  schoolName: ['', 5],
  language: ['xx-invalid-language', 5],
  schoolAddress: ['', 5],
  schoolLogo: ['', 5],
  timezone: ['Asia/Nowhere', 5, '+05:30', '-0300'],
  udiseCode: ['2709010010', 'UDISE', 27090100101],
  tallyCompany: ['', 5],
  currency: ['rupees', 'inr'],
  sessionFirstMonth: [0, 13, 4.5, 'April', '4'],
  weeklyOffs: ['FUN', 'SU', ['FUN'], ['6SU'], ['Sunday'], [5]],
  leaveCountsPresent: ['true', 1],
  grades: [
    [],
    'A',
    [{ from: 33 }],
    [{ from: 101, grade: 'A' }],
    [
      { from: 0, grade: 'A' },
      { from: 0, grade: 'B' },
    ],
  ],
  books_closed_until: ['2026-02-30', 'yesterday', 20260331],
  callingCode: ['+91', '', '0091', 91],
  passPercent: [-1, 101, '33'],
  rankMethod: ['olympic'],
  schoolStartsAt: ['8 am', '24:00'],
  receiptSeries: [5, 'R1', 'R ', 'a series of too many letters'],
  topicRoles: [['teacher'], { notices: 'teacher' }, { notices: [''] }],
  smtpUrl: ['mail.example', 'https://mail.example'],
  mailFrom: [5],
  smsUrl: ['ftp://provider.example'],
  smsSender: [null],
  'mailTemplate.dues': ['Dues', {}, { body: 'x' }, { text: 5 }],
};

describe('a property that the service reads', () => {
  it('is set to what it may be', () => {
    for (const [name, values] of Object.entries(ACCEPTED)) {
      for (const value of values) expect(() => assertPropertyValue(name, value)).not.toThrow();
    }
  });

  it('is refused any other value, which the refusal does not repeat', () => {
    for (const [name, values] of Object.entries(REFUSED)) {
      for (const value of values) {
        expect(() => assertPropertyValue(name, value)).toThrow(
          expect.objectContaining({
            code: 'INVALID_VALUE',
            message: expect.stringContaining(`the property ${name}: `),
          }),
        );
      }
    }
    expect(() => assertPropertyValue('smtpUrl', 'http://user:hunter2@x')).not.toThrow('hunter2');
  });

  it('has both kinds of examples here', () => {
    for (const { name } of KNOWN_PROPERTIES) {
      expect([name, ACCEPTED[name]?.length, REFUSED[name]?.length]).toEqual([
        name,
        expect.any(Number),
        expect.any(Number),
      ]);
    }
  });

  it('is what the reports take it for', () => {
    const set: Readonly<Record<string, JsonValue>> = {
      currency: 'EUR',
      sessionFirstMonth: 1,
      weeklyOffs: ['FR'],
      leaveCountsPresent: true,
      grades: [{ from: 0, grade: 'Z' }],
      passPercent: 50,
      rankMethod: 'dense',
      schoolStartsAt: '09:15',
    };
    for (const [name, value] of Object.entries(set)) assertPropertyValue(name, value);
    expect(schoolSettings((name) => set[name])).toEqual(set);
  });

  it('has what the demo schools set', () => {
    for (const { properties } of planSchools(200)) {
      for (const [name, value] of Object.entries(properties)) {
        assertPropertyValue(name, value);
        expect(hintAtPropertyName(name)).toBeUndefined();
      }
    }
  });
});

describe('any other property', () => {
  it('takes every value', () => {
    expect(() => assertPropertyValue('bankApi', { any: ['thing'] })).not.toThrow();
  });

  it('is pointed at the one that was meant, where there is one', () => {
    expect(hintAtPropertyName('weeklyOff')).toContain('Did you mean "weeklyOffs"?');
    expect(hintAtPropertyName('timeZone')).toContain('Did you mean "timezone"?');
    expect(hintAtPropertyName('mailTemplates.dues')).toContain('Did you mean "mailTemplate.dues"?');
    expect(hintAtPropertyName('bankApi')).toBeUndefined();
    expect(hintAtPropertyName('mailTemplate.dues')).toBeUndefined();
  });
});
