/**
 * `$sort` for mingo with missing values last in both directions, as every other order of the service has
 * them.
 */
import { type Iterator, Lazy } from 'mingo/lazy';
import { $sort as sortPresent } from 'mingo/operators/pipeline';
import type { Options } from 'mingo/types';
import { resolve } from 'mingo/util';

type Document = Parameters<typeof resolve>[0];

/** Null and missing are one, and leave their documents in the order of the next key. */
export function $sort(
  documents: Iterator,
  keys: Readonly<Record<string, 1 | -1>>,
  options: Options,
): Iterator {
  return documents.transform((all) =>
    Object.entries(keys).reduceRight(
      (sorted, [path, direction]) => {
        const list = sorted.collect<Document>();
        const hasValue = (document: Document) => (resolve(document, path) ?? null) !== null;
        const present = sortPresent(Lazy(list.filter(hasValue)), { [path]: direction }, options);
        return Lazy([...present.collect<Document>(), ...list.filter((document) => !hasValue(document))]);
      },
      Lazy([...all]),
    ),
  );
}
