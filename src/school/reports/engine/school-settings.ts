/** The settings of a school for its reports: properties of its domain, each with a default. */
import type { JsonValue } from '../../../base/json/json.js';
import { isJsonObject } from '../../../base/json/json.js';
import {
  CURRENCY,
  REPORT_DEFAULTS,
  TIME_OF_DAY,
  WEEKLY_OFF,
} from '../../../store/catalog/known-properties.js';

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

const DEFAULTS: SchoolSettings = REPORT_DEFAULTS;

/** Reads the settings; a missing or malformed property has its default. */
export function schoolSettings(property: (name: string) => JsonValue | undefined): SchoolSettings {
  return {
    currency: matching(property('currency'), CURRENCY) ?? DEFAULTS.currency,
    sessionFirstMonth: whole(property('sessionFirstMonth'), 1, 12) ?? DEFAULTS.sessionFirstMonth,
    weeklyOffs: weeklyOffs(property('weeklyOffs')) ?? DEFAULTS.weeklyOffs,
    leaveCountsPresent: property('leaveCountsPresent') === true,
    grades: grades(property('grades')) ?? DEFAULTS.grades,
    passPercent: whole(property('passPercent'), 0, 100) ?? DEFAULTS.passPercent,
    rankMethod: property('rankMethod') === 'dense' ? 'dense' : DEFAULTS.rankMethod,
    schoolStartsAt: matching(property('schoolStartsAt'), TIME_OF_DAY) ?? DEFAULTS.schoolStartsAt,
  };
}

function matching(value: JsonValue | undefined, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

function whole(value: JsonValue | undefined, least: number, greatest: number): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isInteger(number) && number >= least && number <= greatest ? number : undefined;
}

function weeklyOffs(value: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const days = value.filter((day): day is string => typeof day === 'string' && WEEKLY_OFF.test(day));
  return days.length === value.length ? days : undefined;
}

function grades(value: JsonValue | undefined): readonly GradeBound[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const bounds = value.flatMap((bound): GradeBound[] => {
    if (!isJsonObject(bound) || typeof bound.grade !== 'string') return [];
    const from = Number(bound.from);
    return Number.isFinite(from) ? [{ from, grade: bound.grade }] : [];
  });
  return bounds.length === value.length ? bounds.sort((a, b) => b.from - a.from) : undefined;
}
