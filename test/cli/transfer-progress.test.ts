import { expect, it } from '@jest/globals';
import { textOfStep, textsOfSteps } from '../../src/cli/transfer-progress.js';

it.each([
  [{ stage: '', done: 72_500, total: 120_000 }, 7_250, '72,500 of 120,000 rows, 7,250 rows/s, 7 s left'],
  [{ stage: 'task', done: 5, total: 5 }, 5, '5 of 5 rows, 5 rows/s (task)'],
  // More came than was counted before.
  [{ stage: '', done: 6, total: 5 }, 6, '6 of 5 rows, 6 rows/s'],
  [{ stage: '', done: 72_500 }, 7_250, '72,500 rows, 7,250 rows/s'],
  [{ stage: '', done: 0, total: 10 }, 0, '0 of 10 rows, 0 rows/s'],
])('tells of %j at %i rows a second: %s', (step, speed, text) => {
  expect(textOfStep(step, 'rows', speed)).toBe(text);
});

it('tells the speed of each collection of a dump by itself', () => {
  let ms = 0;
  const textOf = textsOfSteps('documents', () => ms);
  const texts = [
    [0, { stage: 'buses', done: 0, total: 300 }],
    [1_000, { stage: 'buses', done: 300, total: 300 }],
    [2_000, { stage: 'task', done: 2, total: 4 }],
    [3_000, { stage: 'task', done: 4, total: 4 }],
  ] as const;
  expect(
    texts.map(([at, step]) => {
      ms = at;
      return textOf(step);
    }),
  ).toEqual([
    '0 of 300 documents, 0 documents/s (buses)',
    '300 of 300 documents, 300 documents/s (buses)',
    '2 of 4 documents, 0 documents/s (task)',
    '4 of 4 documents, 2 documents/s (task)',
  ]);
});
