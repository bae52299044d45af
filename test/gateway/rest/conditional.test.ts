import { describe, expect, it } from '@jest/globals';
import { isUnchanged } from '../../../src/base/http/etag.js';
import { parseIfMatch, printEtag } from '../../../src/gateway/rest/conditional.js';

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    ['*', undefined],
    ['"3"', [3]],
    ['"99" ,, "3-br"', [99, 3]],
    ['W/"3", "4"', [4]],
    ['"abc"', []],
  ])('%s names versions %s', (header, versions) => {
    expect(parseIfMatch(header)).toEqual(versions);
  });

  it('refuses what is no list of tags, and weak tags alone', () => {
    for (const header of ['', '3', 'garbage', '"3" x', '"3" "4"', '"3"W/"4"'])
      expect(() => parseIfMatch(header)).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => parseIfMatch('W/"3-gzip"')).toThrow(
      expect.objectContaining({ status: 412, message: expect.stringContaining('Send "3"') }),
    );
  });

  it('takes the tag it printed', () => {
    expect(parseIfMatch(printEtag(12))).toEqual([12]);
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
});
