import { useLingui } from '@lingui/react';
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useFormats } from './use-formats';

type Words = Readonly<Record<string, string>>;

/** By language, loaded by pages that show reports. */
const WORDS: Readonly<Record<string, () => Promise<Words>>> = {
  hi: async () => (await import('./hindi-words.json')).default,
};

/**
 * Translates the names of reports, their parameters and columns, of operations of the library, and of
 * bundled collections and their fields. They are texts of the schema, not of the portal, and some of their
 * words have another meaning on a button. A test requires a translation of each. Unknown names stay in
 * English.
 */
export function useReportWords(): (text: string) => string {
  const { locale } = useLingui().i18n;
  const load = WORDS[locale];
  const { data } = useQuery({
    queryKey: ['report words', locale],
    queryFn: async () => (await load?.()) ?? {},
    staleTime: Number.POSITIVE_INFINITY,
    enabled: load !== undefined,
  });
  return useCallback((text) => data?.[text] ?? text, [data]);
}

/** Sorts by title in the alphabet of the language, and numbers by their value. */
export function useInOrderOfTitle(): <Titled extends { readonly title: string }>(
  list: readonly Titled[],
) => Titled[] {
  const { locale } = useFormats();
  const { compare } = new Intl.Collator(locale, { numeric: true });
  return (list) => list.toSorted((one, other) => compare(one.title, other.title));
}
