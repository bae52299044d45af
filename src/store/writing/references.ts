/**
 * References point at records that are there. A write that would make one point at nothing, at a removed
 * record or at a record of another domain is refused, unless the declaration of the field says `"mustExist":
 * false`. What was stored before may stay as it is.
 *
 * The look is a part of the write's transaction where it has one, and no lock: a record removed at the same
 * moment may still be pointed at, as a removal never asks who points there. `campus references check` lists
 * what points at nothing.
 *
 * @see decisions 2, 11
 */
import type { ErrorDetail } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import type { Collection, Field } from '../../model/collection.js';
import { pointerStep } from '../../model/path.js';
import type { Scope } from '../../model/scope.js';
import type { Queryable } from '../database/database.js';
import { liveRecordsOf, nameLiteral } from '../sql/records-of.js';
import { statementName } from '../sql/statement-name.js';
import { USER_COLLECTION } from './record-statements.js';
import type { UnlabelledReference } from './validation.js';

type Sql = Prisma.Sql;

/** A reference as a record holds it. */
export interface HeldReference {
  /** JSON pointer within the record. */
  readonly pointer: string;
  /** The path of its field, without the places in lists. */
  readonly field: string;
  readonly targets: readonly string[];
  readonly value: string;
}

/** The references of stored data whose targets must exist, by the declaration. */
export function listReferences(collection: Collection, data: JsonObject): readonly HeldReference[] {
  return listReferencesBut(NONE, collection, data);
}

const NONE: ReadonlySet<object> = new Set();

/** The same without those that are themselves among the settled ones. */
export function listReferencesBut(
  settled: ReadonlySet<object>,
  collection: Collection,
  data: JsonObject,
): readonly HeldReference[] {
  const references: HeldReference[] = [];
  for (const name of Object.keys(data)) {
    const field = collection.fieldsByName.get(name);
    const value = data[name];
    if (field === undefined || value === undefined || !HOLDS_REFERENCES.has(field.type)) continue;
    if (typeof value === 'object' && value !== null && settled.has(value)) continue;
    references.push(...referencesIn(value, field, { pointer: `/${pointerStep(name)}`, path: name }));
  }
  return references;
}

const HOLDS_REFERENCES: ReadonlySet<Field['type']> = new Set<Field['type']>(['reference', 'object']);

interface Place {
  readonly pointer: string;
  readonly path: string;
}

function referencesIn(value: JsonValue, field: Field, place: Place): readonly HeldReference[] {
  if (field.isList && Array.isArray(value)) {
    const element = { ...field, isList: false };
    return value.flatMap((one: JsonValue, index) =>
      referencesIn(one, element, { ...place, pointer: `${place.pointer}/${index}` }),
    );
  }
  if (!isJsonObject(value)) return [];
  if (field.type === 'reference') {
    const { value: id } = value;
    if (!field.mustExist || typeof id !== 'string') return [];
    return [{ pointer: place.pointer, field: place.path, targets: field.targets, value: id }];
  }
  if (field.type !== 'object') return [];
  return field.fields.flatMap((member) => {
    const held = value[member.name];
    if (held === undefined) return [];
    const inner = {
      pointer: `${place.pointer}/${pointerStep(member.name)}`,
      path: `${place.path}.${member.name}`,
    };
    return referencesIn(held, member, inner);
  });
}

/** Lists the records that can be pointed at though no statement finds them. */
export interface ReferenceContext {
  readonly scope: Scope;
  readonly findCollection: (name: string) => Collection | undefined;
  /** The records this write makes, by their collection. */
  readonly made?: { readonly collection: string; readonly ids: ReadonlySet<string> } | undefined;
  /** References whose labels were looked for: one that was given a label has a target. */
  readonly labelled?: readonly UnlabelledReference[] | undefined;
}

/**
 * A row for each id that a reference holds and none of its targets has, for a statement that asks while it
 * writes; `undefined` where all are known to be there. The same fields give the same text, whatever they
 * hold.
 */
export function selectDead(references: readonly HeldReference[], context: ReferenceContext): Sql | undefined {
  const soughtByTargets = new Map<
    string,
    { readonly targets: readonly string[]; readonly ids: Set<string> }
  >();
  for (const { targets, value } of listUnsure(references, context)) {
    const key = targets.join();
    const sought = soughtByTargets.get(key) ?? { targets, ids: new Set() };
    sought.ids.add(value);
    soughtByTargets.set(key, sought);
  }
  if (soughtByTargets.size === 0) return undefined;
  const selects = inOrderOfNames(soughtByTargets).map(([, { targets, ids }]) => {
    const found = targets.flatMap((target) => {
      const collection = context.findCollection(target);
      if (collection === undefined) return [];
      const isThere = Prisma.sql`${liveRecordsOf(context.scope, collection)} and r.id = sought.id`;
      return [Prisma.sql`(select true from records r where ${isThere})`];
    });
    // A value and no join: the plan of `not exists` read all users to find one.
    const where =
      found.length === 0 ? Prisma.empty : Prisma.sql`where coalesce(${Prisma.join(found)}) is null`;
    return Prisma.sql`select sought.id from unnest(${[...ids]}::text[]) as sought(id) ${where}`;
  });
  return Prisma.join(selects, ' union all ');
}

/**
 * Those of the references whose target is not there, in one round trip; none where there are no references.
 */
export async function findDeadReferences(
  queryable: Queryable,
  references: readonly HeldReference[],
  context: ReferenceContext,
): Promise<readonly HeldReference[]> {
  const asked = listUnsure(references, context);
  const idsByTarget = new Map<string, Set<string>>();
  for (const { targets, value } of asked) {
    for (const target of targets) idsByTarget.set(target, (idsByTarget.get(target) ?? new Set()).add(value));
  }
  const selects = inOrderOfNames(idsByTarget).flatMap(([target, ids]) => {
    const collection = context.findCollection(target);
    if (collection === undefined) return [];
    return [
      Prisma.sql`
      select ${nameLiteral(collection.name)} as collection, r.id
      from records r
      where ${liveRecordsOf(context.scope, collection)} and r.id = any(${[...ids]}::text[])`,
    ];
  });
  if (selects.length === 0) return asked;
  const sql = Prisma.join(selects, ' union all ');
  const rows = await queryable.query<{ collection: string; id: string }>(sql, {
    name: statementName(sql.text),
  });
  const found = new Set(rows.map(({ collection, id }) => `${collection} ${id}`));
  return asked.filter(({ targets, value }) => !targets.some((target) => found.has(`${target} ${value}`)));
}

/** Without those whose targets are known to be there. */
function listUnsure(
  references: readonly HeldReference[],
  context: ReferenceContext,
): readonly HeldReference[] {
  if (references.length === 0) return references;
  const labelled = new Set<string>();
  for (const { targets, reference } of context.labelled ?? [])
    if (reference.label !== undefined) labelled.add(`${targets.join()} ${reference.value}`);
  const isLabelled = ({ targets, value }: HeldReference) =>
    labelled.size > 0 && labelled.has(`${targets.join()} ${value}`);
  return references.filter((reference) => !isLabelled(reference) && !isKnown(reference, context));
}

/** Records whose fields are sent in another order are asked for by the same text. */
export function inOrderOfNames<T>(byName: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The caller is there, whatever domain it comes from; so is what this write makes. */
function isKnown({ targets, value }: HeldReference, { scope, made }: ReferenceContext): boolean {
  if (value === scope.principal.id && targets.includes(USER_COLLECTION)) return true;
  return made !== undefined && targets.includes(made.collection) && made.ids.has(value);
}

/**
 * Leaves out those that the record held in the same field before: an old reference does not block other
 * changes.
 */
export function withoutHeld(
  references: readonly HeldReference[],
  before: readonly HeldReference[],
): readonly HeldReference[] {
  const held = new Set(before.map(({ field, value }) => `${field} ${value}`));
  return references.filter(({ field, value }) => !held.has(`${field} ${value}`));
}

/** What an error says of a reference to nothing; `pointer` leads to the record in the body. */
export function deadReferenceDetail(
  { pointer, targets, value }: HeldReference,
  recordPointer = '',
): ErrorDetail {
  const where = `${recordPointer}${pointer}`;
  const expected = `the _id of a record of ${targets.join(' or ')}`;
  return {
    pointer: where,
    detail: `${where}: ${expected} is expected, and there is none "${value}"`,
    expected,
    sent: value,
  };
}
