import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { printTable } from '../../src/cli/print-table.js';

afterEach(() => {
  jest.restoreAllMocks();
});

function printed(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const written: string[] = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  printTable(head, rows);
  jest.restoreAllMocks();
  return written.join('');
}

describe('a table on the terminal', () => {
  it('has its columns one below the other', () => {
    expect(
      printed(
        ['Name', 'Class'],
        [
          ['Asha', '5'],
          ['Bina Devi', '10'],
        ],
      ),
    ).toBe('Name       Class\nAsha       5\nBina Devi  10\n');
  });

  it('has no character that a terminal obeys, in headings made of data neither', () => {
    const title = '\u001b]0;a title\u0007';
    expect(printed([title], [['\u009b31mred'], ['\u202eback'], ['a\rb\tc']])).toBe(
      ['\\u001b]0;a title\\u0007', '\\u009b31mred', '\\u202eback', 'a\\u000db\\u0009c', ''].join('\n'),
    );
  });

  it('leaves names in two directions, and lines of a cell, as they are', () => {
    expect(printed(['Name'], [['\u2068अनु\u2069 \u200f'], ['one\ntwo']])).toBe(
      'Name\n\u2068अनु\u2069 \u200f\none\ntwo\n',
    );
  });
});
