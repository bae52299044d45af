import type { ShownPropertyFragment } from '../../../generated/portal/settings/settings';
import { parseExactly, printExactly } from '../gateway/exact-number';

type PropertyForm = Pick<ShownPropertyFragment, 'kind'>;

/** The value of a setting as it is shown and edited: texts unchanged, other values as JSON. */
export function printProperty({ kind }: PropertyForm, value: unknown): string {
  if (value === null || value === undefined) return '';
  return kind === 'TEXT' && typeof value === 'string' ? value : printExactly(value);
}

/** The set value, otherwise the default, as `printProperty` shows it. */
export function valueInForce(property: ShownPropertyFragment): string {
  return printProperty(property, property.isSet ? property.value : property.defaultValue);
}

/** Parses the input to the value to send. `undefined` for invalid JSON. */
export function parseProperty({ kind }: PropertyForm, text: string): unknown {
  if (kind === 'TEXT') return text;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
