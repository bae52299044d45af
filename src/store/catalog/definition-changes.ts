/** The differences between two declarations of a collection, for review before saving. */
import { isDeepStrictEqual } from 'node:util';
import type { ErrorDetail } from '../../base/errors.js';
import type { Collection, Field } from '../../base/model/collection.js';
import type { Queryable } from '../database/queryable.js';
import { type Sql, sql } from '../sql.js';
import type { CollectionDefinition } from './collection-definition.js';

export interface DefinitionChange {
  /** A JSON pointer, with a field's name instead of its position, e.g. `/fields/motto`. */
  readonly pointer: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The present value; `undefined` if it is added. */
  readonly before: unknown;
  /** The new value; `undefined` if it is removed. */
  readonly after: unknown;
}

/**
 * Changes in the order of the new declaration, followed by removals. Fields are compared by name, and a
 * different order is a change of its own; everything else is compared by key, as a whole.
 */
export function compareDefinitions(
  before: CollectionDefinition | undefined,
  after: CollectionDefinition,
): readonly DefinitionChange[] {
  const { fields: fieldsBefore = [], ...keysBefore } = before ?? ({} as Partial<CollectionDefinition>);
  const { fields: fieldsAfter = [], ...keysAfter } = after;
  const changes = [
    ...compareMembers('', new Map(Object.entries(keysBefore)), new Map(Object.entries(keysAfter))),
    ...compareMembers(
      '/fields',
      new Map(fieldsBefore.map((field) => [field.name, field])),
      new Map(fieldsAfter.map((field) => [field.name, field])),
    ),
  ];
  const [namesBefore, namesAfter] = [fieldsBefore, fieldsAfter].map((fields) =>
    fields.map(({ name }) => name),
  );
  const kept = namesAfter?.filter((name) => namesBefore?.includes(name));
  const keptBefore = namesBefore?.filter((name) => namesAfter?.includes(name));
  if (!isDeepStrictEqual(kept, keptBefore)) {
    changes.push({ pointer: '/fields', kind: 'changed', before: namesBefore, after: namesAfter });
  }
  return changes;
}

function compareMembers(
  parent: string,
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  for (const [name, value] of after) {
    const pointer = `${parent}/${name}`;
    const was = before.get(name);
    if (!before.has(name)) changes.push({ pointer, kind: 'added', before: undefined, after: value });
    else if (!isDeepStrictEqual(was, value)) {
      changes.push({ pointer, kind: 'changed', before: was, after: value });
    }
  }
  for (const [name, value] of before) {
    if (after.has(name)) continue;
    changes.push({ pointer: `${parent}/${name}`, kind: 'removed', before: value, after: undefined });
  }
  return changes;
}

/**
 * The faults of an alteration, each with the reason and a solution. Counts live records of every domain, so
 * it scans the collection for each rule that became stricter.
 */
export async function findAlterationFaults(
  queryable: Queryable,
  before: Collection,
  after: Collection,
): Promise<readonly ErrorDetail[]> {
  const faults: ErrorDetail[] = [];
  const refuse = (pointer: string, detail: string, more: Pick<ErrorDetail, 'expected' | 'sent'> = {}) =>
    faults.push({ pointer, detail, ...more });
  if (before.singular !== after.singular || before.plural !== after.plural) {
    const detail = `callers use the GraphQL names ${before.singular} and ${before.plural}; they stay`;
    refuse('/singular', detail, { expected: `${before.singular}, ${before.plural}` });
  }
  if ((await count(queryable, after, sql`true`)) === 0) return faults;
  for (const { name, deprecated, ...field } of before.fields) {
    const changed = after.fieldsByName.get(name);
    if (changed === undefined && deprecated === undefined) {
      const detail = `this removes ${name}, which callers may use; declare it deprecated first`;
      refuse('/fields', detail, { expected: name });
    }
    const [expected, sent] = [typeText(field), typeText(changed ?? field)];
    if (expected === sent) continue;
    const detail = `${name} is ${expected} in the existing records, which could not be read as ${sent}`;
    refuse(`/fields/${name}`, detail, { expected, sent });
  }
  for (const rule of after.uniqueTogether) {
    if (before.uniqueTogether.some((known) => JSON.stringify(known) === JSON.stringify(rule))) continue;
    refuse(
      '/uniqueTogether',
      `the rule ${rule.name} is new, and the existing records were stored without it; add it only to ` +
        'an empty collection',
    );
  }
  for (const field of after.fields) {
    const known = before.fieldsByName.get(field.name);
    for (const detail of await findStricterRules(queryable, after, { known, field }))
      refuse(`/fields/${field.name}`, detail);
  }
  return faults;
}

function typeText(field: Omit<Field, 'name' | 'deprecated'>): string {
  const kind = [
    field.isList ? 'a list of' : 'a',
    field.type,
    field.format ?? '',
    field.isDecimal ? '(decimal)' : '',
  ];
  const members = field.fields.map((member) => `${member.name}: ${typeText(member)}`).join(', ');
  return `${kind.filter((word) => word !== '').join(' ')}${members === '' ? '' : ` {${members}}`}`;
}

/** The reasons why existing records do not satisfy the new rules of a field. */
async function findStricterRules(
  queryable: Queryable,
  collection: Collection,
  { known, field }: { readonly known: Field | undefined; readonly field: Field },
): Promise<readonly string[]> {
  const { name, allowed } = field;
  const details: string[] = [];
  const value = sql`r.data -> ${name}::text`;
  if (field.isRequired && !known?.isRequired) {
    const missing = await count(queryable, collection, sql`coalesce(${value}, 'null') = 'null'`);
    if (missing > 0) details.push(`${missing} records have no ${name}, so it cannot be required`);
  }
  if (allowed && !field.isList && !known?.allowed?.every((one) => allowed.includes(one))) {
    const isOther = sql`${value} <> 'null' and not (${value} #>> '{}' = any(${[...allowed]}::text[]))`;
    const others = await count(queryable, collection, isOther);
    if (others > 0) details.push(`${others} records have another ${name} than the enum allows`);
  }
  if (field.isUnique && !known?.isUnique) {
    const [row] = await queryable.query<{ twice: number }>(sql`
      select count(*)::int as twice
      from (
        select 1
        from records r
        where r.collection = ${collection.name} and r.deleted_at is null and ${value} <> 'null'
        group by r.domain, ${value}
        having count(*) > 1
      ) as doubles`);
    const twice = row?.twice ?? 0;
    if (twice > 0) details.push(`${twice} values of ${name} occur more than once, so it cannot be unique`);
  }
  return details;
}

async function count(queryable: Queryable, collection: Collection, condition: Sql): Promise<number> {
  const [row] = await queryable.query<{ found: number }>(sql`
    select count(*)::int as found
    from records r
    where r.collection = ${collection.name} and r.deleted_at is null and ${condition}`);
  return row?.found ?? 0;
}
