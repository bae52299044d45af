/** What comments refer to is there: a section of docs, a file, a declaration. */
import { describe, expect, it } from '@jest/globals';
import { listFiles } from './project-files.js';
import { findDeadReferences, findReferences } from './see-references.js';

const SOURCES = listFiles('src', 'test').filter((file) => /\.(ts|tsx|mjs)$/.test(file));

describe('@see', () => {
  it('leads somewhere, in every comment', () => {
    const dead = findReferences(SOURCES)
      .map(({ from, text }) => ({ from, text, missing: findDeadReferences(text) }))
      .filter(({ missing }) => missing.length > 0);
    expect(dead).toEqual([]);
  });

  it('is found in the comments of all rooms', () => {
    expect(findReferences(SOURCES).length).toBeGreaterThan(100);
  });

  it.each([
    ['interface 4.3, decisions 3', []],
    ['interface 4.2–4.4, decisions 3–5 (of which 4 is most)', []],
    ['reports 9, "Terms used by all", prisma/migrations/0005_fee_months', []],
    ['https://www.w3.org/TR/server-timing/', []],
    ['RFC 9110 section 13, decisions 1', []],
    ['SMPP 3.4, appendix B', []],
    ['RFC 4648, section 4', []],
    ['OWASP REST Security Cheat Sheet, "Security Headers"', []],
    ['RFC 9110, 13.1.5 and 14.2, decisions 99', ['decisions 99']],
    ['RecordStore.create', []],
    ['interface 4.9', ['interface 4.9']],
    ['decisions 3, 99', ['99']],
    ['design "No such heading, anywhere"', ['design "No such heading, anywhere"']],
    ['no-such-page "Start"', ['no-such-page "Start"']],
    ['RecordStore.destroyEverything', ['RecordStore.destroyEverything']],
    ['no-such-file.ts', ['no-such-file.ts']],
    ['3, decisions 3', ['3']],
  ])('takes "%s"', (text, missing) => {
    expect(findDeadReferences(text)).toEqual(missing);
  });
});
