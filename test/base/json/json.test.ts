import { describe, expect, it } from '@jest/globals';
import { isNestedDeeply } from '../../../src/base/json/body-shape.js';
import { asJson, ExactNumber, printExactJson } from '../../../src/base/json/json.js';

describe('JSON text', () => {
  it('is nested deeply when more lists and objects are within each other than allowed', () => {
    expect(isNestedDeeply('[[{"a":[1]}]]', 4)).toBe(false);
    expect(isNestedDeeply('[[{"a":[1]}]]', 3)).toBe(true);
    expect(isNestedDeeply('[]'.repeat(50), 1)).toBe(false);
    expect(isNestedDeeply('["[[[[", "\\"[[[", {}]', 2)).toBe(false);
    expect(isNestedDeeply('['.repeat(501))).toBe(true);
  });
});

describe('a value of a declared type', () => {
  interface Marks {
    readonly subject: string;
    readonly points?: readonly { readonly of: ExactNumber; readonly note: string | undefined }[];
  }

  it('is JSON if all its members are', () => {
    const marks: Marks = { subject: 'Hindi', points: [{ of: new ExactNumber('7.50'), note: undefined }] };
    expect(printExactJson(asJson(marks))).toBe('{"subject":"Hindi","points":[{"of":7.50}]}');
    // @ts-expect-error: a date is not JSON
    asJson({ day: new Date(0) });
  });
});
