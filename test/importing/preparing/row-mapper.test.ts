import { describe, expect, it } from '@jest/globals';
import { createRowMapper } from '../../../src/importing/preparing/row-mapper.js';
import { SAMPLE } from '../../store/sql/sample-collection.js';

describe('a row of documents', () => {
  const map = createRowMapper(
    { columns: ['name', 'amount'].map((one) => ({ column: one, field: one })), fixed: {} },
    SAMPLE,
    {
      of: 'documents',
      timeZone: 'UTC',
    },
  );

  it('is told what stands where a text or a number is expected, as JSON that is cut', () => {
    const long = { rupees: 'ninety '.repeat(30) };
    const { faults } = map({ name: { first: 'Asha', marks: [12.5] }, amount: long });
    expect(faults).toEqual([
      expect.objectContaining({ column: 'name', sent: '{"first":"Asha","marks":[12.5]}' }),
      expect.objectContaining({ column: 'amount', sent: `${JSON.stringify(long).slice(0, 100)}…` }),
    ]);
  });
});
