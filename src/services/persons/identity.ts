/**
 * The values that identify a person, which an erasure searches for and replaces by a pseudonym.
 */

import { z } from 'zod';
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
import type { Scope } from '../../base/model/scope.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Transaction } from '../../store/database/queryable.js';

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

  /** `like` patterns for JSON in lower case that contains one of these texts. */
  get patterns(): readonly string[] {
    return likePatterns(this.sought.map((text) => JSON.stringify(text).slice(1, -1)));
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

/** `like` patterns for lower-case texts that contain one of these. */
export function likePatterns(texts: readonly string[]): readonly string[] {
  return texts.map((text) => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`);
}

export interface ErasureWork {
  readonly transaction: Transaction;
  readonly scope: Scope;
  readonly catalog: Catalog;
  readonly identity: PersonIdentity;
  readonly report: ErasureReport;
  /** The imports whose files name the person or cannot be read. */
  readonly importsNaming: readonly string[];
  /** @see Database.announcesByOutbox */
  readonly isToOutbox: boolean;
}

/** The effect of an erasure in each place, or in a dry run the expected effect. */

type Fate = 'removed' | 'replaced' | 'kept';

export interface ErasureEntry {
  /** `removed`: deleted for good; `replaced`: a name or reference in it; `kept`: without personal values. */
  readonly fate: Fate;
  /** A collection, or another place: `messages`, `files`, `history`, `sessions`, … */
  readonly place: string;
  readonly count: number;
  /** The ids of the first records, or something else that identifies them. */
  readonly ids: readonly string[];
  /** The fields that a kept record loses. */
  readonly fields: readonly string[];
  /** Why it is not removed, or what remains to be done by hand. */
  readonly because: string | undefined;
}

/** For more records than this, the report gives only their number. */
const MOST_IDS = 1_000;

export class ErasureReport {
  readonly #entries: ErasureEntry[] = [];

  get entries(): readonly ErasureEntry[] {
    return this.#entries;
  }

  /** Adds nothing for a count of zero. */
  add(
    fate: Fate,
    place: string,
    ids: readonly string[],
    more: { readonly fields?: readonly string[]; readonly because?: string | undefined } = {},
  ): void {
    if (ids.length === 0) return;
    const { fields = [], because } = more;
    this.#entries.push({
      ...{ fate, place, count: ids.length, ids: ids.slice(0, MOST_IDS) },
      ...{ fields, because },
    });
  }
}

/** A completed erasure, which does not name the person. */
export const DoneErasure = z.object({
  domain: z.string(),
  collection: z.string(),
  /** SHA-256 of the collection and the `_id`. */
  person: z.string().regex(/^[0-9a-f]{64}$/),
  pseudonym: z.string().regex(/^erased-[0-9a-f]{8}$/),
  at: z.string(),
});
export type DoneErasure = z.output<typeof DoneErasure>;

export function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map(({ id }) => id);
}
