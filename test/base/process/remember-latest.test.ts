import { expect, it } from '@jest/globals';
import { rememberLatest } from '../../../src/base/process/remember-latest.js';

it('remembers the latest texts, also after a caller has sent many others', () => {
  const computed: string[] = [];
  const lengthOf = rememberLatest((text) => computed.push(text) && text.length, 10);
  for (let index = 0; index < 100; index += 1) lengthOf(`odd ${index}`);
  computed.length = 0;
  expect([lengthOf('usual'), lengthOf('usual'), lengthOf('usual')]).toEqual([5, 5, 5]);
  expect(computed).toEqual(['usual']);
});

it('keeps no long text', () => {
  let count = 0;
  const compute = rememberLatest(() => (count += 1), 10);
  compute('a'.repeat(1_001));
  compute('a'.repeat(1_001));
  expect(count).toBe(2);
});
