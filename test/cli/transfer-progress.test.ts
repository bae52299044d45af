import { expect, it } from '@jest/globals';
import { textOfStep } from '../../src/cli/transfer-progress.js';

it.each([
  [{ stage: '', done: 72_500, total: 120_000 }, 7_250, '72,500 of 120,000 rows, 7,250 rows/s, 7 s left'],
  [{ stage: 'task', done: 5, total: 5 }, 5, '5 of 5 rows, 5 rows/s, 0 s left (task)'],
  // More came than was counted before.
  [{ stage: '', done: 6, total: 5 }, 6, '6 of 5 rows, 6 rows/s, 0 s left'],
  [{ stage: '', done: 72_500 }, 7_250, '72,500 rows, 7,250 rows/s'],
  [{ stage: '', done: 0, total: 10 }, 0, '0 of 10 rows, 0 rows/s'],
])('tells of %j at %i rows a second: %s', (step, speed, text) => {
  expect(textOfStep(step, 'rows', speed)).toBe(text);
});
