/** What an import that is stopped leaves behind. */
import { describe, expect, it } from '@jest/globals';
import { keepsWhatIsWritten } from '../../src/portal/browser/imports/keeps-what-is-written.js';

describe('keepsWhatIsWritten', () => {
  it.each([
    ['INSPECTING', 'ROWS', false],
    ['TRYING', 'ROWS', false],
    ['WAITING', 'ROWS', false],
    ['RUNNING', 'ROWS', true],
    ['RUNNING', 'ATOMIC', false],
    ['UNDOING', 'ATOMIC', true],
  ] as const)('is for an import that is %s by mode %s: %s', (state, mode, expected) => {
    expect(keepsWhatIsWritten({ state, mode })).toBe(expected);
  });
});
