import { describe, expect, it } from '@jest/globals';
import { namedStatements } from '../../../src/store/sql/statement-name.js';

describe('statementName', () => {
  // Of its own: the process remembers what was named in whatever test files ran before.
  const statementName = namedStatements();

  it('is the same for the same text', () => {
    const name = statementName('select 1 from records r where r.id = $1');
    expect(name).toMatch(/^q_[0-9a-f]{24}$/);
    expect(statementName('select 1 from records r where r.id = $1')).toBe(name);
  });

  it.each([
    "(r.data->>'name') like $2",
    "(r.data->>'name') ilike $2",
    'r.data @? $2::jsonpath',
    'x like $12',
  ])('leaves %s to be planned for each value', (condition) => {
    expect(statementName(`select 1 from records r where ${condition}`)).toBeUndefined();
  });

  it('prepares a pattern of which the text says what counts', () => {
    expect(statementName("select 1 from records r where (r.data->>'name') like $12::text")).toMatch(/^q_/);
  });

  it('names the first 500 shapes, and goes on naming them', () => {
    const nameOf = namedStatements();
    const texts = Array.from({ length: 501 }, (_, index) => `select ${index}`);
    expect(texts.map(nameOf).filter((name) => name === undefined)).toHaveLength(1);
    expect(nameOf('select 500')).toBeUndefined();
    expect(nameOf('select 499')).toMatch(/^q_/);
  });
});
