import { useLingui } from '@lingui/react';
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';

type Words = Readonly<Record<string, string>>;

/** By language, loaded by who reads reports in it. */
const WORDS: Readonly<Record<string, () => Promise<Words>>> = {
  hi: async () => (await import('./hindi-words.json')).default,
};

/**
 * What the gateway calls a report, its parameters and columns, an operation of the library, or a collection
 * that comes with it and its fields, in the language that is shown. They are texts of its schema, not of the
 * portal, and some of their words mean something else on a button. A test asks a translation for each; of
 * what is not known the English is shown.
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
