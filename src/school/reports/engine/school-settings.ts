/** The settings of a school for its reports: properties of its domain, each with a default. */
import type { JsonObject, JsonValue } from '../../../base/json/json.js';
import { findKnownProperty, REPORT_DEFAULTS } from '../../../store/catalog/known-properties.js';

/** A lower bound in percent and the grade from there on. */
interface GradeBound {
  readonly from: number;
  readonly grade: string;
}

export interface SchoolSettings {
  /** Property `currency`, ISO 4217. */
  readonly currency: string;
  /** Property `sessionFirstMonth`, 1–12: the month a session starts in. */
  readonly sessionFirstMonth: number;
  /**
   * Property `weeklyOffs`: `SU` is every Sunday, `2SA` the second Saturday of a month (the day rules of RFC
   * 5545).
   */
  readonly weeklyOffs: readonly string[];
  /** Property `leaveCountsPresent`: whether a day of leave counts as present. */
  readonly leaveCountsPresent: boolean;
  /** Property `grades`, highest first. */
  readonly grades: readonly GradeBound[];
  /** Property `passPercent`: below it a subject is not passed. */
  readonly passPercent: number;
  /** Property `rankMethod`: after two firsts comes 3 (`competition`) or 2 (`dense`). */
  readonly rankMethod: 'competition' | 'dense';
  /** Property `schoolStartsAt`, HH:mm: a member of staff who comes later is late. */
  readonly schoolStartsAt: string;
}

/** Reads the settings; a missing or malformed property has its default. */
export function schoolSettings(property: (name: string) => JsonValue | undefined): SchoolSettings {
  const setting = <Value extends JsonValue>(name: keyof SchoolSettings): Value => {
    const value = property(name);
    const isValid = value !== undefined && findKnownProperty(name)?.isValid(value);
    return (isValid ? value : REPORT_DEFAULTS[name]) as Value;
  };
  const grades = setting<(GradeBound & JsonObject)[]>('grades');
  return {
    currency: setting('currency'),
    sessionFirstMonth: Number(setting('sessionFirstMonth')),
    weeklyOffs: setting<string[]>('weeklyOffs'),
    leaveCountsPresent: setting('leaveCountsPresent'),
    grades: grades
      .map(({ from, grade }) => ({ from: Number(from), grade }))
      .sort((one, other) => other.from - one.from),
    passPercent: Number(setting('passPercent')),
    rankMethod: setting('rankMethod'),
    schoolStartsAt: setting('schoolStartsAt'),
  };
}
