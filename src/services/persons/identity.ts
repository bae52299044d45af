/**
 * The values that identify a person, which an erasure searches for and replaces by a pseudonym.
 */

import { z } from 'zod';
import { invalidAt, ServiceError } from '../../base/errors.js';
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
import { isAdmin } from '../../store/access/access.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Queryable, Transaction } from '../../store/database/queryable.js';
import { recordsOf } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';

const LETTER = '[\\p{L}\\p{M}\\p{N}]';

/** The name shown for an erased person. */
export const ERASED_NAME = 'Erased person';

/** A value that identifies the person. */
const Identifier = z.object({
  value: z.string(),
  /**
   * Whether it identifies nobody else. Only then is it searched for in what does not belong to the person.
   */
  isAlone: z.boolean(),
});
type Identifier = z.output<typeof Identifier>;

/** Everything an erasure needs to know about a person. */
export const PersonIdentity = z.object({
  collection: z.string(),
  id: z.string(),
  pseudonym: z.string(),
  /** Longest first, so that no number is replaced inside a longer one. */
  identifiers: z.array(Identifier).readonly(),
});
export type PersonIdentity = z.output<typeof PersonIdentity>;

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
function isTelling(text: string): boolean {
  const least = /^\d+$/.test(text) ? LEAST_NUMBER : LEAST_IDENTIFIER;
  return text.length >= least;
}

/** The digits of a telephone number in their usual spellings; empty for any other text. */
function spellingsOf(text: string): readonly string[] {
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

/** The effect of an erasure in a place, or in a dry run the expected effect. */
export const ErasureEntry = z.object({
  /** `removed`: deleted for good; `replaced`: a name or reference in it; `kept`: without personal values. */
  fate: z.enum(['removed', 'replaced', 'kept']),
  /** A collection, or another place: `messages`, `files`, `history`, `sessions`, … */
  place: z.string(),
  count: z.number(),
  /** The ids of the first records, or something else that identifies them; none after the end. */
  ids: z.array(z.string()).default([]),
  /** The fields that a kept record loses. */
  fields: z.array(z.string()).default([]),
  /** Why it is not removed, or what remains to be done by hand. */
  because: z.string().optional(),
});
export type ErasureEntry = z.output<typeof ErasureEntry>;

/** For more records than this, the report gives only their number. */
const MOST_IDS = 1_000;

export class ErasureReport {
  readonly entries: ErasureEntry[] = [];

  /** Adds nothing for a count of zero. */
  add(
    fate: ErasureEntry['fate'],
    place: string,
    ids: readonly string[],
    more: { readonly fields?: readonly string[]; readonly because?: string | undefined } = {},
  ): void {
    if (ids.length === 0) return;
    const { fields = [], because } = more;
    const shown = { ids: ids.slice(0, MOST_IDS), fields: [...fields] };
    this.entries.push({ fate, place, count: ids.length, ...shown, because });
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

export interface PersonKey {
  readonly collection: string;
  readonly id: string;
}

/** The name of the file with everything that is stored about a person. */
export function archiveName({ collection, id }: PersonKey): string {
  return `person ${collection} ${id}.zip`;
}

/**
 * The collection of a person, for a caller who may export and erase persons.
 *
 * @throws FORBIDDEN unless the caller is an admin, not by an API key; NOT_FOUND, GONE for the collection;
 * INVALID_VALUE for one whose records are no persons
 */
export function personCollection(scope: Scope, catalog: Catalog, name: string): Collection {
  if (!isAdmin(scope.principal)) {
    throw new ServiceError('FORBIDDEN', 'only an admin exports and erases the data of a person');
  }
  const collection = catalog.get(name, scope);
  if (collection.personal?.isPerson) return collection;
  const persons = catalog.list().filter(({ personal }) => personal?.isPerson);
  const expected = `one of ${persons.map((one) => one.name).join(', ')}`;
  throw invalidAt(`the records of ${name} are not persons; ${expected} is expected`, {
    parameter: 'collection',
    detail: 'its declaration has no person',
    expected,
    sent: name,
  });
}

/** @throws NOT_FOUND for a record that never existed, was purged or was erased; also as `personCollection` */
export async function identifyPerson(
  db: Queryable,
  scope: Scope,
  { catalog, key, pseudonym }: { catalog: Catalog; key: PersonKey; pseudonym: string },
): Promise<PersonIdentity> {
  const collection = personCollection(scope, catalog, key.collection);
  const [row] = await db.query<{ data: string }>(sql`
    select r.data::text as data
    from records r
    where ${recordsOf(scope, collection)} and r.id = ${key.id}`);
  if (row === undefined) {
    throw new ServiceError('NOT_FOUND', `there is no record "${key.id}" in ${collection.name}`);
  }
  const values = [
    ...identifiersIn(collection, parseExactJson(row.data)),
    ...(await formerIdentifiers(db, scope, collection, key.id)),
  ];
  const telling = [...new Set(values.flatMap(spellingsOf).filter(isTelling))];
  const identity = { collection: collection.name, id: key.id, pseudonym };
  const identifiers = await withoutOthers(db, scope, { catalog, identity, values: telling });
  return { ...identity, identifiers };
}

function identifiersIn(collection: Collection, data: JsonValue): readonly string[] {
  if (!isJsonObject(data)) return [];
  return (collection.personal?.identifiers ?? []).flatMap((name) => textsIn((data as JsonObject)[name]));
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()];
  return Array.isArray(value) ? value.flatMap(textsIn) : [];
}

/** Earlier values of the record, e.g. the name before it was corrected. */
async function formerIdentifiers(
  db: Queryable,
  scope: Scope,
  collection: Collection,
  id: string,
): Promise<readonly string[]> {
  const names = [...(collection.personal?.identifiers ?? [])];
  const rows = await db.query<{ value: string }>(sql`
    select distinct member.value->>0 as value
    from audit_entries e
    cross join lateral jsonb_each(e.before) as member(name, value)
    where e.domain = ${scope.domain.id} and e.collection = ${collection.name} and e.record_id = ${id}
      and member.name = any(${names}::text[])
      and jsonb_typeof(member.value) = 'array' and jsonb_typeof(member.value->0) = 'string'`);
  return rows.flatMap(({ value }) => textsIn(value));
}

/** The values that identify another person as well, e.g. the telephone number of a sibling. */
async function withoutOthers(
  db: Queryable,
  scope: Scope,
  options: { catalog: Catalog; identity: Omit<PersonIdentity, 'identifiers'>; values: readonly string[] },
): Promise<readonly Identifier[]> {
  const { catalog, identity, values } = options;
  const patterns = likePatterns(values);
  const others: string[] = [];
  for (const collection of catalog.list()) {
    const { personal } = collection;
    if (!personal?.isPerson || personal.identifiers.length === 0 || patterns.length === 0) continue;
    const texts = personal.identifiers.map((name) => sql`r.data->>${name}::text`);
    const isOther = collection.name === identity.collection ? sql`and r.id <> ${identity.id}` : sql.empty;
    const rows = await db.query<{ text: string }>(sql`
      select distinct text
      from records r
      cross join lateral unnest(array[${sql.join(texts)}]) as text
      where ${recordsOf(scope, collection)} ${isOther} and lower(text) like any(${patterns}::text[])`);
    others.push(...rows.map(({ text }) => text));
  }
  return values.map((value) => {
    const alone = new Redaction({ ...identity, id: '', identifiers: [{ value, isAlone: true }] }, 'alone');
    return { value, isAlone: !isWord(value) && others.every((text) => alone.text(text) === text) };
  });
}

/** A single word may mean something else: a user named `accountant` shares the name of a role. */
function isWord(text: string): boolean {
  return /^[\p{L}\p{M}]+$/u.test(text);
}

/** Records of a collection, including removed ones that are not purged yet. */
export interface Belongings {
  readonly collection: Collection;
  readonly ids: readonly string[];
}

/** A longer chain of collections must be a cycle that goes through different records. */
const MOST_STEPS = 8;
/** No person has more records than this. More means a wrong declaration, and would take too much memory. */
const MOST_RECORDS = 200_000;

/**
 * The records that belong to the person, by collection, without the record of the person itself.
 *
 * @throws LIMIT_EXCEEDED for more records than any person can have
 */
export async function findBelongings(
  db: Queryable,
  scope: Scope,
  catalog: Pick<Catalog, 'list'>,
  person: { readonly collection: string; readonly id: string },
): Promise<readonly Belongings[]> {
  const found = new Map<Collection, Set<string>>();
  let newest = new Map<string, readonly string[]>([[person.collection, [person.id]]]);
  let total = 0;
  for (let step = 0; step < MOST_STEPS && newest.size > 0; step += 1) {
    const next = new Map<string, readonly string[]>();
    for (const collection of catalog.list()) {
      const known = found.get(collection) ?? new Set();
      const ids = (await listAbout(db, scope, collection, newest)).filter(
        (id) => !known.has(id) && !(collection.name === person.collection && id === person.id),
      );
      if (ids.length === 0) continue;
      found.set(collection, new Set([...known, ...ids]));
      next.set(collection.name, ids);
      total += ids.length;
      if (total > MOST_RECORDS) {
        throw new ServiceError('LIMIT_EXCEEDED', `more than ${MOST_RECORDS} records belong to the person`);
      }
    }
    newest = next;
  }
  return [...found].map(([collection, ids]) => ({ collection, ids: [...ids].sort() }));
}

/** The records of a collection that are about one of these by its declaration. */
async function listAbout(
  db: Queryable,
  scope: Scope,
  collection: Collection,
  targets: ReadonlyMap<string, readonly string[]>,
): Promise<readonly string[]> {
  const conditions = (collection.personal?.about ?? []).flatMap((name) => {
    const ids = (collection.fieldsByName.get(name)?.targets ?? []).flatMap(
      (target) => targets.get(target) ?? [],
    );
    const values = ids.map((id) => JSON.stringify(id));
    return ids.length === 0 ? [] : [sql`r.data->${name}::text->'value' = any(${values}::text[]::jsonb[])`];
  });
  if (conditions.length === 0) return [];
  const rows = await db.query<{ id: string }>(sql`
    select r.id
    from records r
    where ${recordsOf(scope, collection)} and (${sql.join(conditions, ' or ')})
    order by r.id`);
  return rows.map(({ id }) => id);
}
