/** The settings of a school for its reports: properties of its domain, each with a default. */
import type { JsonValue } from '../../../base/json/json.js';
import { findKnownProperty, REPORT_DEFAULTS } from '../../../store/catalog/known-properties.js';

/** The properties of these names, which known-properties.ts explains; the highest of the grades first. */
export type SchoolSettings = Readonly<typeof REPORT_DEFAULTS>;

/** Reads the settings; a missing or malformed property has its default. */
export function schoolSettings(property: (name: string) => JsonValue | undefined): SchoolSettings {
  const read = Object.entries(REPORT_DEFAULTS).map(([name, byDefault]) => {
    const value = property(name);
    const isValid = value !== undefined && findKnownProperty(name)?.isValid(value);
    return [name, isValid ? value : byDefault];
  });
  const settings = Object.fromEntries(read) as SchoolSettings;
  return {
    ...settings,
    // Stored numbers may be exact ones.
    sessionFirstMonth: Number(settings.sessionFirstMonth),
    passPercent: Number(settings.passPercent),
    grades: settings.grades
      .map(({ from, grade }) => ({ from: Number(from), grade }))
      .sort((one, other) => other.from - one.from),
  };
}
