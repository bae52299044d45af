import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { didYouMean } from '../../../src/base/text/did-you-mean.js';

describe('did you mean', () => {
  it.each([
    ['tasck', ['student', 'task'], ' Did you mean "task"?'],
    ['TASK', ['student', 'task'], ' Did you mean "task"?'],
    ['taks', ['student', 'task'], ' Did you mean "task"?'],
    ['calss', ['student', 'class'], ' Did you mean "class"?'],
    ['atsk', ['student', 'task'], ' Did you mean "task"?'],
    ['exam', ['student', 'task'], ''],
    ['task', [], ''],
    ['a'.repeat(65), ['a'.repeat(65)], ''],
  ])('%s', (name, known, suggestion) => {
    expect(didYouMean(name, known)).toBe(suggestion);
  });

  it('asks for no more known names than it compares', () => {
    let asked = 0;
    function* known() {
      for (;;) {
        asked += 1;
        yield `name${asked % 10}`;
      }
    }
    expect(didYouMean('xxxx9', known())).toBe('');
    expect(asked).toBeLessThan(1000);
  });

  it('finds every name that is a letter away', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{4,20}$/), fc.nat(), (name, place) => {
        const index = place % name.length;
        expect(didYouMean(name.slice(0, index) + name.slice(index + 1), [name])).toContain(`"${name}"`);
      }),
    );
  });
});
