/**
 * The values that identify a person, which an erasure searches for and replaces by a pseudonym.
 */
import {
  type ExactNumber,
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printExactJson,
} from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';

const LETTER = '[\\p{L}\\p{M}\\p{N}]';

/** The name shown for an erased person. */
export const ERASED_NAME = 'Erased person';

/** A value that identifies the person. */
export interface Identifier {
  readonly value: string;
  /**
   * Whether it identifies nobody else. Only then is it searched for in what does not belong to the person.
   */
  readonly isAlone: boolean;
}

/** Everything an erasure needs to know about a person. */
export interface PersonIdentity {
  readonly collection: string;
  readonly id: string;
  readonly pseudonym: string;
  /** Longest first, so that no number is replaced inside a longer one. */
  readonly identifiers: readonly Identifier[];
}

/**
 * The places in a record that may reference a person of the collection, as `/`-joined names without lists.
 */
export function referencePathsTo(target: string, collection: Collection | undefined): ReadonlySet<string> {
  const paths = new Set<string>();
  const visit = (fields: Collection['fields'], parent: string): void => {
    for (const field of fields) {
      const path = `${parent}/${field.name}`;
      if (field.targets.includes(target)) paths.add(path);
      visit(field.fields, path);
    }
  };
  visit(collection?.fields ?? [], '');
  return paths;
}

/** The shortest `_id` that does not appear in texts by chance. */
const LEAST_ID = 6;
const LEAST_IDENTIFIER = 3;
const LEAST_NUMBER = 6;

/**
 * Whether a text is specific enough to search for: a house number or an initial would be found everywhere.
 */
export function isTelling(text: string): boolean {
  const least = /^\d+$/.test(text) ? LEAST_NUMBER : LEAST_IDENTIFIER;
  return text.length >= least;
}

/** The digits of a telephone number in their usual spellings; empty for any other text. */
export function spellingsOf(text: string): readonly string[] {
  const digits = text.replace(/\D/g, '');
  const isNumber = /^[+\d][\d\s().-]+$/.test(text) && digits.length >= 8 && digits.length <= 15;
  if (!isNumber) return [text];
  const national = digits.length > 10 ? [digits.slice(-10)] : [];
  return [...new Set([text, digits, ...national])];
}

/**
 * Replaces a person by the pseudonym in texts and JSON. `everything` also replaces values that others share,
 * and is meant for what belongs to the person; otherwise only values that nobody else has are replaced.
 */
export class Redaction {
  readonly #identity: PersonIdentity;
  readonly #words: RegExp | undefined;
  readonly #exact: ReadonlySet<string>;
  /** Lower-case texts. Only a place that contains one of them needs to be examined. */
  readonly sought: readonly string[];

  constructor(identity: PersonIdentity, reach: 'everything' | 'alone') {
    this.#identity = identity;
    const ids = identity.id.length >= LEAST_ID ? [identity.id] : [];
    const values = identity.identifiers
      .filter(({ isAlone }) => isAlone || reach === 'everything')
      .map(({ value }) => value);
    const texts = [...new Set([...ids, ...values])].sort((a, b) => b.length - a.length);
    this.#words =
      texts.length === 0
        ? undefined
        : // A name within a longer word is another name.
          new RegExp(`(?<!${LETTER})(?:${texts.map(escapedForRegExp).join('|')})(?!${LETTER})`, 'giu');
    this.#exact = new Set(identity.identifiers.map(({ value }) => value.toLowerCase()));
    this.sought = texts.map((text) => text.toLowerCase());
  }

  text(text: string): string {
    return this.#words === undefined ? text : text.replace(this.#words, this.#identity.pseudonym);
  }

  /** Whether a text names the person. */
  isIn(text: string): boolean {
    const lower = text.toLowerCase();
    return this.sought.some((one) => lower.includes(one)) && this.text(text) !== text;
  }

  /** Whether JSON text names or references the person. */
  isNamedIn(text: string, references: ReadonlySet<string>): boolean {
    const value = parseExactJson(text);
    return printExactJson(this.json(value, references)) !== printExactJson(value);
  }

  /**
   * `references`: the places where the value may reference the person. A reverse delta of the audit trail,
   * which wraps values in lists, is read like a record.
   */
  json(value: JsonValue, references: ReadonlySet<string> = NOWHERE, path = ''): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((element: JsonValue) => this.json(element, references, path));
    if (typeof value === 'number' || isExactNumber(value)) return this.#number(value);
    if (!isJsonObject(value)) return value;
    const reference = this.#reference(value, references.has(path));
    const entries = Object.entries(reference ?? value);
    return Object.fromEntries(
      entries.map(([name, member]) => [this.text(name), this.json(member, references, `${path}/${name}`)]),
    );
  }

  /** A number identifies the person if all its digits match, e.g. a telephone number. */
  #number(value: number | ExactNumber): JsonValue {
    const digits = printExactJson(value);
    return this.text(digits) === digits ? value : null;
  }

  /** Whether `{value, label}` references the person. For an undeclared reference the label decides. */
  #reference(object: JsonObject, isDeclared: boolean): JsonObject | undefined {
    const { id, pseudonym } = this.#identity;
    const { value, label } = object;
    const isNamed = typeof soleOf(label) === 'string' && this.#exact.has(String(soleOf(label)).toLowerCase());
    if (isDeclared && label !== undefined && value === undefined && isNamed) {
      return { ...object, label: sameWrapping(label, ERASED_NAME) };
    }
    if (value === undefined || soleOf(value) !== id || !(isDeclared || isNamed)) return undefined;
    return {
      ...object,
      value: sameWrapping(value, pseudonym),
      ...(label !== undefined && { label: sameWrapping(label, ERASED_NAME) }),
    };
  }
}

const NOWHERE: ReadonlySet<string> = new Set();

/** The value itself, or the value inside a reverse delta. */
function soleOf(value: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(value) && value.length === 1 ? (value[0] as JsonValue) : value;
}

function sameWrapping(old: JsonValue, text: string): JsonValue {
  return Array.isArray(old) ? [text] : text;
}

function escapedForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
