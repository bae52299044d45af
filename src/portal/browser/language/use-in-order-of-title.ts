import { useFormats } from './use-formats';

/** Puts what has a title into the order of the reader's alphabet, numbers by their value. */
export function useInOrderOfTitle(): <Titled extends { readonly title: string }>(
  list: readonly Titled[],
) => Titled[] {
  const { locale } = useFormats();
  const { compare } = new Intl.Collator(locale, { numeric: true });
  return (list) => list.toSorted((one, other) => compare(one.title, other.title));
}
