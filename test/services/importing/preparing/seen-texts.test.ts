import { closeSync, openSync, readdirSync, readlinkSync, writeSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SeenTexts } from '../../../../src/services/importing/preparing/seen-texts.js';
import { toDiskFault } from '../../../../src/services/importing/reading/nameless-file.js';

/** More than the table in memory has room for, so that they stand in files of several sizes. */
const MANY = 300_000;

describe('the texts that were seen in a file', () => {
  const seen = new SeenTexts();
  for (let row = 1; row <= MANY; row += 1) {
    seen.add('_id', `id-${row}`, row);
    if (row % 2 === 0) seen.add('roll', String(row), row);
  }

  it('are known by the rows they stood in first, however many there are', () => {
    const wrong: number[] = [];
    for (let row = 1; row <= MANY; row += 1) {
      const isRight =
        seen.find('_id', `id-${row}`) === row &&
        seen.find('roll', String(row)) === (row % 2 === 0 ? row : undefined);
      if (!isRight) wrong.push(row);
    }
    expect(wrong).toEqual([]);
  });

  it('are not taken for others, nor for those of another rule', () => {
    const taken: string[] = [];
    for (let number = 1; number <= MANY; number += 1) {
      if (seen.find('_id', String(number)) !== undefined) taken.push(`_id ${number}`);
      if (seen.find('roll', `id-${number}`) !== undefined) taken.push(`roll id-${number}`);
    }
    expect(taken).toEqual([]);
  });

  it('keep the first row where one is told again', () => {
    const some = new SeenTexts();
    some.add('_id', 'twice', 3);
    some.add('_id', 'twice', 4);
    expect(some.find('_id', 'twice')).toBe(3);
  });

  it('stand in few files, which have no name any more', () => {
    const files = readdirSync('/proc/self/fd').flatMap((handle) => linkOf(handle));
    const held = files.filter((file) => file.includes('campus-import-'));
    expect(held.length).toBeGreaterThan(0);
    expect(held.length).toBeLessThan(5);
    expect(held.every((file) => file.endsWith('(deleted)'))).toBe(true);
  });
});

it('tells of a full disk as what passes', () => {
  const full = openSync('/dev/full', 'w');
  let fault: unknown;
  try {
    writeSync(full, 'text');
  } catch (cause) {
    fault = toDiskFault(cause);
  } finally {
    closeSync(full);
  }
  expect(fault).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('has no room') });
});

/** A handle may be closed by now, such as that of the listing itself. */
function linkOf(handle: string): readonly string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${handle}`)];
  } catch {
    return [];
  }
}
