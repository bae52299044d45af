import { describe, expect, it } from '@jest/globals';
import { isUnchanged } from '../../../src/base/http/etag.js';
import { assertNoIfNoneMatch, parseIfMatch, printEtag } from '../../../src/gateway/rest/conditional.js';

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    ['*', undefined],
    ['"3"', 3],
    ['"3", "4"', 4],
    ['W/"3"', 0],
    ['3', 0],
    ['"abc"', 0],
    ['', 0],
  ])('%s names version %s', (header, version) => {
    expect(parseIfMatch(header)).toBe(version);
  });

  it('takes the tag it printed', () => {
    expect(parseIfMatch(printEtag(12))).toBe(12);
  });
});

describe('If-None-Match', () => {
  it.each([
    ['"3"', true],
    ['W/"3"', true],
    ['"2", "3"', true],
    ['*', true],
    ['"4"', false],
    ['abc', false],
    [undefined, false],
  ])('%s against version 3: unchanged is %s', (header, unchanged) => {
    expect(isUnchanged(header, printEtag(3))).toBe(unchanged);
  });

  it('is refused on a write rather than ignored', () => {
    expect(() => assertNoIfNoneMatch('*')).toThrow('guard a write with If-Match');
    expect(assertNoIfNoneMatch(undefined)).toBeUndefined();
  });
});
