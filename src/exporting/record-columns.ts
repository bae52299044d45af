/** The columns of the records of a collection: its declaration, flattened, and a column for the rest. */
import type { Collection, Field } from '../model/collection.js';
import { CREATED_ON } from '../model/collection.js';
import { type ValueKind, valueKindOf } from '../model/field-types/scalar-types.js';
import type { Path } from '../model/path.js';
import type { CellType, TableColumn } from '../tables/cell.js';

/** A column that shows the value at a path of the record. */
export interface RecordColumn extends TableColumn {
  readonly path: Path;
  /** The type that a value at the path must have; `json` accepts any. */
  readonly kind: ColumnKind;
}

type ColumnKind = Exclude<ValueKind, 'reference' | 'object'> | 'json';

/**
 * The heading of the last column, which contains everything that the others do not, e.g. undeclared fields,
 * as the JSON text of an object. No field has this name.
 */
export const REST_HEADING = '…';

/**
 * `_id`, then a column a declared field in the order of the declaration: the members of objects and
 * references as `student.value`, lists of plain values as lists, other lists and objects without declared
 * members as JSON text. With a projection its paths in their order, those that are not declared as JSON text.
 * Hidden fields have none.
 */
export function columnsOfRecords(
  collection: Collection,
  projection: readonly Path[] | undefined,
  hidden: ReadonlySet<string>,
): readonly RecordColumn[] {
  const declared = declaredColumns(collection).filter(({ path: [name = ''] }) => !hidden.has(name));
  const id = columnAt(['_id'], 'text', false);
  if (projection === undefined) return [id, ...declared];
  const wanted = projection.filter(([name = '']) => name !== '_id' && !hidden.has(name));
  const chosen = wanted.flatMap((path) => columnsAt(path, declared));
  return [id, ...new Map(chosen.map((column) => [column.heading, column])).values()];
}

function declaredColumns({ fields, fieldsByName }: Collection): readonly RecordColumn[] {
  const columns = fields.flatMap((field) => columnsOfField(field, [field.name]));
  return fieldsByName.has(CREATED_ON) ? columns : [...columns, columnAt([CREATED_ON], 'datetime', false)];
}

function columnsOfField(field: Field, path: Path): readonly RecordColumn[] {
  const kind = valueKindOf(field);
  if (kind !== 'reference' && kind !== 'object') return [columnAt(path, kind, field.isList)];
  if (field.isList || (kind === 'object' && field.fields.length === 0))
    return [columnAt(path, 'json', false)];
  if (kind === 'reference') {
    return ['value', 'label'].map((member) => columnAt([...path, member], 'text', false));
  }
  return field.fields.flatMap((member) => columnsOfField(member, [...path, member.name]));
}

/** The columns at or below the path; the column that contains it; or a new column for it. */
function columnsAt(path: Path, declared: readonly RecordColumn[]): readonly RecordColumn[] {
  const below = declared.filter((column) => isWithin(column.path, path));
  if (below.length > 0) return below;
  const holder = declared.find((column) => isWithin(path, column.path));
  return [holder ?? columnAt(path, 'json', false)];
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((step, index) => path[index] === step);
}

function columnAt(path: Path, kind: ColumnKind, isList: boolean): RecordColumn {
  return { path, kind, heading: path.join('.'), type: CELL_TYPES[kind], isList };
}

const CELL_TYPES: Readonly<Record<ColumnKind, CellType>> = {
  text: 'text',
  session: 'text',
  phone: 'text',
  email: 'text',
  month: 'month',
  boolean: 'flag',
  number: 'number',
  decimal: 'decimal',
  date: 'day',
  datetime: 'instant',
  json: 'json',
};
