/**
 * Sheets: pages of the portal with one row for each member of a set, declared in schema/sheets. They are read
 * and checked when the gateway starts.
 */
import { asJson, type JsonObject } from '../../base/json/json.js';
import type { Collection, Field } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess } from '../../store/access/access.js';
import { declarationFault as fault, findDeclared, readDeclarations } from '../read-declarations.js';
import type { SheetDefinition } from './sheet-definition.js';

export interface DeclaredSheet {
  readonly definition: SheetDefinition;
  readonly collection: Collection;
  readonly members: Collection;
}

/** @throws INVALID_VALUE with the file, the place in it and the fault */
export async function readSheets(
  directory: string,
  collections: readonly Collection[],
): Promise<readonly DeclaredSheet[]> {
  const read = await readDeclarations<SheetDefinition>(directory, 'sheet');
  return read.map(({ definition, source }) => resolveSheet(definition, collections, source));
}

/** Whether the caller may read the members, and create and change the records. */
export function mayFillIn(scope: Scope, { collection, members }: DeclaredSheet): boolean {
  return (
    findAccess(scope, members, 'read') !== undefined &&
    findAccess(scope, collection, 'create') !== undefined &&
    findAccess(scope, collection, 'update') !== undefined
  );
}

/** The declaration as it is sent to clients, with the names by which they query the members. */
export function printSheet({
  definition,
  members: { plural, labelField = '_id' },
}: DeclaredSheet): JsonObject {
  const members = { ...definition.members, plural, label: labelField };
  return asJson({ ...definition, members });
}

function resolveSheet(
  definition: SheetDefinition,
  collections: readonly Collection[],
  source: string,
): DeclaredSheet {
  const find = (place: string, name: string) =>
    findDeclared(collections, name, { source, place, missing: 'there is no collection' });
  const collection = find('/collection', definition.collection);
  const members = find('/members/collection', definition.members.collection);
  const field = (pointer: string, { name, fields }: Pick<Collection, 'name' | 'fields'>, wanted: string) => {
    const found = fields.find((one) => one.name === wanted);
    if (found) return found;
    throw fault(
      source,
      pointer,
      `${name} has no field "${wanted}"; it has ${fields.map((one) => one.name).join(', ')}`,
    );
  };
  const { key, member, cells = [], parts, copy = {}, choose = [] } = definition;
  if (!field('/member', collection, member).targets.includes(members.name))
    throw fault(source, '/member', `"${member}" is no reference to ${members.name}`);
  const rule = collection.uniqueTogether.some(({ name }) => name === key);
  if (!rule && !field('/key', collection, key).isUnique)
    throw fault(source, '/key', `"${key}" is neither a unique field nor a rule in uniqueTogether`);
  for (const name of ['day', 'savedBy'] as const) {
    const wanted = definition[name];
    if (wanted !== undefined) field(`/${name}`, collection, wanted);
  }
  choose.forEach((name, index) => {
    field(`/choose/${index}`, collection, name);
  });
  for (const [to, from] of Object.entries(copy)) {
    field(`/copy/${to}`, collection, to);
    field(`/copy/${to}`, members, from);
  }
  for (const name of [...definition.members.by, ...(definition.members.orderBy ?? [])])
    field('/members', members, name);
  if (definition.members.number !== undefined) field('/members/number', members, definition.members.number);
  cells.forEach(({ field: name, values = [] }, index) => {
    const { allowed } = field(`/cells/${index}/field`, collection, name);
    const wrong = values.find(({ value }) => allowed && !allowed.includes(value));
    if (wrong) throw fault(source, `/cells/${index}/values`, `"${wrong.value}" is no value of "${name}"`);
  });
  if (parts) {
    const list = field('/parts/list', collection, String(parts.list));
    const within = (name: string, of: Field, wanted: unknown) =>
      field(`/parts/${name}`, { name: of.name, fields: of.fields }, String(wanted));
    within('name', list, parts.name);
    const items = within('items', list, parts.items);
    for (const name of ['item', 'value', 'max', 'state'] as const) within(name, items, parts[name]);
  }
  return { definition, collection, members };
}
