/** The words of refusals in another language. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { sayByTemplates } from '../../src/portal/browser/language/say-by-templates.js';

const hindi: Readonly<Record<string, string>> = JSON.parse(
  await readFile('src/portal/browser/language/hindi-problems.json', 'utf8'),
);

describe('sayByTemplates', () => {
  const say = sayByTemplates(
    {
      '{what} (and {count} more)': '{what} [+{count}]',
      'Nothing is free.': 'Nichts ist frei.',
      '{field} {value} is taken': '{field} {value} ist vergeben',
      'no {fields} twice': '{fields} nicht doppelt',
      '/{field}: {expected} is expected ({found})': '{field}: {expected} erwartet ({found})',
      'a number': 'eine Zahl',
    },
    { nameOf: (field) => ({ phone: 'Telefon', first_name: 'Vorname' })[field] ?? field, fullStop: '!' },
  );

  it.each([
    ['Nothing is free.', 'Nichts ist frei.'],
    ['phone "1 (2)" is taken', 'Telefon "1 (2)" ist vergeben'],
    ['no first_name and phone twice', 'Vorname, Telefon nicht doppelt'],
    ['/phone: a number is expected (it is not)', 'Telefon: eine Zahl erwartet (it is not)'],
    ['/phone: a number is expected (x) (and 2 more)', 'Telefon: eine Zahl erwartet (x) [+2]'],
    ['phone 1 is taken.', 'Telefon 1 ist vergeben!'],
    ['phone 1 is taken. (and 2 more)', 'Telefon 1 ist vergeben! [+2]'],
    ['phone two\nlines is taken', 'Telefon two\nlines ist vergeben'],
  ])('says %j', (text, said) => {
    expect(say(text)).toBe(said);
  });

  it('keeps braces and dollars in values', () => {
    expect(say('phone {value} $& is taken')).toBe('Telefon {value} $& ist vergeben');
  });

  it.each(['', 'Nothing is free', 'phone is free', 'phone is free.', 'Unknown (and 2 more)'])(
    'says nothing of %j',
    (text) => {
      expect(say(text)).toBeUndefined();
    },
  );
});

describe('the Hindi of refusals', () => {
  const say = sayByTemplates(hindi, { nameOf: (field) => field, fullStop: '।' });

  it.each([
    '12 records of fee_due point to it (student)',
    '12 records of fee_due point to it (student), 1 record of fee_receipt points to it (student), ' +
      'and other records',
    '10000 or more records of attendance point to it (student)',
  ])('counts what points to a record: %s', (found) => {
    const rest = 'Remove or change these first. An admin may pass force: true.';
    const said = say(`The record "s-1" of registration is still in use: ${found}. ${rest}`);
    expect(said).toContain('संकेत कर');
    expect(
      said?.replaceAll(/force|true|fee_due|fee_receipt|attendance|registration|student|or more|s-1/g, ''),
    ).not.toMatch(/[a-z]{2}/);
  });

  it.each([
    ['/amount: a number (at least 0, with at most 2 decimals) is expected, -5 was sent', 'कम से कम 0'],
    ['value is 250; at most 100 is expected where kind is percent', 'अधिकतम 100'],
    ['/name: text (of at most 100 characters) is expected, it is missing', 'अधिकतम 100 अक्षर'],
    ['/dob: a day YYYY-MM-DD (not in the future) is expected, "2030-01-01" was sent', 'आने वाले समय'],
  ])('has the bounds: %s', (text, part) => {
    const said = say(text);
    expect(said).toContain(part);
    expect(said).not.toMatch(/expected|least|most|sent|missing/);
  });

  it('is of texts that the gateway has', async () => {
    const sources = await readSources('src');
    const isSaid = (template: string) => {
      const parts = template.split(/\{\w+\}/).filter((part) => part.trim().length > 3);
      return sources.some((source) => parts.every((part) => source.includes(part)));
    };
    expect(Object.keys(hindi).filter((template) => !isSaid(template))).toEqual([]);
  });

  it('has the values of each text', () => {
    const invented = Object.entries(hindi).filter(
      ([text, said]) => said.match(/\{\w+\}/g)?.some((value) => !text.includes(value)) === true,
    );
    expect(invented).toEqual([]);
  });
});

/** The sources of the gateway, their texts joined that go over several lines. */
async function readSources(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true });
  const own = files.filter((file) => file.endsWith('.ts') && !/^(generated|portal)\//.test(file));
  return await Promise.all(
    own.map(async (file) => {
      const source = await readFile(path.join(folder, file), 'utf8');
      return source.replaceAll(/['`"]\s*\+\s*['`"]/g, '').replaceAll(/\\(['"`])/g, '$1');
    }),
  );
}
