/**
 * The search index of the manual. A match in the words of `docs/search-words.json` ranks above one in a
 * heading, and that above one in the text. Pages for users rank above those for contributors.
 */
import MiniSearch, { type Options } from 'minisearch';

export interface SearchedSection {
  /** Its address, anchor included. */
  readonly id: string;
  /** The title of the page. */
  readonly page: string;
  readonly title: string;
  readonly text: string;
  /** Other search words for it, from `docs/search-words.json`. */
  readonly words: string;
  /** The weight of a match; 1 for the pages of users. */
  readonly weight: number;
}

/** The page must read the index with the options that it was made with. */
export const SEARCH_OPTIONS: Options<SearchedSection> = {
  fields: ['title', 'page', 'text', 'words'],
  storeFields: ['title', 'page', 'weight'],
  // Names of settings, fields and operators are found as a whole and by their parts.
  tokenize: (text) =>
    text.split(/[^\p{L}\p{N}_$]+/u).flatMap((word) => [word, ...word.split(/[_$]+|(?<=\p{Ll})(?=\p{Lu})/u)]),
  searchOptions: {
    prefix: true,
    fuzzy: 0.15,
    boost: { words: 8, title: 4, page: 2 },
    boostDocument: (_id, _term, stored) => Number(stored?.weight ?? 1),
    combineWith: 'AND',
  },
};

export function printSearchIndex(sections: readonly SearchedSection[]): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  index.addAll(sections);
  return JSON.stringify(index);
}
