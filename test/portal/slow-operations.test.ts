import { describe, expect, it } from '@jest/globals';
import { toSlowOperations } from '../../src/portal/browser/health/slow-operations.js';

const slow = (operation: string | null, durationMs: number, others: object = {}) => ({
  at: '2026-11-26T10:00:00.000Z',
  operation,
  requestId: operation === null ? null : `r-${durationMs}`,
  collections: ['task'],
  durationMs,
  rows: 1,
  statement: 'select 1',
  suggestions: [],
  ...others,
});

describe('the slow operations of health', () => {
  it('are one for all runs: how often, when last, and the worst with its request', () => {
    const worst = slow('Dues', 900, { statement: 'select 3', suggestions: ['task: {"on": "name"}'] });
    const found = toSlowOperations([
      slow('Dues', 500, { at: '2026-11-26T12:00:00.000Z', suggestions: ['task: {"on": "due"}'] }),
      slow('Marks', 700),
      worst,
      slow('Dues', 900, { at: '2026-11-26T09:00:00.000Z', suggestions: ['task: {"on": "due"}'] }),
    ]);
    expect(found).toEqual([
      {
        key: 'Dues',
        name: 'Dues',
        count: 3,
        lastAt: '2026-11-26T12:00:00.000Z',
        worst,
        suggestions: ['task: {"on": "due"}', 'task: {"on": "name"}'],
      },
      expect.objectContaining({ name: 'Marks', count: 1 }),
    ]);
  });

  it('keep the tasks of the gateway apart by their statements', () => {
    const found = toSlowOperations([
      slow(null, 300, { statement: 'vacuum' }),
      slow(null, 400, { statement: 'analyze' }),
      slow(null, 200, { statement: 'vacuum' }),
    ]);
    expect(found.map(({ worst, count }) => [worst.statement, count])).toEqual([
      ['analyze', 1],
      ['vacuum', 2],
    ]);
  });
});
