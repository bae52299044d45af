import { describe, expect, it } from '@jest/globals';
import { toE164PhoneNumber } from '../../../../src/base/model/phone-number.js';
import { encodeSms } from '../../../../src/services/messaging/sms/sms-text.js';

describe('the segments of a text', () => {
  const cases: [text: string, encoding: string, segments: number][] = [
    ['', 'gsm7', 1],
    ['a'.repeat(160), 'gsm7', 1],
    ['a'.repeat(161), 'gsm7', 2],
    ['a'.repeat(306), 'gsm7', 2],
    ['a'.repeat(307), 'gsm7', 3],
    // Characters of the extension count twice, and are not torn apart.
    ['€'.repeat(80), 'gsm7', 1],
    ['€'.repeat(81), 'gsm7', 2],
    [`${'€'.repeat(76)}${'€'.repeat(76)}`, 'gsm7', 2],
    ['नमस्ते', 'ucs2', 1],
    ['न'.repeat(70), 'ucs2', 1],
    ['न'.repeat(71), 'ucs2', 2],
    ['न'.repeat(135), 'ucs2', 3],
    ['🙏'.repeat(35), 'ucs2', 1],
    // 33 pairs a segment: 67 units hold no half of one.
    ['🙏'.repeat(67), 'ucs2', 3],
    ['Ω', 'gsm7', 1],
    ['ç', 'ucs2', 1],
    ['a\u001bb', 'ucs2', 1],
  ];
  for (const [text, encoding, segments] of cases) {
    it(`${JSON.stringify(text.slice(0, 8))} x ${text.length} is ${segments} in ${encoding}`, () => {
      const encoded = encodeSms(text);
      expect([encoded.encoding, encoded.segments.length]).toEqual([encoding, segments]);
    });
  }
});

describe('a telephone number', () => {
  const right: [written: string, number: string][] = [
    ['+915123456789', '+915123456789'],
    ['+91 51234 56789', '+915123456789'],
    ['5123456789', '+915123456789'],
    ['05123456789', '+915123456789'],
    ['(0512) 345-6789', '+915123456789'],
    ['00915123456789', '+915123456789'],
    ['915123456789', '+915123456789'],
    ['+44 20 7946 0018', '+442079460018'],
    ['+915123456789\r\n', '+915123456789'],
    ['\u202a+91\u201151234\u00a056789\u202c', '+915123456789'],
    ['५१२३४५६७८९', '+915123456789'],
  ];
  for (const [written, number] of right) {
    it(`${written} is ${number}`, () => expect(toE164PhoneNumber(written, '91')).toBe(number));
  }

  for (const written of [
    '',
    'asha',
    '+',
    '123',
    '+91',
    '+0123456789',
    '+91512345678912345',
    '5123456789;+915',
    '98765',
  ]) {
    it(`${JSON.stringify(written)} is none`, () => {
      expect(toE164PhoneNumber(written, '91')).toBeUndefined();
    });
  }
});
