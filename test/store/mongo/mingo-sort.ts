/** `$sort` for mingo. Missing values come last in both directions, as in every other order of the service. */
import { type Iterator, Lazy } from 'mingo/lazy';
import { $sort as sortPresent } from 'mingo/operators/pipeline';
import type { Options } from 'mingo/types';
import { resolve } from 'mingo/util';

type Document = Parameters<typeof resolve>[0];

/** Null and missing are equal. The next key decides the order of such documents. */
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
