import { describe, expect, it } from '@jest/globals';
import { boundAnswer, boundText } from '../../../src/gateway/agents/bounded-answer.js';

const rows = (count: number, text = 'x') => Array.from({ length: count }, (_, n) => ({ n, text }));

describe('boundAnswer', () => {
  it('leaves what is small as it is, digits included', () => {
    const text = '{"a":[1.10,12345678901234567890]}';
    expect(boundAnswer(text, { maxRows: 2, maxBytes: 100 })).toEqual({ text, cuts: [] });
  });

  it('cuts each list to so many rows, also those in rows', () => {
    const value = { all: rows(5), few: [{ days: [1, 2, 3, 4, 5] }], exact: 0 };
    const { text, cuts } = boundAnswer(JSON.stringify(value), { maxRows: 3, maxBytes: 10_000 });
    expect(JSON.parse(text)).toEqual({ all: rows(3), few: [{ days: [1, 2, 3] }], exact: 0 });
    expect(cuts).toEqual([
      'all shows 3 of the 5 rows that came',
      'few.*.days shows 3 of the 5 rows that came',
    ]);
  });

  it('cuts the largest list until the whole fits', () => {
    const value = { small: rows(2), page: { nodes: rows(100, 'x'.repeat(50)) } };
    const { text, cuts } = boundAnswer(JSON.stringify(value), { maxRows: 1000, maxBytes: 2_000 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
    const cut = JSON.parse(text);
    expect(cut.small).toEqual(value.small);
    expect(cut.page.nodes.length).toBeGreaterThan(20);
    expect(cuts).toEqual([`page.nodes shows ${cut.page.nodes.length} of the 100 rows that came`]);
  });

  it('counts bytes, not characters', () => {
    const value = { names: Array.from({ length: 30 }, () => 'विद्या') };
    const { text } = boundAnswer(JSON.stringify(value), { maxRows: 100, maxBytes: 300 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300);
    expect(JSON.parse(text).names.length).toBeGreaterThan(5);
  });

  it('keeps no row that is larger than the whole may be', () => {
    const { text, cuts } = boundAnswer(JSON.stringify({ rows: rows(2, 'x'.repeat(500)) }), {
      maxRows: 10,
      maxBytes: 100,
    });
    expect({ text, cuts }).toEqual({
      text: '{"rows":[]}',
      cuts: ['rows shows 0 of the 2 rows that came'],
    });
  });

  it('leaves out what is too large without a list', () => {
    const { text, cuts } = boundAnswer(JSON.stringify({ a: 'x'.repeat(500) }), { maxRows: 9, maxBytes: 99 });
    expect(text).toBe('null');
    expect(cuts).toEqual(['all of it, which is 508 bytes long and has no list to cut']);
  });
});

describe('boundText', () => {
  it('cuts at the end of a line', () => {
    expect(boundText('ab\ncd\nef\n', 7)).toEqual({
      text: 'ab\ncd',
      cuts: ['the text shows 5 of 9 bytes'],
    });
    expect(boundText('ab\n', 7)).toEqual({ text: 'ab\n', cuts: [] });
  });
});
