import { useFormats } from './use-formats';

/** Sorts by title in the alphabet of the language, and numbers by their value. */
export function useInOrderOfTitle(): <Titled extends { readonly title: string }>(
  list: readonly Titled[],
) => Titled[] {
  const { locale } = useFormats();
  const { compare } = new Intl.Collator(locale, { numeric: true });
  return (list) => list.toSorted((one, other) => compare(one.title, other.title));
}
