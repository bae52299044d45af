import { expect, it } from '@jest/globals';
import { contentDispositionOf } from '../../../src/services/files/content-disposition.js';

it.each([
  ['invoice\u202etxt.exe', 'invoice_txt.exe'],
  ['a\u2066b\u2069c\u200e\u061c.pdf', 'a_b_c__.pdf'],
  ['a\u2028b\u0085c', 'a_b_c'],
  ['क्‍ष.pdf', 'क्‍ष.pdf'],
])('saves %j under %j', (name, saved) => {
  const header = contentDispositionOf({ name, contentType: 'text/html' }, 'save');
  expect(decodeURIComponent(/filename\*=UTF-8''(.*)$/.exec(header)?.[1] ?? '')).toBe(saved);
  expect(header).toMatch(/^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''[\x21-\x7e]+$/);
});
