import { useCallback } from 'react';
import { useReportWords } from '../language/use-report-words';
import { nameOfEnumValue } from '../reports/name-of-column';

/** A code such as `half_day`. */
const CODE = /^[a-z]+(?:_[a-z]+)*$/;

/**
 * Returns a function that prints an allowed value for people: `half_day` as "Half day". It is only for
 * display; the value itself is stored, filtered by, copied and exported. A value such as "Grade A" is
 * returned unchanged.
 */
export function useAllowedWords(): (value: string) => string {
  const say = useReportWords();
  return useCallback((value) => say(CODE.test(value) ? nameOfEnumValue(value) : value), [say]);
}
