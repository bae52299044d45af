/** The columns of the records of a collection: its declaration, flattened, and a column for the rest. */
import { invalidAt } from '../../base/errors.js';
import type { Collection, Field } from '../../base/model/collection.js';
import { CREATED_ON } from '../../base/model/collection.js';
import { type ValueKind, valueKindOf } from '../../base/model/field-types/scalar-types.js';
import type { Path } from '../../base/model/path.js';
import type { CellType, TableColumn } from '../../base/tables/cell.js';
import { type Format, isTableFormat } from '../../base/tables/format.js';
import type { RecordSet } from '../../store/reading/record-set.js';

/** A column that shows the value at a path of the record. */
export interface RecordColumn extends TableColumn {
  readonly path: Path;
  /** The type that a value at the path must have; `json` accepts any. */
  readonly kind: ColumnKind;
  readonly members?: readonly RecordColumn[] | undefined;
}

type ColumnKind = Exclude<ValueKind, 'reference' | 'object'> | 'json';

/**
 * The heading of the last column, which contains everything that the others do not, e.g. undeclared fields,
 * as the JSON text of an object. No declared field has a name with a space.
 */
export const REST_HEADING = 'other fields';

/**
 * `_id`, then a column a declared field in the order of the declaration: the members of objects and
 * references as `student.value`, lists as lists, objects without declared members as JSON text. With a
 * projection its paths in their order, those that are not declared as JSON text. Hidden fields have none. An
 * expanded list of objects has the columns of an element.
 */
export function columnsOfRecords(
  collection: Collection,
  projection: readonly Path[] | undefined,
  hidden: ReadonlySet<string>,
  expanded?: string,
): readonly RecordColumn[] {
  const declared = declaredColumns(collection, expanded).filter(({ path: [name = ''] }) => !hidden.has(name));
  const id = columnAt(['_id'], 'text', false);
  if (projection === undefined) return [id, ...declared];
  const wanted = projection.filter(([name = '']) => name !== '_id' && !hidden.has(name));
  const chosen = wanted.flatMap((path) => columnsAt(path, declared));
  return [id, ...new Map(chosen.map((column) => [column.heading, column])).values()];
}

/** The fields whose elements can be rows of their own. */
export function listsOfObjects({ fields }: Pick<Collection, 'fields'>): readonly string[] {
  return fields
    .filter((field) => field.type === 'object' && field.isList && field.fields.length > 0)
    .map(({ name }) => name);
}

/**
 * Checks that the elements of the field can be rows of their own.
 *
 * @throws INVALID_VALUE (400) if the field is not a list of objects, or the format has no columns
 */
export function listOfObjects(
  name: string,
  {
    collection,
    hiddenFields,
    format,
  }: Pick<RecordSet, 'collection' | 'hiddenFields'> & { readonly format: Format },
): string {
  const lists = listsOfObjects(collection).filter((field) => !hiddenFields.has(field));
  if (isTableFormat(format) && lists.includes(name)) return name;
  const expected = isTableFormat(format)
    ? `a field of ${collection.name} that is a list of objects: ${lists.join(', ') || 'there is none'}`
    : 'none, or the format csv, xlsx or parquet, which have rows';
  throw invalidAt(`The parameter expand is ${JSON.stringify(name)}; expected ${expected}.`, {
    detail: `expected ${expected}`,
    parameter: 'expand',
    expected,
    sent: name,
  });
}

function declaredColumns({ fields, fieldsByName }: Collection, expanded?: string): readonly RecordColumn[] {
  const columns = fields.flatMap((field) =>
    columnsOfField(field.name === expanded ? { ...field, isList: false } : field, [field.name]),
  );
  return fieldsByName.has(CREATED_ON) ? columns : [...columns, columnAt([CREATED_ON], 'datetime', false)];
}

function columnsOfField(field: Field, path: Path): readonly RecordColumn[] {
  const column = columnOfField(field, path);
  if (column.isList || column.members === undefined) return [column];
  if (field.type === 'object')
    return field.fields.flatMap((member) => columnsOfField(member, [...path, member.name]));
  return column.members.map(({ heading }) => columnAt([...path, heading], 'text', false));
}

/** One column for the field, with the members of an object or a reference within. */
function columnOfField(field: Field, path: Path): RecordColumn {
  const kind = valueKindOf(field);
  if (kind !== 'reference' && kind !== 'object') return columnAt(path, kind, field.isList);
  const members =
    kind === 'reference'
      ? ['value', 'label'].map((name) => columnAt([name], 'text', false))
      : field.fields.map((member) => columnOfField(member, [member.name]));
  return members.length === 0
    ? columnAt(path, 'json', false)
    : { ...columnAt(path, 'json', field.isList), members };
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
