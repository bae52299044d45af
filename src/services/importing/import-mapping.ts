/**
 * A mapping assigns each column of a file to a field. It is proposed from the file, corrected by a person,
 * and may be kept by name.
 */
import { invalidAt, ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { columnsOfRecords, REST_HEADING, type RecordColumn } from '../exporting/record-columns.js';
import { type CellPart, DAY_FORMATS, INSTANT_FORMATS, NUMBER_FORMATS } from './cells/day-formats.js';

export interface ColumnMapping {
  /** The column of the file; of documents, a member of the first level. */
  readonly column: string;
  /** The field, e.g. `address.city`, `_id`, or `student.admission_no`; `null`: the column is skipped. */
  readonly field: string | null;
  /** The part of its cells for this field; a column is mapped once per part. Default: the whole cell. */
  readonly part?: CellPart | undefined;
  /** How days and numbers are written, e.g. `DD/MM/YYYY`. Default: as this service writes them. */
  readonly format?: string | undefined;
  /** Replacements of values of the file. */
  readonly values?: Readonly<Record<string, JsonValue>> | undefined;
  /** A reference: the field of its target that the file has instead of the `_id`. */
  readonly by?: string | undefined;
  /** Cells that count as empty, such as `-` and `N/A`, in any case. */
  readonly blank?: readonly string[] | undefined;
  /** Confirms that a column with values is not mapped to a field. */
  readonly leftOut?: true | undefined;
  /** Confirms that the field is not declared. */
  readonly undeclared?: true | undefined;
  /** The effect of an empty cell on an existing record. Default: the field stays as it is. */
  readonly empty?: 'leave' | 'remove' | undefined;
}

export interface ImportMapping {
  readonly columns: readonly ColumnMapping[];
  /** Fields that have the same value in every record. */
  readonly fixed: JsonObject;
  /** For documents: what happens to members that no column names. Default: they are kept. */
  readonly others?: 'keep' | 'leave out' | undefined;
}

/** The kind of value at a path of a mapping. */
export type MappingTarget =
  | { readonly kind: 'id' }
  /** An object with everything that no column can represent, as exports write it. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'value'; readonly column: RecordColumn }
  | {
      readonly kind: 'reference';
      readonly path: Path;
      readonly targets: readonly string[];
      readonly by: string | undefined;
      readonly isList: boolean;
    }
  | { readonly kind: 'undeclared'; readonly path: Path };

/** The top-level fields that a mapping may set; of documents whose members are kept, those that are named. */
export function fieldsOfMapping(mapping: ImportMapping): readonly string[] {
  const paths = [...mapping.columns.map(({ field }) => field), ...Object.keys(mapping.fixed)];
  const names = paths.flatMap((path) => (path === null ? [] : [path.split('.')[0] ?? '']));
  return [...new Set(names)].filter((name) => name !== '' && name !== '_id' && name !== REST_HEADING);
}

/** The meaning of a field of a mapping in a collection. */
export function targetOf(field: string, by: string | undefined, collection: Collection): MappingTarget {
  if (field === '_id') return { kind: 'id' };
  if (field === REST_HEADING) return { kind: 'rest' };
  const path = field.split('.');
  const column = columnsOfRecords(collection, undefined, NOTHING_HIDDEN).find(
    ({ heading }) => heading === field,
  );
  if (column !== undefined) return { kind: 'value', column };
  const reference = findReference(path, collection);
  if (reference === undefined) return { kind: 'undeclared', path };
  const { depth, targets, isList } = reference;
  const rest = path.slice(depth);
  const place = { kind: 'reference', path: path.slice(0, depth), targets, isList } as const;
  if (rest.length === 0) return { ...place, by };
  return { ...place, by: by ?? rest.join('.') };
}

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** The reference within a path, and the number of steps to it. */
function findReference(path: Path, { fields }: Pick<Collection, 'fields'>) {
  let members = fields;
  for (const [index, step] of path.entries()) {
    const field = members.find(({ name }) => name === step);
    if (field === undefined) return undefined;
    if (field.type === 'reference') return { depth: index + 1, targets: field.targets, isList: field.isList };
    members = field.isList ? [] : field.fields;
  }
  return undefined;
}

/** The formats of the cells of a kind. */
export function formatsOf(kind: RecordColumn['kind']): readonly string[] {
  switch (kind) {
    case 'number':
    case 'decimal':
      return NUMBER_FORMATS;
    case 'date':
      return DAY_FORMATS;
    case 'datetime':
      return INSTANT_FORMATS;
    default:
      return [];
  }
}

/** A mapping as it was stored. */
export function toImportMapping(stored: JsonValue | undefined): ImportMapping | undefined {
  return isJsonObject(stored) ? (stored as unknown as ImportMapping) : undefined;
}

/** The fault of a parameter of an import: what is wrong with it, and what would be right. */
export function invalidImport(
  parameter: string,
  detail: string,
  expected: string,
  sent?: string,
): ServiceError {
  return invalidAt(`${parameter}: ${detail}; expected: ${expected}`, {
    parameter,
    detail,
    expected,
    ...(sent !== undefined && { sent: sent.slice(0, 100) }),
  });
}

/** An import that does not exist, or that its caller may not see. */
export function noImport(id: string): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no import "${id.slice(0, 50)}"`);
}
