import { useCallback } from 'react';
import { useReportWords } from '../language/use-report-words';
import { nameOfField } from './name-of-field';

/**
 * What a field is called in the language that is shown: `guardian_phone` is "Guardian phone", and "Guardian
 * phone 2" the second of a list. A field that the school itself declared keeps its own name.
 */
export function useFieldNames(): (name: string) => string {
  const say = useReportWords();
  return useCallback((name) => nameOfField(name).replace(/^.*?(?= \d+$|$)/, say), [say]);
}
