import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isBase64 } from '../../../src/base/text/base64.js';

it.each(['', 'YQ==', 'YQ', 'YWI=', 'YWI', 'YWJj', 'YWJjZA=='])('%j is base64', (text) => {
  expect(isBase64(text)).toBe(true);
});

it.each(['Y', 'YQ=', 'YWJj=', 'YQ===', '=', 'Y Q=', 'YQ==\n', 'päck', 'YQ-_', 'YQ==YQ=='])(
  '%j is not',
  (text) => {
    expect(isBase64(text)).toBe(false);
  },
);

it('is what Node writes of any bytes', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => isBase64(Buffer.from(bytes).toString('base64'))));
});

it('may be as long as a request', () => {
  expect(isBase64(Buffer.alloc(30_000_000).toString('base64'))).toBe(true);
  expect(isBase64(`${'A'.repeat(40_000_000)}!`)).toBe(false);
});
