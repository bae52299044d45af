import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findJsonFault } from '../../src/portal/browser/shell/find-json-fault.js';

describe('the place where a text ceases to be JSON', () => {
  it.each([
    ['{"subject": "Dues",\n "text": Please}', 2, 10],
    ['[1, 2', 1, 6],
    ['[1,]', 1, 4],
    ['{"a" 1}', 1, 6],
    ['{a: 1}', 1, 2],
    ['"no end', 1, 8],
    ['[1] 2', 1, 5],
    ['01', 1, 2],
    ['["\\x"]', 1, 3],
    ['["a\tb"]', 1, 4],
    ['["\u007f", x]', 1, 7],
    ['', 1, 1],
  ])('is found in %j', (text, line, column) => {
    expect(findJsonFault(text)).toEqual({ line, column });
  });

  it('is the end of what is JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n'), (json, space) => {
        const text = `${space}${json}${space}`;
        const lines = text.split('\n');
        expect(findJsonFault(text)).toEqual({ line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 });
      }),
    );
  });
});
