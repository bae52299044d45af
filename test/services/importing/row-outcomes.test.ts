import { describe, expect, it } from '@jest/globals';
import { firstRowsOf, outcomesOf } from '../../../src/services/importing/row-outcomes.js';

describe('the outcomes of the rows of a batch', () => {
  it('are runs of rows that follow each other and share one', () => {
    const runs = outcomesOf(
      {
        // The rows 5 and 11 were refused before they were staged; row 9 is a line of row 8.
        staged: [
          [2, 4],
          [6, 8],
          [10, 10],
        ],
      },
      {
        created: [2, 3],
        updated: [
          { number: 6, id: 'a', fields: ['name'] },
          { number: 7, id: 'b', fields: ['name', 'class'] },
          { number: 8, id: 'c', fields: ['name', 'class'] },
          { number: 10, id: 'd', fields: ['name', 'class'] },
        ],
      },
      [{ number: 5 }, { number: 11 }, { number: 4 }],
    );
    expect(runs).toEqual([
      [2, 3, 'create'],
      [4, 5, 'error'],
      [6, 6, 'update', ['name']],
      [7, 7, 'update', ['name', 'class']],
      [8, 8, 'update', ['name', 'class']],
      [10, 10, 'update', ['name', 'class']],
      [11, 11, 'error'],
    ]);
    expect(
      firstRowsOf(
        runs,
        {
          records: new Map([
            [2, 'new'],
            [6, 'a'],
          ]),
          labels: new Map([
            [2, 'Asha'],
            [6, 'Ravi'],
          ]),
        },
        5,
      ),
    ).toEqual([
      { number: 2, outcome: 'create', label: 'Asha' },
      { number: 3, outcome: 'create' },
      { number: 4, outcome: 'error' },
      { number: 5, outcome: 'error' },
      { number: 6, outcome: 'update', fields: ['name'], recordId: 'a', label: 'Ravi' },
    ]);
  });
});
