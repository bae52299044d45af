import { describe, expect, it } from '@jest/globals';
import { AllowedAddresses, parseAllowedAddresses } from '../../../src/services/auth/allowed-addresses.js';

describe('a list of allowed addresses', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.9/24', '203.0.113.1', true],
    ['0.0.0.0/0', '198.51.100.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:DB8::1', '2001:db8:0:0::1', true],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', 'nonsense', false],
    ['203.0.113.7', '', false],
    ['203.0.113.7', undefined, false],
  ])('%s for %s: %s', (written, address, isAllowed) => {
    const allowed = new AllowedAddresses(parseAllowedAddresses([written, '192.0.2.1']));
    expect(allowed.include(address)).toBe(isAllowed);
  });

  it('that is empty allows all, also who is not known', () => {
    expect([
      new AllowedAddresses([]).include('192.0.2.1'),
      new AllowedAddresses([]).include(undefined),
    ]).toEqual([true, true]);
  });

  it.each([
    ...['', ' ', '203.0.113', '203.0.113.7.', '203.0.113.256', '0x7f.1', '0177.0.0.1', '2130706433'],
    ...['203.0.113.0/33', '203.0.113.0/-1', '203.0.113.0/', '203.0.113.0/24/8', '203.0.113.0/2 4', '/24'],
    ...[
      '2001:db8::/129',
      '2001:db8:::',
      'fe80::1%eth0',
      '*',
      'localhost',
      '10.0.0.1-10.0.0.9',
      '\0',
      "' or 1",
    ],
  ])('refuses %j', (text) => {
    expect(() => parseAllowedAddresses(['192.0.2.1', text])).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE' }),
    );
  });

  it('has at most 50', () => {
    const many = Array.from({ length: 51 }, (_, at) => `192.0.2.${at}`);
    expect(parseAllowedAddresses(many.slice(1))).toHaveLength(50);
    expect(() => parseAllowedAddresses(many)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });
});
