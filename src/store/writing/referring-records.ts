/**
 * The records that point to others by references that refuse the removal of their target (`onDelete`). They
 * are counted within the transaction that removes the targets, after the removal: what the transaction has
 * removed itself points to nothing any more.
 *
 * A concurrent write that stores such a reference holds a key-share lock on the target
 * (`references.ts`), so whoever removes the target has locked it `for update` before.
 */
import { type ErrorDetail, faultAt, ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { valuesAt } from '../../base/model/keys-of.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess, isAdmin, type RecordsOfScope } from '../access/access.js';
import { fieldsAlong, type GuardingField, type Naming } from '../catalog/guarding-fields.js';
import { isIndexedPath } from '../database/declared-indexes.js';
import type { Queryable, Transaction } from '../database/queryable.js';
import { fieldJson } from '../sql/names.js';
import { liveRecordsByKey, recordsIn } from '../sql/records-of.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import type { RecordEnvironment } from './record-environment.js';
import { holdsWithin, nameCondition } from './select-unlinked.js';

/** How many records point to others, by collection; of those that the caller may read. */
export interface ReferringRecords {
  readonly counts: readonly {
    readonly collection: string;
    readonly field: string;
    /** Whether they point to the record by a reference, or name it by a text. */
    readonly verb: 'points' | 'names';
    readonly count: number;
  }[];
  /** Whether there are records that the caller may not read. */
  readonly hasOthers: boolean;
}

export interface RemovedRecords extends RecordsOfScope {
  readonly ids: readonly string[];
  /** An admin removes them although records point to them. */
  readonly force?: boolean | undefined;
}

/** Counting ends here, so that a refusal does not take longer than the removal. */
const MOST_COUNTED = 10_000;

/** Whether a removal from the collection can be refused because of records that point to it. */
export function isGuarded({ catalog }: Pick<RecordEnvironment, 'catalog'>, { name }: Collection): boolean {
  return catalog.fieldsGuarding(name).length > 0 || catalog.namingsOf(name).length > 0;
}

/**
 * Refuses a removal that leaves references to nothing; called after it, in its transaction.
 *
 * @throws CONFLICT with the number of records that point there, by collection; FORBIDDEN for `force`, unless
 *   the caller is an admin
 */
export async function assertUnreferenced(
  environment: RecordEnvironment,
  queryable: Queryable,
  { scope, collection, ids, force = false }: RemovedRecords,
): Promise<void> {
  if (force) {
    assertMayForce(scope);
    return;
  }
  if (ids.length === 0) return;
  const gone = sql`select unnest(${[...ids]}::text[])`;
  const referrers = await countReferrers(environment, queryable, { scope, collection, ids: gone });
  const errors = describeReferrers(referrers);
  if (errors.length === 0) return;
  const [only = ''] = ids;
  const found = errors.map(({ detail }) => detail).join(', ');
  const inUse =
    ids.length === 1
      ? `The record "${only}" of ${collection.name} is still in use: ${found}`
      : `Records of ${collection.name} are still in use: ${found}`;
  const detail = `${inUse}. Remove or change these first. An admin may pass force: true.`;
  throw new ServiceError('CONFLICT', detail, { errors });
}

/** @throws FORBIDDEN unless the caller is an admin */
export function assertMayForce({ principal }: Scope): void {
  if (isAdmin(principal)) return;
  const detail = '`force` is for admins: it removes a record although others point to it.';
  throw faultAt('FORBIDDEN', detail, { parameter: 'force' });
}

export function describeReferrers({ counts, hasOthers }: ReferringRecords): readonly ErrorDetail[] {
  const errors = counts.map(({ collection, field, verb: kind, count }): ErrorDetail => {
    const number = count >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(count);
    const [one, many, expected] =
      kind === 'points'
        ? [
            `1 record of ${collection} points to it (${field})`,
            `${number} records of ${collection} point to it (${field})`,
            `no record of ${collection} that points to it`,
          ]
        : [
            `1 record of ${collection} names it (${field})`,
            `${number} records of ${collection} name it (${field})`,
            `no record of ${collection} that names it`,
          ];
    return { detail: count === 1 ? one : many, expected };
  });
  if (!hasOthers) return errors;
  const detail = errors.length === 0 ? 'other records point to it' : 'and other records';
  return [...errors, { detail, expected: 'no record that points to it' }];
}

/**
 * Counts the live records that point to one of the ids, a query of one text column. Each id is looked up by
 * an index: a b-tree of the field, or the document index for fields without one and for lists.
 */
export async function countReferrers(
  environment: RecordEnvironment,
  queryable: Queryable,
  {
    scope,
    collection,
    ids,
    first = sql.empty,
    removed,
  }: RecordsOfScope & {
    readonly ids: Sql;
    /** CTEs that `ids` needs: `with …`. */
    readonly first?: Sql;
    /** The records of the collection that will be removed together, as a query of ids: they do not count. */
    readonly removed?: Sql;
  },
): Promise<ReferringRecords> {
  const guards = [
    ...environment.catalog.fieldsGuarding(collection.name).map((field): Guard => {
      const isSame = field.collection.name === collection.name;
      return {
        ...{ collection: field.collection, path: pathOf(field), condition: pointsTo(field) },
        verb: 'points',
        source: sql`(${ids}) as target(id)`,
        except: isSame ? removed : undefined,
      };
    }),
    ...environment.catalog.namingsOf(collection.name).flatMap((naming): Guard[] => {
      // The `onDelete` of a reference decides about the removal of its target.
      if (naming.link.reference !== undefined) return [];
      const [{ path } = { path: [] }] = naming.link.members;
      const steps = path.map((name) => `."${name}"`).join('');
      const removedNames = sql`(
    select distinct jsonb_path_query(n.data, ${`lax $${steps}`}::jsonpath) #>> '{}'
    from (${ids}) as target(id)
    join records n on ${recordsIn(scope.domain.id, collection.name, 'n')} and n.id = target.id
  ) as gone(v0)`;
      return guardOfNaming(naming, { environment, scope, collection, source: removedNames, member: 0 });
    }),
  ];
  return await countGuarded(environment, queryable, { scope, guards, first });
}

/** A name that a record has lost: the texts of the members of a link, up to the one that is gone. */
interface NameTaken {
  readonly texts: readonly (string | null)[];
}

/** Counts the live records that use names which no record has any more. */
async function countUses(
  environment: RecordEnvironment,
  queryable: Queryable,
  {
    scope,
    collection,
    gone,
  }: RecordsOfScope & {
    readonly gone: readonly (NameTaken & { readonly naming: Naming })[];
  },
): Promise<ReferringRecords> {
  const guards = [...new Set(gone.map(({ naming }) => naming))].flatMap((naming) =>
    naming.link.members.flatMap((_, member) => {
      const taken = gone.filter(
        (one) => one.naming === naming && one.texts.findLastIndex((text) => text !== null) === member,
      );
      if (taken.length === 0) return [];
      const lists = [0, member].map((place) => taken.map(({ texts }) => texts[place] ?? ''));
      const names = member === 0 ? 'v0, same' : `v0, v${member}`;
      const values = sql.join(lists.map((list) => sql`${list}::text[]`));
      const source = sql`unnest(${values}) as gone(${sql.raw(names)})`;
      return guardOfNaming(naming, { environment, scope, collection, source, member });
    }),
  );
  return await countGuarded(environment, queryable, { scope, guards, first: sql.empty });
}

/** Records that forbid the removal of others. */
interface Guard {
  readonly collection: Collection;
  /** The field that points to the other record, or names it. */
  readonly path: readonly string[];
  readonly verb: 'points' | 'names';
  /** The removed records, or the names, as a relation. */
  readonly source: Sql;
  /** Whether `r` uses a row of the source. */
  readonly condition: Sql;
  /** A query of ids that do not count. */
  readonly except: Sql | undefined;
}

function guardOfNaming(
  naming: Naming,
  options: {
    readonly environment: RecordEnvironment;
    readonly scope: Scope;
    readonly collection: Collection;
    readonly source: Sql;
    readonly member: number;
  },
): Guard[] {
  const { environment, scope, collection, source, member } = options;
  const { collection: user, link } = naming;
  const texts = link.members.map((_, place) =>
    place === 0 || place === member ? sql.raw(`gone.v${place}`) : undefined,
  );
  const values = texts.map((text) => text ?? sql`null::text`);
  const place = { domain: scope.domain.id, isRouted: environment.isRouted };
  const isLeft = liveRecordsByKey(place, collection.name, nameCondition(link, collection, { texts: values }));
  const left = sql`(
    select * from ${source} where not exists (select from records r where ${isLeft})
  ) as gone`;
  const path = [...link.in, link.members[member]?.field ?? ''];
  const condition = namesRecord(naming, texts);
  return [{ collection: user, path, verb: 'names', source: left, condition, except: undefined }];
}

async function countGuarded(
  environment: RecordEnvironment,
  queryable: Queryable,
  { scope, guards, first }: { readonly scope: Scope; readonly guards: readonly Guard[]; readonly first: Sql },
): Promise<ReferringRecords> {
  if (guards.length === 0) return { counts: [], hasOthers: false };
  const selects = guards.map((guard, index) => selectGuarding(environment, scope, guard, index));
  const rows = await environment.run<{ index: number; readable: number; hidden: number }>(
    queryable,
    sql`${first} ${sql.join(selects, ' union all ')}`,
    scope.call,
  );
  const counts = rows.flatMap(({ index, readable: count }) => {
    const guard = guards[index];
    if (guard === undefined || count === 0) return [];
    return [{ collection: guard.collection.name, field: guard.path.join('.'), verb: guard.verb, count }];
  });
  return { counts, hasOthers: rows.some(({ hidden }) => hidden > 0) };
}

function selectGuarding(
  environment: RecordEnvironment,
  scope: Scope,
  { collection, path: [top = ''], source, condition, except }: Guard,
  index: number,
): Sql {
  const access = findAccess(scope, collection, 'read');
  const isReadable = environment.isIn(scope, collection, access?.hiddenFields.has(top) ? undefined : access);
  const place = { domain: scope.domain.id, isRouted: environment.isRouted };
  return sql`
select ${sql.raw(String(index))} as index, (count(*) filter (where f.is_readable))::int as readable,
  (count(*) filter (where not f.is_readable))::int as hidden
from (
  select p.is_readable
  from ${source}
  cross join lateral (
    select ${isReadable} as is_readable
    from records r
    where ${liveRecordsByKey(place, collection.name, condition)}
      ${except === undefined ? sql.empty : sql`and r.id <> all(array(${except}))`}
    offset 0
  ) as p
  limit ${MOST_COUNTED}
) as f`;
}

/** Whether the record `r` names another one by the texts; those that are undefined are not compared. */
function namesRecord({ collection, link }: Naming, texts: readonly (Sql | undefined)[]): Sql {
  const named = link.members.flatMap(({ field }, index) => {
    const text = texts[index];
    return text === undefined ? [] : [{ field, text }];
  });
  const isPlain =
    link.in.length === 0 && !named.some(({ field }) => collection.fieldsByName.get(field)?.isList);
  if (isPlain)
    return sql.join(
      named.map(({ field, text }) => sql`${fieldJson(collection, [field])} = to_jsonb(${text})`),
      ' and ',
    );
  const outer = fieldsAlong(collection.fields, link.in) ?? [];
  const members = named.flatMap(({ field, text }) => {
    const [declared] = fieldsAlong(collection.fields, [...link.in, field])?.slice(-1) ?? [];
    return [nameLiteral(field), declared?.isList ? sql`jsonb_build_array(${text})` : text];
  });
  return holdsWithin(outer, sql`jsonb_build_object(${sql.join(members)})`);
}

function pointsTo(field: GuardingField): Sql {
  const { collection, fields } = field;
  const path = [...pathOf(field), 'value'];
  if (isIndexedPath(collection, path)) return sql`${fieldJson(collection, path)} = to_jsonb(target.id)`;
  const reference = sql`jsonb_build_object('value', target.id)`;
  return holdsWithin(fields, reference);
}

function pathOf({ fields }: GuardingField): readonly string[] {
  return fields.map(({ name }) => name);
}

/**
 * Names that a write takes away: a class that is renamed, a section that is removed. While other records name
 * it, the write is refused, or an admin has it renamed there too.
 */
export interface Renamed {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

export interface RenameOptions {
  /** An admin has the records that name something renamed name it by its new name. */
  readonly renameEverywhere?: boolean | undefined;
}

export interface RenameRequest extends RenameOptions, RecordsOfScope {
  readonly changes: readonly Renamed[];
}

/** A name that goes, and the one that takes its place. */
interface GoneName extends NameTaken {
  readonly naming: Naming;
  readonly to: string | undefined;
}

/** Whether a change of the fields can take a name away that other records use. */
export function canRename(
  { catalog }: Pick<RecordEnvironment, 'catalog'>,
  { name }: Collection,
  fields: readonly string[],
): boolean {
  const namings = catalog.namingsOf(name);
  return namings.some(({ link }) => link.members.some(({ path: [field = ''] }) => fields.includes(field)));
}

/**
 * The names that changes have taken away.
 *
 * @throws CONFLICT for names in use that are not renamed; FORBIDDEN to rename for others than admins
 */
export async function findGone(
  environment: RecordEnvironment,
  transaction: Transaction,
  { scope, collection, changes, renameEverywhere = false }: RenameRequest,
): Promise<readonly GoneName[]> {
  const namings = environment.catalog.namingsOf(collection.name);
  const gone = namings.flatMap((naming) => changes.flatMap((change) => goneNames(naming, change)));
  if (gone.length === 0) return gone;
  if (renameEverywhere && !isAdmin(scope.principal)) {
    const detail =
      '`renameEverywhere` is for admins: it changes the records of all collections that use the name.';
    throw faultAt('FORBIDDEN', detail, { parameter: 'renameEverywhere' });
  }
  const left = renameEverywhere ? gone.filter(({ to }) => to === undefined) : gone;
  const errors = describeReferrers(
    await countUses(environment, transaction, { scope, collection, gone: left }),
  );
  if (errors.length > 0) throw stillUsed(collection, left, errors);
  return gone;
}

/**
 * The collections that use names which are replaced, each with the names. Targets of references come first:
 * the class of a mark must agree with that of its student.
 */
export function usersOf(gone: readonly GoneName[]): ReadonlyMap<Collection, readonly GoneName[]> {
  const renamed = gone.filter(({ to }) => to !== undefined);
  const users = [...new Set(renamed.map(({ naming }) => naming.collection))].sort(
    (one, other) => Number(isLinkedTo(one, other)) - Number(isLinkedTo(other, one)),
  );
  return new Map(users.map((user) => [user, renamed.filter(({ naming }) => naming.collection === user)]));
}

function isLinkedTo(one: Collection, other: Collection): boolean {
  return one.links.some(({ reference, target }) => reference !== undefined && target === other.name);
}

function stillUsed(collection: Collection, gone: readonly GoneName[], errors: readonly ErrorDetail[]) {
  const names = [
    ...new Set(gone.map(({ texts }) => JSON.stringify(texts.findLast((text) => text !== null)))),
  ];
  const found = errors.map(({ detail }) => detail).join(', ');
  const detail =
    `${names.join(', ')} of ${collection.name} is still in use: ${found}. Change these first. ` +
    'An admin may change this record alone with renameEverywhere: true, which renames it there too.';
  return new ServiceError('CONFLICT', detail, { errors });
}

/** The names by the members of a link that a change takes away. */
function goneNames(naming: Naming, { before, after }: Renamed): readonly GoneName[] {
  const { members } = naming.link;
  const [was = [], is = []] = [before, after].map((data) => members.map(({ path }) => textsAt(data, path)));
  const none = members.map(() => null);
  return members.flatMap((_, member): GoneName[] => {
    const [old, now] = [was[member] ?? [], is[member] ?? []];
    const [head = null] = was[0] ?? [];
    // If the first name has changed, the others belong to it.
    if (member > 0 && (head === null || is[0]?.[0] !== head)) return [];
    return old.flatMap((name, index): GoneName[] => {
      if (now.includes(name)) return [];
      const next = now.length === old.length ? now[index] : undefined;
      const to = next === undefined || old.includes(next) ? undefined : next;
      const texts = [member === 0 ? name : head, ...none.slice(1)].with(member, name);
      return [{ naming, texts, to }];
    });
  });
}

function textsAt(data: JsonObject, path: readonly string[]): readonly string[] {
  return valuesAt(data, path).flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
}

/** Whether the record `r` uses one of the names. */
export function usesOf(gone: readonly GoneName[]): Sql {
  const conditions = gone.map(({ naming, texts }) =>
    namesRecord(
      naming,
      texts.map((text) => (text === null ? undefined : sql`${text}::text`)),
    ),
  );
  return sql.join(conditions, ' or ');
}

/** The record with the names replaced. */
export function renamedIn(data: JsonObject, gone: readonly GoneName[]): JsonObject {
  return gone.reduce((renamed, one) => withNewName(renamed, one, one.naming.link.in), data);
}

function withNewName(data: JsonObject, gone: GoneName, [outer, ...inner]: readonly string[]): JsonObject {
  if (outer !== undefined) {
    const held = memberOf(data, outer);
    const rename = (one: JsonValue) => (isJsonObject(one) ? withNewName(one, gone, inner) : one);
    if (held === undefined) return data;
    return { ...data, [outer]: Array.isArray(held) ? held.map(rename) : rename(held) };
  }
  const { naming, texts, to = '' } = gone;
  const { members } = naming.link;
  const isNamed = members.every(({ field }, index) => {
    const text = texts[index] ?? null;
    const value = memberOf(data, field);
    return text === null || value === text || (Array.isArray(value) && value.includes(text));
  });
  const member = texts.findLastIndex((text) => text !== null);
  const field = members[member]?.field;
  if (!isNamed || field === undefined) return data;
  const value = memberOf(data, field);
  const rename = (one: JsonValue) => (one === texts[member] ? to : one);
  return { ...data, [field]: Array.isArray(value) ? value.map(rename) : to };
}
