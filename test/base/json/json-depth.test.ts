import { describe, expect, it } from '@jest/globals';
import { isNestedDeeply } from '../../../src/base/json/body-shape.js';

describe('JSON text', () => {
  it('is nested deeply when more lists and objects are within each other than allowed', () => {
    expect(isNestedDeeply('[[{"a":[1]}]]', 4)).toBe(false);
    expect(isNestedDeeply('[[{"a":[1]}]]', 3)).toBe(true);
    expect(isNestedDeeply('[]'.repeat(50), 1)).toBe(false);
    expect(isNestedDeeply('["[[[[", "\\"[[[", {}]', 2)).toBe(false);
    expect(isNestedDeeply('['.repeat(501))).toBe(true);
  });
});
