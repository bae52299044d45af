import { describe, expect, it } from '@jest/globals';
import { RequestNotes } from '../../../src/gateway/resolvers/request-notes.js';

describe('the notes of a request', () => {
  it('keep each hint once, and ten of them', () => {
    const notes = new RequestNotes('/o/recs');
    for (const hint of ['a', 'b', 'a', ...'cdefghijkl']) notes.hint(hint);
    expect(notes.hints.join('')).toBe('abcdefghij');
  });

  it('tell of statements whoever wants to hear of them, and measure none where nobody does', () => {
    const notes = new RequestNotes(undefined);
    expect(notes.onStatement).toBeUndefined();
    const heard: string[] = [];
    notes.watchStatements(({ rowCount }) => heard.push(`first ${rowCount}`));
    notes.watchStatements(({ rowCount }) => heard.push(`second ${rowCount}`));
    notes.onStatement?.({
      sql: { text: 'select', strings: ['select'], values: [] },
      durationMs: 1,
      rowCount: 3,
    });
    expect(heard).toEqual(['first 3', 'second 3']);
  });
});
