import type { ShownPropertyFragment } from '../../../generated/portal/settings/settings';
import { parseExactly, printExactly } from '../gateway/exact-number';

type PropertyForm = Pick<ShownPropertyFragment, 'kind'>;

/** The value of a setting as it is shown and edited: a text as it is, all else as JSON. */
export function printProperty({ kind }: PropertyForm, value: unknown): string {
  if (value === null || value === undefined) return '';
  return kind === 'TEXT' && typeof value === 'string' ? value : printExactly(value);
}

/** As `printProperty`: what is set, else the default. */
export function valueInForce(property: ShownPropertyFragment): string {
  return printProperty(property, property.isSet ? property.value : property.defaultValue);
}

/** What was entered, as the value that is sent; `undefined` for what is no JSON. */
export function parseProperty({ kind }: PropertyForm, text: string): unknown {
  if (kind === 'TEXT') return text;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
