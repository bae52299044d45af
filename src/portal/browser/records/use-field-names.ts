import { useCallback } from 'react';
import { useReportWords } from '../language/use-report-words';
import { nameOfField } from './name-of-field';

/**
 * Returns a function that names fields in the language of the page: `guardian_phone` is "Guardian phone", and
 * the second of a list "Guardian phone 2". A field that the school has declared keeps its own name.
 */
export function useFieldNames(): (name: string) => string {
  const say = useReportWords();
  return useCallback((name) => nameOfField(name).replace(/^.*?(?= \d+$|$)/, say), [say]);
}
