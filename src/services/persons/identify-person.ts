/** Finds a person and the values that identify the person. */
import { ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Queryable } from '../../store/database/queryable.js';
import { recordsOf } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { type Identifier, isTelling, type PersonIdentity, Redaction, spellingsOf } from './identity.js';

export interface PersonAsked {
  readonly collection: string;
  readonly id: string;
}

/** The name of the file with everything that is stored about a person. */
export function archiveName({ collection, id }: PersonAsked): string {
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
  throw new ServiceError('INVALID_VALUE', `the records of ${name} are no persons; ${expected} is expected`, {
    errors: [{ parameter: 'collection', detail: 'its declaration names no person', expected, sent: name }],
  });
}

/** @throws NOT_FOUND for a record that never existed, was purged or was erased; also as `personCollection` */
export async function identifyPerson(
  db: Queryable,
  scope: Scope,
  { catalog, asked, pseudonym }: { catalog: Catalog; asked: PersonAsked; pseudonym: string },
): Promise<PersonIdentity> {
  const collection = personCollection(scope, catalog, asked.collection);
  const [row] = await db.query<{ data: string }>(sql`
    select r.data::text as data
    from records r
    where ${recordsOf(scope, collection)} and r.id = ${asked.id}`);
  if (row === undefined) {
    throw new ServiceError('NOT_FOUND', `there is no record "${asked.id}" in ${collection.name}`);
  }
  const values = [
    ...identifiersIn(collection, parseExactJson(row.data)),
    ...(await formerIdentifiers(db, scope, collection, asked.id)),
  ];
  const telling = [...new Set(values.flatMap(spellingsOf).filter(isTelling))];
  const identity = { collection: collection.name, id: asked.id, pseudonym };
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
  asked: { catalog: Catalog; identity: Omit<PersonIdentity, 'identifiers'>; values: readonly string[] },
): Promise<readonly Identifier[]> {
  const { catalog, identity, values } = asked;
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

/** `like` patterns for lower-case texts that contain one of these. */
export function likePatterns(texts: readonly string[]): readonly string[] {
  return texts.map((text) => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`);
}
