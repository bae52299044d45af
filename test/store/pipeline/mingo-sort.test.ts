import { describe, expect, it } from '@jest/globals';
import { runMingoStage } from '../../../src/store/pipeline/run-mingo-stage.js';

const DOCUMENTS = [
  { _id: 'a', k: null, n: 2 },
  { _id: 'b', k: 'x', n: 1 },
  { _id: 'c', n: 1 },
  { _id: 'd', k: 'y' },
  { _id: 'e', k: 'x', n: null },
];

describe('$sort outside the database', () => {
  it('has null and missing last in both directions, in the order of the next key', () => {
    expect(sorted({ k: 1, n: 1 })).toBe('bedca');
    expect(sorted({ k: -1, n: 1 })).toBe('dbeca');
    expect(sorted({ k: -1, n: -1 })).toBe('dbeac');
    expect(sorted({ n: -1, _id: -1 })).toBe('acbed');
  });
});

function sorted(keys: Readonly<Record<string, 1 | -1>>): string {
  const documents = runMingoStage({ $sort: keys }, structuredClone(DOCUMENTS)) as { _id: string }[];
  return documents.map(({ _id }) => _id).join('');
}
