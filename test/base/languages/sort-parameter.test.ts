import { describe, expect, it } from '@jest/globals';
import { parseProjectParameter, parseSortParameter } from '../../../src/base/languages/sort-parameter.js';

describe('sort', () => {
  it('names fields, the descending ones with -', () => {
    expect(parseSortParameter('-created_on,name.label')).toEqual([
      { path: ['created_on'], direction: 'descending' },
      { path: ['name', 'label'], direction: 'ascending' },
    ]);
    expect(parseSortParameter('')).toEqual([]);
  });

  it('is refused with the position of the mistake', () => {
    for (const [text, position] of [
      ['a,', 2],
      ['a,,b', 2],
      ['-', 1],
      ['a b', 0],
      ['x,-a..b', 3],
      ["a';", 0],
    ] as const) {
      expect(() => parseSortParameter(text)).toThrow(
        expect.objectContaining({
          code: 'MALFORMED_REQUEST',
          errors: [expect.objectContaining({ parameter: 'sort', position })],
        }),
      );
    }
  });

  it('has at most 8 keys', () => {
    expect(() => parseSortParameter('a,b,c,d,e,f,g,h,i')).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    );
  });
});

describe('project', () => {
  it('names field paths', () => {
    expect(parseProjectParameter('a,b.c')).toEqual([['a'], ['b', 'c']]);
    expect(parseProjectParameter('')).toEqual([]);
  });

  it('is refused with the position of the mistake', () => {
    for (const [text, position] of [
      ['a,b c', 2],
      [',', 0],
      ['a.', 0],
      [Array(18).join('a.'), 0],
    ] as const) {
      expect(() => parseProjectParameter(text)).toThrow(
        expect.objectContaining({
          code: 'MALFORMED_REQUEST',
          errors: [expect.objectContaining({ parameter: 'project', position })],
        }),
      );
    }
  });
});
