import { describe, expect, it } from '@jest/globals';
import { assertPercentEncoded } from '../../../src/base/http/assert-percent-encoded.js';

describe('a query', () => {
  it.each(['', 'a=1+2', 'name=%C3%A9', 'name=%EF%BF%BD', '%25zz', 'a=é', '%f0%9f%98%80'])(
    'may be %p',
    (text) => {
      expect(() => assertPercentEncoded(text, 'The query')).not.toThrow();
    },
  );

  it.each([
    ['a=%', 'The query has a % that is not percent-encoding; a % itself is %25.'],
    ['a=%4', 'The query has a % that is not percent-encoding; a % itself is %25.'],
    ['a=%zz', 'The query has a % that is not percent-encoding; a % itself is %25.'],
    ['a=%41&b=%E9', 'The query has "%E9", which is not UTF-8 in percent-encoding: é is %C3%A9.'],
    ['a=%F0%9F', 'The query has "%F0%9F", which is not UTF-8 in percent-encoding: é is %C3%A9.'],
    ['a=%ED%A0%80', 'The query has "%ED%A0%80", which is not UTF-8 in percent-encoding: é is %C3%A9.'],
  ])('may not be %p', (text, detail) => {
    expect(() => assertPercentEncoded(text, 'The query')).toThrow(
      expect.objectContaining({ code: 'MALFORMED_REQUEST', message: detail }),
    );
  });
});
