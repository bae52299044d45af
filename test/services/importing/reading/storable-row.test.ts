import { describe, expect, it } from '@jest/globals';
import { readSource } from './source-fixture.js';

const FAULT = expect.stringMatching(/: a character that cannot be stored stands there \(U\+0000/);

describe('a row with a text that cannot be stored', () => {
  it('of a table is refused by its column, and those about it are read', async () => {
    const { rows, source } = await readSource('_id,na\0me\n1,Asha\n2,Me\0era\n3,🎒\n');
    expect(source.columns).toEqual(['_id', 'na\uFFFDme']);
    expect(rows).toEqual([
      { number: 2, values: { _id: '1', 'na\uFFFDme': 'Asha' }, source: ['1', 'Asha'] },
      {
        ...{ number: 3, values: { _id: '2', 'na\uFFFDme': 'Me\uFFFDera' }, source: ['2', 'Me\uFFFDera'] },
        ...{ fault: FAULT, faultColumn: 'na\uFFFDme' },
      },
      { number: 4, values: { _id: '3', 'na\uFFFDme': '🎒' }, source: ['3', '🎒'] },
    ]);
  });

  it('keeps what is wrong with it besides', async () => {
    const { rows } = await readSource('_id,name\n1,As\0ha,\0\n');
    expect(rows).toMatchObject([
      { fault: expect.stringMatching(/^line 2 has 3 cells/), source: ['1', 'As\uFFFDha', '\uFFFD'] },
    ]);
    expect(rows[0]?.faultColumn).toBeUndefined();
  });

  it.each([
    ['a text', '{"_id":"1","name":"a\\u0000b"}', 'name'],
    ['half of a pair', '{"_id":"1","name":"a\\ud83cb"}', 'name'],
    ['a list', '{"_id":"1","name":["a",{"x":"\\u0000"}]}', 'name'],
    ['a name', '{"_id":"1","na\\u0000":1}', 'na\uFFFD'],
    ['the name of a member', '{"_id":"1","name":{"\\u0000":1}}', 'name'],
  ])('of documents is refused for %s', async (_, text, faultColumn) => {
    const { rows } = await readSource(`${text}\n{"_id":"2","name":"a🎒"}\n`, 'rows.ndjson');
    expect(rows).toMatchObject([{ number: 1, fault: FAULT, faultColumn }, { number: 2 }]);
    expect(JSON.stringify(rows)).not.toMatch(/\\u0000|\\ud83cb/);
    expect(rows[1]).not.toHaveProperty('fault');
  });
});
