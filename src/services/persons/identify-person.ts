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
import {
  type Identifier,
  isTelling,
  likePatterns,
  type PersonIdentity,
  Redaction,
  spellingsOf,
} from './identity.js';

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

/** The records of a collection that its declaration says are about one of these. */
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
