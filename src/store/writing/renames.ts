/**
 * Names that a write takes away: a class that is renamed, a section that is removed. While other records name
 * it, the write is refused, or an admin has it renamed there too.
 */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { isAdmin } from '../access/admin.js';
import type { Naming } from '../catalog/guarding-fields.js';
import type { Transaction } from '../database/queryable.js';
import { type Sql, sql } from '../sql.js';
import type { RecordEnvironment } from './record-environment.js';
import { countUses, describeReferrers, type NameTaken, namesRecord } from './referring-records.js';

export interface Renamed {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

export interface RenameOptions {
  /** An admin has the records that name something renamed name it by its new name. */
  readonly renameEverywhere?: boolean | undefined;
}

export interface RenameRequest extends RenameOptions {
  readonly scope: Scope;
  readonly collection: Collection;
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

/** The names that changes have taken away. */
export function findGone(
  { catalog }: Pick<RecordEnvironment, 'catalog'>,
  { collection, changes }: RenameRequest,
): readonly GoneName[] {
  const namings = catalog.namingsOf(collection.name);
  return namings.flatMap((naming) => changes.flatMap((change) => goneNames(naming, change)));
}

/** @throws CONFLICT for names in use that are not renamed; FORBIDDEN to rename for others than admins */
export async function assertUnused(
  environment: RecordEnvironment,
  transaction: Transaction,
  { scope, collection, renameEverywhere = false }: RenameRequest,
  gone: readonly GoneName[],
): Promise<void> {
  if (gone.length === 0) return;
  if (renameEverywhere && !isAdmin(scope.principal)) {
    const detail =
      '`renameEverywhere` is for admins: it changes the records of all collections that use the name.';
    throw new ServiceError('FORBIDDEN', detail, { errors: [{ parameter: 'renameEverywhere', detail }] });
  }
  const left = renameEverywhere ? gone.filter(({ to }) => to === undefined) : gone;
  const errors = describeReferrers(
    await countUses(environment, transaction, { scope, collection, gone: left }),
  );
  if (errors.length > 0) throw stillUsed(collection, left, errors);
}

/**
 * The collections that use names which are replaced, each with the names. Targets of references come first:
 * the class of a mark must agree with that of its student.
 */
export function usersOf(gone: readonly GoneName[]): ReadonlyMap<Collection, readonly GoneName[]> {
  const renamed = gone.filter(({ to }) => to !== undefined);
  const users = [...new Set(renamed.map(({ naming }) => naming.collection))].sort(
    (one, other) => Number(pointsTo(one, other)) - Number(pointsTo(other, one)),
  );
  return new Map(users.map((user) => [user, renamed.filter(({ naming }) => naming.collection === user)]));
}

function pointsTo(one: Collection, other: Collection): boolean {
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
    // Where the first name is another one, it takes the others along.
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

function textsAt(value: JsonValue | undefined, [name, ...rest]: readonly string[]): readonly string[] {
  if (Array.isArray(value)) {
    const path = name === undefined ? [] : [name, ...rest];
    return value.flatMap((one: JsonValue) => textsAt(one, path));
  }
  if (name === undefined) return typeof value === 'string' ? [value] : [];
  return isJsonObject(value) ? textsAt(memberOf(value, name), rest) : [];
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
