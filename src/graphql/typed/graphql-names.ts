/**
 * How the names of the store read in GraphQL: fields in camel case, types in Pascal case, enum values in
 * capitals.
 */
import { isInheritedName } from '../../inherited-names.js';

/**
 * `created_on` is `createdOn`; what GraphQL does not allow in a name is left out. Its library looks fields up
 * in plain objects, so `constructor` is `constructor_`.
 */
export function toFieldName(stored: string): string {
  const [first = '', ...rest] = words(stored);
  const name = legal(lowerFirst(first) + rest.map(upperFirst).join(''));
  return isInheritedName(name) ? `${name}_` : name;
}

/** `fee_receipt` and `feeReceipt` are `FeeReceipt`. */
export function toTypeName(stored: string): string {
  return legal(words(stored).map(upperFirst).join(''));
}

/** `Pre-primary` is `PRE_PRIMARY`, `half_day` is `HALF_DAY`, `5` is `_5`. */
export function toEnumValueName(value: string): string {
  const name = legal(
    value
      .normalize('NFKD')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^_+|_+$/g, ''),
  );
  return ['TRUE', 'FALSE', 'NULL'].includes(name) ? `${name}_` : name;
}

/** Gives each name that is taken the first free number: `CLASS`, `CLASS_2`. */
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

/** What one element of a list is called: `lines` is `line`, `classes` is `class`, `entries` is `entry`. */
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

/** A name starts with a letter or one underscore; two are GraphQL's own. */
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
