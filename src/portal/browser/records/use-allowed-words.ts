import { useCallback } from 'react';
import { useReportWords } from '../language/use-report-words';
import { nameOfEnumValue } from '../reports/name-of-column';

/** A code such as `half_day`, which nobody would write to people. */
const CODE = /^[a-z]+(?:_[a-z]+)*$/;

/**
 * A value out of the list of those that a field allows, as people read it: `half_day` is "Half day". It is
 * for the eye alone: what is stored, filtered by, copied and exported is the value. One that a school wrote
 * as people read it, such as "Grade A", stays.
 */
export function useAllowedWords(): (value: string) => string {
  const say = useReportWords();
  return useCallback((value) => say(CODE.test(value) ? nameOfEnumValue(value) : value), [say]);
}
