import { describe, expect, it } from '@jest/globals';
import { findSlowText } from './find-slow-text.js';
import { readPatterns, type SourcePattern } from './source-patterns.js';

/** Files in which an expression is made of a text that is not in the code, and why it may be. */
const MADE_WHILE_RUNNING: Readonly<Record<string, string>> = {
  'src/portal/browser/records/field-faults.tsx': 'a declared pattern, which is linear (linear-pattern.ts)',
  'src/services/formats/format-export.ts': 'a mapping of schema/mappings, tried below',
  'src/services/formats/format-mapping.ts': 'a mapping of schema/mappings, tried below',
  'src/services/messaging/message-settings.ts':
    'SMS_HTTP_SUCCESS, held against 64 KB that the SMS provider answers',
  'src/store/mongo/mongo-pattern.ts': 'compiled only to see whether it is valid; PostgreSQL matches',
};
describe('the regular expressions of src', () => {
  const patterns = readPatterns();

  it('are found, or it is known who makes them', () => {
    expect(patterns.length).toBeGreaterThan(500);
    const unknown = patterns.filter(({ pattern }) => pattern === undefined).map(({ file }) => file);
    expect([...new Set(unknown)].sort()).toEqual(Object.keys(MADE_WHILE_RUNNING).sort());
  });

  it('take no more steps than a multiple of the length of the text', () => {
    const distinct = new Map(
      patterns
        .filter(({ pattern }) => pattern !== undefined)
        .map((one) => [`/${one.pattern}/${one.flags}`, one]),
    );
    const slow = [...distinct].flatMap(([written, one]) => slowOf(written, one));
    expect(slow).toEqual([]);
  });

  it.each([
    ['/+$', ''],
    ['^_+|_+$', 'g'],
    ['(\\b[a-z][a-z0-9+.-]*:\\/\\/[^\\s/?#:@]*):[^\\s/?#]*@', 'gi'],
    ['^(?:a+)+$', ''],
    ['(?<=\\bfrom\\s+)\\w', 'g'],
  ])('would be found slow if one of them were /%s/%s', (source, flags) => {
    expect(findSlowText(source, flags)).toBeDefined();
  });
});

function slowOf(written: string, { file, pattern = '', flags }: SourcePattern): string[] {
  const text = findSlowText(pattern, flags);
  return text === undefined ? [] : [`${file}: ${written} with ${JSON.stringify(text)}`];
}
