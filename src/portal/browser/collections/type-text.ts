import type { Texts } from '../language/use-texts';
import type { WrittenField } from './written-declaration';

/** The type of a field in the words of declarations, e.g. `list of reference → registration`. */
export function typeText({ type, format, list, target }: WrittenField, t: Texts): string {
  const targets = target === undefined ? [] : [target].flat();
  const text = [type, ...(format === undefined ? [] : [`(${format})`])].join(' ');
  const of = targets.length === 0 ? text : `${text} → ${targets.join(', ')}`;
  return list === true ? t('list of {type}', { type: of }) : of;
}
