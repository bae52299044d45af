/** The search index of the manual: a match in a heading ranks above one in the text. */
import MiniSearch, { type Options } from 'minisearch';

export interface SearchedSection {
  /** Its address, anchor included. */
  readonly id: string;
  /** The title of the page. */
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

/** The page reads the index with the very options it was made by. */
export const SEARCH_OPTIONS: Options<SearchedSection> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page'],
  // Names of settings, fields and operators are found as they are written, and by their parts.
  tokenize: (text) =>
    text.split(/[^\p{L}\p{N}_$]+/u).flatMap((word) => [word, ...word.split(/[_$]+|(?<=\p{Ll})(?=\p{Lu})/u)]),
  searchOptions: { prefix: true, fuzzy: 0.15, boost: { title: 4, page: 2 }, combineWith: 'AND' },
};

export function printSearchIndex(sections: readonly SearchedSection[]): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  index.addAll(sections);
  return JSON.stringify(index);
}
