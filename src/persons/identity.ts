/**
 * Who a person is, as data says it: the values that are looked for, and what puts a pseudonym in their place.
 */
import {
  type ExactNumber,
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printExactJson,
} from '../json.js';
import type { Collection } from '../model/collection.js';

const LETTER = '[\\p{L}\\p{M}\\p{N}]';

/** What stands for the name of a person who was erased. */
export const ERASED_NAME = 'Erased person';

/** A value that tells who the person is. */
export interface Identifier {
  readonly value: string;
  /** Whether it means nobody else: only then it is looked for in what does not belong to the person. */
  readonly isAlone: boolean;
}

/** All that an erasure needs to know of a person. */
export interface PersonIdentity {
  readonly collection: string;
  readonly id: string;
  readonly pseudonym: string;
  /** The longest first, so that a number is not replaced within a longer one. */
  readonly identifiers: readonly Identifier[];
}

/** Where in a record references to a person of the collection may stand, `/`-joined names without lists. */
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

/** An `_id` that nobody writes by chance. */
const LEAST_ID = 6;
const LEAST_IDENTIFIER = 3;
const LEAST_NUMBER = 6;

/** Whether a text says enough to be looked for: a house number or an initial would be found everywhere. */
export function isTelling(text: string): boolean {
  const least = /^\d+$/.test(text) ? LEAST_NUMBER : LEAST_IDENTIFIER;
  return text.length >= least;
}

/** The digits of a telephone number as people and networks write them; nothing for another text. */
export function spellingsOf(text: string): readonly string[] {
  const digits = text.replace(/\D/g, '');
  const isNumber = /^[+\d][\d\s().-]+$/.test(text) && digits.length >= 8 && digits.length <= 15;
  if (!isNumber) return [text];
  const national = digits.length > 10 ? [digits.slice(-10)] : [];
  return [...new Set([text, digits, ...national])];
}

/**
 * Puts the pseudonym in the place of a person, in texts and JSON. `everything`: also of values that others
 * have too, for what belongs to the person; else of those that nobody else has.
 */
export class Redaction {
  readonly #identity: PersonIdentity;
  readonly #words: RegExp | undefined;
  readonly #exact: ReadonlySet<string>;
  /** Texts of which a place must hold one to be looked at, in lower case. */
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

  /** Whether JSON text names the person, or points to it. */
  isNamedIn(text: string, references: ReadonlySet<string>): boolean {
    const value = parseExactJson(text);
    return printExactJson(this.json(value, references)) !== printExactJson(value);
  }

  /**
   * `references`: where the value may be a reference to the person. A reverse delta of the audit trail, whose
   * values are wrapped in lists, is read as a record is.
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

  /** A number is the person's where all its digits are, e.g. a telephone number. */
  #number(value: number | ExactNumber): JsonValue {
    const digits = printExactJson(value);
    return this.text(digits) === digits ? value : null;
  }

  /** `{value, label}` that points to the person. Of an undeclared one it is the label that tells. */
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

/** The value itself, or that of a reverse delta. */
function soleOf(value: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(value) && value.length === 1 ? (value[0] as JsonValue) : value;
}

function sameWrapping(old: JsonValue, text: string): JsonValue {
  return Array.isArray(old) ? [text] : text;
}

function escapedForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
