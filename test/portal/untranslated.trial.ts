/**
 * Lists what has no Hindi yet and is shown in English. Nobody needs Hindi to build or to test a change, so
 * only the nightly trials insist on it.
 */
import { expect, it } from '@jest/globals';
import { readMessageCatalogs } from '../../src/portal/message-catalogs.js';
import { HINDI, WORDS } from './translated-words.js';

it('every text of the portal has a translation in a hi.json', async () => {
  const { untranslated } = await readMessageCatalogs(['src/portal/browser']);
  expect(untranslated).toEqual([]);
});

it('every name and description of a report, collection or setting is in hindi-words.json', () => {
  expect([...WORDS].filter((word) => !/[\u0900-\u097f]/.test(HINDI[word] ?? ''))).toEqual([]);
});
