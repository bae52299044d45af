/**
 * Derives GraphQL names from stored names: fields in camel case, types in Pascal case, enum values in
 * capitals.
 */
import { isInheritedName } from '../text/inherited-names.js';

/**
 * `created_on` becomes `createdOn`; characters that GraphQL does not allow are dropped. graphql-js looks
 * fields up in plain objects, so `constructor` becomes `constructor_`.
 */
export function toFieldName(stored: string): string {
  const [first = '', ...rest] = words(stored);
  const name = legal(lowerFirst(first) + rest.map(upperFirst).join(''));
  return isInheritedName(name) ? `${name}_` : name;
}

/** `fee_receipt` and `feeReceipt` become `FeeReceipt`. */
export function toTypeName(stored: string): string {
  return legal(words(stored).map(upperFirst).join(''));
}

/** `Pre-primary` becomes `PRE_PRIMARY`, `half_day` `HALF_DAY`, and `5` `_5`. */
export function toEnumValueName(value: string): string {
  const name = legal(
    value
      .normalize('NFKD')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^_|_$/g, ''),
  );
  return ['TRUE', 'FALSE', 'NULL'].includes(name) ? `${name}_` : name;
}

/** Appends the first free number to a name that is taken: `CLASS`, `CLASS_2`. */
export function distinctGraphqlNames(
  names: readonly string[],
  taken: Iterable<string> = [],
): readonly string[] {
  const seen = new Set(taken);
  return names.map((name) => {
    let free = name;
    for (let number = 2; seen.has(free); number += 1) free = `${name}_${number}`;
    seen.add(free);
    return free;
  });
}

/** The singular of a list's name: `lines` → `line`, `classes` → `class`, `entries` → `entry`. */
export function toSingular(plural: string): string {
  if (/ies$/i.test(plural)) return plural.replace(/ies$/i, 'y');
  if (/(ss|sh|ch|x)es$/i.test(plural)) return plural.replace(/es$/i, '');
  return /[^s]s$/i.test(plural) ? plural.slice(0, -1) : plural;
}

/** A type's name with its article: `a Task`, `an AttendanceRecord`. */
export function withArticle(typeName: string): string {
  return `${/^[AEIOU]/.test(typeName) ? 'an' : 'a'} ${typeName}`;
}

function words(stored: string): readonly string[] {
  return stored.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
}

/** A name starts with a letter or one underscore; two are reserved for GraphQL. */
function legal(name: string): string {
  if (name === '') return 'X';
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function lowerFirst(word: string): string {
  return word === word.toUpperCase() ? word.toLowerCase() : word.charAt(0).toLowerCase() + word.slice(1);
}
