import { describe, expect, it } from '@jest/globals';
import { nameOfColumn } from '../../src/portal/browser/language/name-of-field.js';
import { HINDI, WORDS } from './translated-words.js';

describe('the words of the reports in Hindi', () => {
  it('are of texts that there are', () => {
    expect(Object.keys(HINDI).filter((word) => !WORDS.has(word))).toEqual([]);
  });
});

describe('a name of the schema', () => {
  it.each([
    ['admissionNo', 'Admission no'],
    ['days0To30', 'Days 0 to 30'],
    ['daysOver90', 'Days over 90'],
    ['studentsATeacher', 'Students a teacher'],
  ])('%s is read as %s', (name, text) => {
    expect(nameOfColumn(name)).toBe(text);
  });
});
